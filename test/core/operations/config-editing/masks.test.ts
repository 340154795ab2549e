/** A gateway.yaml as it is shown: what is secret in it is masked, and everything else stays where it is. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseYaml } from '../../../../core/config/yaml.ts';
import { createMasks, MASK } from '../../../../core/operations/config-editing/masks.ts';
import fc from '../../../kit/fast-check.ts';

const masks = createMasks(Buffer.alloc(32, 7));
const masked = (text: string): string => masks(text).text;
/** Masks without what tells them apart. */
const shape = (text: string): string => masked(text).replace(new RegExp(MASK, 'g'), '••••');

const PEM = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj',
  'short',
  '-----END PRIVATE KEY-----',
];

describe('masks', () => {
  it('replace the value of a secret member, in every YAML notation', () => {
    for (const [written, shown] of [
      ['key: hunter22', 'key: ••••'],
      ['key: "hunter22"   # why', 'key: "••••"   # why'],
      ["webhookSecret: 'a b'", "webhookSecret: '••••'"],
      ['key: &name hunter22', 'key: &name ••••'],
      ['{ password: hunter22, id: 7 }', '{ password: ••••, id: 7 }'],
      ['? token\n: two\n  lines', '? token\n: ••••\n  ••••'],
      ['"k\\u0065y": hunter22', '"k\\u0065y": ••••'],
      ['secret: { of: { another: kind } }', 'secret: { of: { another: •••• } }'],
      ['refreshTokens: [one, two]', 'refreshTokens: [••••, ••••]'],
      ['password: 12345678', 'password: ••••'],
      ['privateKey: |\n  one\n\n  two\nnext: x', 'privateKey: |\n  ••••\n\n  ••••\nnext: x'],
      ['a: &x hunter22\nkey: *x', 'a: &x ••••\nkey: *x'],
      ['clientsecret: hunter22', 'clientsecret: ••••'],
      ['{ secretKeyBase: hunter22, key_2: hunter22 }', '{ secretKeyBase: ••••, key_2: •••• }'],
      ['- { name: x-api-key, value: hunter22 }', '- { name: x-api-key, value: •••• }'],
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are no references
      ['key: "$${hunter22}"', 'key: "••••"'],
      ['key: ${sk-hunter22}', 'key: ••••'],
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are no references
    ] as const) {
      assert.equal(shape(written), shown);
    }
  });

  it('replace what looks like a secret, in any member', () => {
    for (const [written, shown] of [
      ['smtp: "smtps://me:pa@ss@mail.example.com"', 'smtp: "smtps://••••@mail.example.com"'],
      ['url: https://x.example/?key=hunter22&a=b', 'url: https://x.example/?key=••••&a=b'],
      [
        'slack: https://hooks.x.example/services/T0/B0/a1B2c3D4e5F6g7H8i9J0',
        'slack: https://hooks.x.example/services/T0/B0/••••',
      ],
      ['bot: https://x.example/hook/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f', 'bot: https://x.example/hook/••••'],
      [
        'url: https://x.example/v1/publishers/claude-3-5-sonnet-20241022',
        'url: https://x.example/v1/publishers/claude-3-5-sonnet-20241022',
      ],
      ['note: sk-abcdefghijkl', 'note: ••••'],
      ['note: ask whsec_abcdefghijkl', 'note: ask ••••'],
      ['note: Bearer abcdefgh', 'note: Bearer ••••'],
      ['note: 8BcD3fGh1JkLmN0pQrStUvWx', 'note: ••••'],
      [`note: ${'0af3'.repeat(8)}`, 'note: ••••'],
      [`note: |\n${PEM.map((line) => `  ${line}`).join('\n')}`, 'note: |\n  ••••\n  ••••\n  ••••\n  ••••'],
      ['sk-abcdefghijkl: x', '••••: x'],
      [`body: '{"api_key":"hunter22"}'`, `body: '{"api_key":"••••"}'`],
      ['proxy: "//me:hunter22@x.example"', 'proxy: "//••••@x.example"'],
    ] as const) {
      assert.equal(shape(written), shown);
    }
  });

  it('replace secrets in comments, too', () => {
    for (const [written, shown] of [
      ['# key: hunter22', '# key: ••••'],
      ['a: 1 # { key: hunter22, id: x }', 'a: 1 # { key: ••••, id: x }'],
      ['# password: correct horse # battery', '# password: •••• # battery'],
      [`# ${PEM.join('\n# ')}`, '# ••••\n# ••••\n# ••••\n# ••••'],
      ['# {"key":"hunter22"}', '# {"key":"••••"}'],
      ['# "my key": hunter22', '# "my key": ••••'],
      ['# key: "a \\" hunter22" # why', '# key: "••••" # why'],
      ['# { keys: [another, hunter22], id: x }', '# { keys: ••••, id: x }'],
      ['# API_KEY="hunter22"', '# API_KEY="••••"'],
      ['# keys:\n# - hunter22\n#   - hunter22\n# id: x', '# keys:\n# - ••••\n#   - ••••\n# id: x'],
      ['# secret: |\n#   hunter22\n#\n#   more\n# id: x', '# secret: |\n#   ••••\n#\n#   ••••\n# id: x'],
      ['# keys:\n\n#   prose', '# keys:\n\n#   prose'],
    ] as const) {
      assert.equal(shape(written), shown);
    }
  });

  it('leave references, files, amounts and names unchanged', () => {
    for (const text of [
      // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references
      'key: ${GROQ_API_KEY:-}',
      'key: "${file:./secrets/key}"',
      'keys: ["${secret:groq}", "${secret:my-key_2}"]',
      'tls: { cert: ./cert.pem, key: ./key.pem }',
      '#   stripe: { secret: "${A:-}", webhookSecret: "${B:-}" }   # webhook: /api/x',
      '# tls: { key: ./key.pem }',
      '# key: none    # any word',
      // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references
      'mediaTokens: 3000',
      'key: # nothing',
      'models: { claude-haiku-4-5-20251001: { from: [main] } }',
    ]) {
      assert.equal(masked(text), text);
    }
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a default is a literal
    assert.equal(shape('key: ${NAME:-hunter22}-${OTHER}'), 'key: ${NAME:-••••}-${OTHER}');
  });

  it('hide more if a text is not YAML', () => {
    const text = 'a: [\n  key: |\n    one\n    two\nb: sk-abcdefghijkl\nc: d';
    assert.equal(shape(text), 'a: [\n  key: ••••\n    ••••\n    ••••\nb: ••••\nc: d');
    assert.equal(shape('a: [\n{"key":"hunter22"}'), 'a: [\n{"key":••••');
    assert.equal(shape('a: [\nkeys:\n- hunter22\nb: c'), 'a: [\nkeys:\n••••\nb: c');
  });

  it('change with the secret, and with their key', () => {
    const mask = (secret: string, make = masks): string => MASK.exec(make(`key: ${secret}`).text)![0];
    assert.equal(mask('hunter22'), mask('hunter22'));
    assert.notEqual(mask('hunter22'), mask('hunter23'));
    assert.notEqual(mask('hunter22'), mask('hunter22', createMasks(Buffer.alloc(32, 8))));
  });

  it('map every offset to its new one', () => {
    const { place, text } = masks('a: 1\nb: { key: hunter2222222222, id: x }');
    const after = { line: 2, column: 'b: { key: hunter2222222222, '.length + 1 };
    assert.equal(text.split('\n')[1]!.slice(place(after).column - 1), 'id: x }');
    assert.deepEqual(place({ line: 2, column: 3 }), { line: 2, column: 3 });
    assert.deepEqual(place({ line: 2, column: 15 }), { line: 2, column: 11 }, 'inside: where the mask begins');
    assert.deepEqual(place({ line: 1, column: 4 }), { line: 1, column: 4 });
  });

  it('leave the shipped file nearly unchanged, with the same meaning', () => {
    const shipped = readFileSync(join(import.meta.dirname, '../../../../gateway.yaml'), 'utf8');
    const { text, secrets } = masks(shipped);
    // Examples in comments, among them lists of names of keys: `keys:` may hold secrets in other places.
    assert.ok(secrets.length <= 7, `masked: ${secrets.join(', ')}`);
    assert.deepEqual(parseYaml(text).doc.toJS(), parseYaml(shipped).doc.toJS());
  });

  it('never show a secret of a member, and keep every line, in any context', () => {
    const secret = fc.stringMatching(/^[a-zA-Z0-9!%^*()_+;<>?.~-]{8,30}$/);
    const around = fc.constantFrom(
      '',
      '\n',
      '# ünd: x\n',
      'a: [1, 2]\n',
      'b: "é # "\n',
      'c: |\n  # no comment\n',
      "d: '\n",
    );
    const member = fc.constantFrom(
      'key: "%"',
      "key: '%'",
      '{ x: 1, secret: "%" }',
      '# key: %',
      'k:\n  token:\n    - "%"',
    );
    fc.assert(
      fc.property(secret, around, member, around, (hidden, before, line, behind) => {
        const text = `${before}${line.replace('%', () => hidden)}\n${behind}`;
        const shown = masked(text);
        assert.ok(!shown.includes(hidden), shown);
        assert.equal(shown.split('\n').length, text.split('\n').length);
      }),
    );
  });

  it('are made in one pass over any text of the longest length', () => {
    const long = (part: string): string => part.repeat(200_000 / part.length);
    for (const text of [
      `a: "${long('/')}"`,
      `a: '"key":${long(' ')}x'`,
      `# ${long('a')}\na: 1`,
      `# {key: \${${long(',')}\na: 1`,
      `# {${long('key: a ')}\na: 1`,
      `key: "${long('${A:-')}"`,
    ])
      assert.equal(masked(text).split('\n').length, text.split('\n').length);
  });
});
