/** gateway.yaml: every mistake is found at once, each with its place and with what would be right. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are what is tested
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { coreSections, readListen } from '../../../core/config/core-sections.ts';
import { ConfigError, type ConfigFile, problemLine, readConfig } from '../../../core/config/file.ts';
import { checkSections, throwIfWrong } from '../../../core/config/sections.ts';
import { byteSize, duration, durationMs, isAddressRange } from '../../../core/config/values.ts';
import { nearest } from '../../../core/helpers/nearest.ts';
import { readOrigin } from '../../../core/operations/config-editing/config-source.ts';
import { editorSchema } from '../../../core/operations/config-editing/editor-schema.ts';
import { type Schema, schema } from '../../../core/plugin.ts';
import { processorTime } from '../../kit/clients/processor.ts';
import fc from '../../kit/fast-check.ts';

const text = { type: 'string', minLength: 1 };
const texts = { type: 'array', minItems: 1, uniqueItems: true, items: text };
const count = { type: 'integer', minimum: 1 };
const amount = { type: 'number', minimum: 0, maximum: 10_000 };
const map = (properties: object, more: object = {}) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
});

/** Core's own sections and those of plugins, as far as the folders below need them. */
const sections: Readonly<Record<string, Schema>> = {
  ...coreSections,
  limits: schema(map({ requestsPerMinute: count, concurrent: count, perAccount: map({ concurrent: count }) })),
  channels: schema({
    type: 'array',
    default: [],
    items: {
      type: 'object',
      required: ['name', 'vendor'],
      properties: {
        name: {
          type: 'string',
          title: 'name of letters, digits, dots, dashes and underscores',
          pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
          examples: ['main'],
        },
        vendor: text,
        url: text,
        key: { type: 'string', default: '' },
        weight: { type: 'number', exclusiveMinimum: 0, default: 1 },
        priority: { type: 'integer', minimum: 0, default: 0 },
        timeout: map({ head: duration, idle: { ...duration, default: '120s' }, total: duration }, { default: {} }),
      },
    },
  }),
  models: schema({
    type: 'object',
    additionalProperties: map({
      alias: text,
      from: {
        type: 'array',
        minItems: 1,
        items: { anyOf: [text, { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: text }] },
      },
      fallback: texts,
      only: texts,
      free: { type: 'boolean', default: false },
      strict: { type: 'boolean' },
      quirks: {},
      price: {},
    }),
  }),
  prices: schema({ type: 'object', additionalProperties: map({ input: amount, cacheRead: amount, output: amount }) }),
  quota: schema(
    map({
      perUnit: { type: 'integer', minimum: 1, maximum: 1_000_000_000, default: 500_000 },
      unpriced: { enum: ['refuse', 'free'], default: 'refuse' },
    }),
  ),
  log: schema(map({ keep: { ...duration, default: '90d' } })),
};

const scratch = mkdtempSync(join(tmpdir(), 'turnpike-config-'));
after(() => rmSync(scratch, { recursive: true }));

/** Reads a text as if it stood in gateway.yaml. */
function read(yaml: string | Buffer, env: Readonly<Record<string, string | undefined>> = {}): ConfigFile {
  const file = join(scratch, 'gateway.yaml');
  writeFileSync(file, yaml);
  return readConfig(file, env);
}

/** The problems of a file as they are shown, beginning with its name. */
function shown(file: ConfigFile): string {
  try {
    throwIfWrong(file);
    return '';
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message.replaceAll(`${dirname(file.file)}/`, '').replace(/^.*(?=gateway\.yaml:)/gm, '');
  }
}

/** Reads and checks a text; its problems as they are shown. */
function problemsOf(yaml: string, schemas: Readonly<Record<string, Schema>>): string {
  const file = read(yaml);
  checkSections(file, schemas);
  return shown(file);
}

describe('every configuration mistake has a position and a remedy', () => {
  const folder = join(import.meta.dirname, 'wrong');
  const cases = readdirSync(folder);
  it('and the list is complete', () => assert.ok(cases.length >= 20));
  for (const name of cases) {
    it(name.replaceAll('-', ' '), () => {
      const file = readConfig(join(folder, name, 'gateway.yaml'), {});
      checkSections(file, sections);
      assert.equal(`${shown(file)}\n`, readFileSync(join(folder, name, 'expected.txt'), 'utf8'));
    });
  }
});

describe('a file that cannot be read', () => {
  const problems = (file: ConfigFile) => {
    checkSections(file, sections);
    return shown(file);
  };

  it('is reported if it does not exist', () => {
    const missing = readConfig(join(scratch, 'gateway.yaml.missing'), {});
    const message = 'the file does not exist; --config FILE or TURNPIKE_CONFIG says where it is';
    assert.deepEqual(missing.problems, [{ line: 1, column: 1, path: '', message }]);
    assert.equal(missing.readable, false);
    assert.equal(readConfig(scratch, {}).problems[0]?.message, 'the file is a directory');
  });

  it('is reported if it is not text', () => {
    assert.equal(
      problems(read(Buffer.from([0x61, 0x3a, 0x20, 0xff]))),
      'gateway.yaml:1:1: the file is not text in UTF-8',
    );
  });

  it('is not parsed beyond 256 KiB', () => {
    const comment = `# ${'x'.repeat(256 * 1024 - 2)}`;
    assert.doesNotMatch(problems(read(comment)), /larger/);
    assert.equal(problems(read(`${comment}x`)), 'gateway.yaml:1:1: the file is larger than 256 KiB');
  });

  it('is read in linear time with many aliases and secrets', () => {
    const many = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i));
    const bombs = [
      `a: &a 1\nb: [${many(4_000, () => '*a').join(', ')}]`,
      `a: [${many(4_000, (i) => `&a${i} 1`).join(', ')}]\nb: &b [${many(4_000, (i) => `*a${i}`).join(', ')}]\nc: *b`,
      `a:\n${many(1_000, (i) => `  - key: sk-${String(i).padStart(20, '0')}`).join('\n')}`,
    ];
    for (const yaml of bombs) {
      const used = processorTime();
      read(yaml);
      // Work that grows with the square of them takes half a minute.
      assert.ok(used() < 5_000, yaml.slice(0, 40));
    }
  });

  it('never makes the reader throw, and always has a message', () => {
    const piece = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '\n',
      '  ',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '&a',
      '*a',
      '!t',
      '#',
      '|',
      '>',
      '${A}',
      '---',
      '\t',
      '?',
      ',',
      '%',
      '<<',
      '0',
      '~',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const file = read(pieces.join(''), { A: 'x' });
        checkSections(file, { pipeline: coreSections.pipeline });
        // None of these is a configuration: a pipeline is missing in all of them.
        assert.ok(file.problems.length > 0);
        for (const { line, column } of file.problems) assert.ok(line >= 1 && column >= 1);
      }),
      { numRuns: 300 },
    );
  });
});

describe('${…}', () => {
  const filled = (yaml: string, env: Readonly<Record<string, string>> = {}) => {
    const file = read(yaml, env);
    assert.equal(shown(file), '');
    return file.value;
  };

  it('is an environment variable, a default, or several in one text', () => {
    const env = { HOST: 'example.com', PORT: '81', EMPTY: '' };
    assert.deepEqual(
      filled('a: http://${HOST}:${PORT}/\nb: ${NONE:-x}\nc: ${EMPTY:-x}\nd: ${EMPTY}\ne: ${NONE:-}\n', env),
      {
        a: 'http://example.com:81/',
        b: 'x',
        c: 'x',
        d: '',
        e: '',
      },
    );
  });

  it('always results in text', () => {
    assert.deepEqual(filled('a: ${N}\nb: ${T}\nc: ${Z}\n', { N: '1', T: 'true', Z: 'null' }), {
      a: '1',
      b: 'true',
      c: 'null',
    });
  });

  it('is not evaluated again: the value is neither YAML nor another ${…}', () => {
    const env = { A: '${B}', B: 'no', C: 'x: {y: [1]} # z\n- &a *b' };
    assert.deepEqual(filled('a: ${A}\nc: ${C}\n', env), { a: '${B}', c: env.C });
  });

  it('is literal after another $', () => {
    assert.deepEqual(filled('a: $${A} and ${A}\nb: $A $ {A}\n', { A: '1' }), { a: '${A} and 1', b: '$A $ {A}' });
  });

  it('reads names of JavaScript object members from the environment only', () => {
    assert.match(shown(read('a: ${constructor}\n')), /environment variable constructor is not set/);
  });

  it('reads a file beside gateway.yaml, without the newline at its end', () => {
    writeFileSync(join(scratch, 'secret'), 'from-a-file\n\n', { mode: 0o600 });
    const file = read('channels: [{ key: "${file:secret}" }]\n');
    assert.deepEqual(file.value, { channels: [{ key: 'from-a-file\n' }] });
    assert.deepEqual(file.warnings, []);
    assert.deepEqual(file.secrets, ['from-a-file\n']);
  });

  it('warns of a secret file that others may read', { skip: process.platform === 'win32' }, () => {
    writeFileSync(join(scratch, 'open'), 'from-a-file');
    chmodSync(join(scratch, 'open'), 0o640);
    const { warnings } = read('a:\n  key: ${file:./open}\n');
    assert.deepEqual(warnings, [
      {
        line: 2,
        column: 3,
        path: 'a.key',
        message: 'the file ./open can be read by others on this machine; chmod 600 it',
      },
    ]);
  });
});

describe('configured secrets', () => {
  it('are recognized by the name of their field or of their variable', () => {
    const env = {
      A: 'field-secret-1',
      SOME_API_KEY: 'variable-secret-2',
      HOST: 'not-a-secret.example',
      SHORT: 'short',
    };
    const file = read(
      'a: { webhookSecret: "${A}", x: "http://${HOST}?k=${SOME_API_KEY}", password: "${SHORT}", token: "${HOST:-}-${SHORT}" }\n',
      env,
    );
    assert.deepEqual([...file.secrets].sort(), [
      'field-secret-1',
      'not-a-secret.example',
      'not-a-secret.example-short',
      'variable-secret-2',
    ]);
  });

  it('include headers and query parameters from the environment or a file', () => {
    const env = { GATE: 'header-secret-1', TENANT: 'query-secret-2' };
    const headers = '{ x-gate: "${GATE}", x-token: written-secret, x-team: search-and-find }';
    const file = read(`a: { headers: ${headers}, query: { t: "\${TENANT}", v: 2024-10-21 } }\n`, env);
    assert.deepEqual([...file.secrets].sort(), ['header-secret-1', 'query-secret-2', 'written-secret']);
  });

  it('are masked in messages that were created before them', () => {
    const { problems } = read('a: yes\n"a-secret-of-the-environment": yes\nkey: ${X}', {
      X: 'a-secret-of-the-environment',
    });
    assert.equal(problems.length, 2);
    assert.ok(!JSON.stringify(problems).includes('of-the-environment'), JSON.stringify(problems));
  });

  it('are masked in messages of plugins', () => {
    const file = read('a: { key: "${K}" }\n', { K: 'very-secret-value' });
    file.problem(['a', 'key'], 'cannot use very-secret-value');
    file.warn(['a'], 'base64: dmVyeS1zZWNyZXQtdmFsdWU=');
    assert.equal(file.problems[0]?.message, 'cannot use [secret]');
    assert.doesNotMatch(file.warnings[0]!.message, /dmVyeS1zZWNyZXQt/);
  });

  it('never appear in a message, whatever the mistake is', () => {
    const secret = 'q7Xp2mVd9LwZ4tRk';
    const broken = [
      'key: "S" "S"',
      'key: [S',
      'key: S: S',
      'S',
      '- S',
      'listen: { port: S }',
      'listen: S',
      'quota: { unpriced: S }',
      'pipeline: [{ use: [S] }]',
      'limits: { concurrent: "S" }',
      'a: !S x',
      'a: *S',
      'a: "\\S"',
    ];
    for (const yaml of broken) {
      const file = read(yaml.replaceAll('S', secret));
      checkSections(file, sections);
      assert.notEqual(shown(file), '', yaml);
      assert.doesNotMatch(shown(file), new RegExp(secret), yaml);
    }
  });

  it('cause a warning if they are written in the file', () => {
    const warned = (yaml: string) => read(yaml).warnings.map(({ path }) => path);
    const credential = [
      'a: sk-0123456789abcdef',
      'a: { key: 8f3a9c1e5b7d2f4a6c8e }',
      'a: "${K:-sk-0123456789abcdef}"',
      'a: https://user:pass-word@example.com',
    ];
    for (const yaml of credential) assert.equal(warned(`${yaml}\n`).length, 1, yaml);
    const innocent = [
      'a: { key: /etc/gateway/key-0123456789.pem }',
      'a: { key: none }',
      'a: { key: "${LONG_NAME_OF_A_VARIABLE_1}" }',
      'a: https://example.com/?key=${K:-}',
      'a: 8f3a9c1e5b7d2f4a6c8e',
      'a: { key: "${file:./secrets/0123456789abcdef}" }',
    ];
    for (const yaml of innocent) assert.deepEqual(warned(`${yaml}\n`), [], yaml);
  });

  it('are masked even if they are written in the file', () => {
    assert.deepEqual(read('a: { key: 8f3a9c1e5b7d2f4a6c8e }\n').secrets, ['8f3a9c1e5b7d2f4a6c8e']);
  });
});

describe('problem', () => {
  const yaml =
    '# first line\nchannels:\n  - name: a\n    vendor: x\n  -\n    name: b\nmodels: { m: { from: [a, c] } }\nshared: &s\n  deep: 1\nalias: *s\n';
  const places: readonly (readonly [
    path: readonly (string | number)[],
    line: number,
    column: number,
    shown: string,
  ])[] = [
    [['channels', 0, 'vendor'], 4, 5, 'channels[0].vendor'],
    [['channels', 1, 'name'], 6, 5, 'channels[1].name'],
    [['channels', 1], 6, 5, 'channels[1]'],
    [['models', 'm', 'from', 1], 7, 26, 'models.m.from[1]'],
    [['models', 'm'], 7, 11, 'models.m'],
    [['alias', 'deep'], 9, 3, 'alias.deep'],
    // What does not exist is placed where it would be.
    [['channels', 0, 'key'], 3, 5, 'channels[0].key'],
    [['channels', 7], 2, 1, 'channels[7]'],
    [['models', 'm', 'from', 1, 'x'], 7, 26, 'models.m.from[1].x'],
    [['prices', 'gpt-4.1'], 2, 1, 'prices["gpt-4.1"]'],
    [[], 2, 1, ''],
  ];
  for (const [path, line, column, text] of places) {
    it(`finds ${text || 'the file itself'}`, () => {
      const file = read(yaml);
      file.problem(path, 'is wrong');
      assert.deepEqual(file.problems, [{ line, column, path: text, message: 'is wrong' }]);
      const rest = `${line}:${column}: ${text === '' ? '' : `${text}: `}is wrong`;
      assert.equal(problemLine(join(process.cwd(), 'gateway.yaml'), file.problems[0]!), `gateway.yaml:${rest}`);
    });
  }

  it('finds its position in a file with Windows line ends and a byte order mark', () => {
    const file = read(`\ufeff${yaml.replaceAll('\n', '\r\n')}`);
    file.problem(['channels', 0, 'vendor'], 'is wrong');
    assert.equal(shown(file), 'gateway.yaml:4:5: channels[0].vendor: is wrong');
  });

  it('lists all mistakes in one error, in the order of the file', () => {
    const file = read(yaml);
    file.problem(['models', 'm'], 'second');
    file.problem(['models', 'm', 'from', 1], 'third');
    file.problem(['channels', 0], 'first');
    assert.equal(
      shown(file),
      'gateway.yaml:3:5: channels[0]: first\ngateway.yaml:7:11: models.m: second\ngateway.yaml:7:26: models.m.from[1]: third',
    );
    assert.throws(
      () => throwIfWrong(file),
      (error: ConfigError) => error.problems.length === 3,
    );
  });

  it('shows the full path of a file in another folder', () => {
    const file = '/nowhere/near/gateway.yaml';
    assert.equal(problemLine(file, { line: 1, column: 2, path: 'a', message: 'b' }), `${file}:1:2: a: b`);
    assert.equal(basename(file), 'gateway.yaml');
  });
});

describe('sections', () => {
  const plain = (yaml: string, schemas = sections) => {
    const file = read(yaml);
    const { values } = checkSections(file, schemas);
    assert.equal(shown(file), '');
    return values;
  };

  it('get their defaults, at every depth', () => {
    const { channels, quota } = plain('pipeline: [auth]\nchannels: [{ name: a, vendor: x }]\n');
    assert.deepEqual(channels, [
      { name: 'a', vendor: 'x', key: '', weight: 1, priority: 0, timeout: { idle: '120s' } },
    ]);
    assert.deepEqual(quota, { perUnit: 500_000, unpriced: 'refuse' });
  });

  it('may be empty', () => {
    assert.deepEqual(plain('pipeline: [auth]\nquota:\nlog: {}\n').quota, { perUnit: 500_000, unpriced: 'refuse' });
  });

  it('are read-only, and share nothing', () => {
    const values = plain(
      'pipeline: [auth]\nlimits: { perAccount: &a { concurrent: 1 } }\nchannels: [{ name: a, vendor: x, more: *a }]\n',
    ) as {
      limits: { perAccount: { concurrent: number } };
      channels: { more: { concurrent: number } }[];
    };
    assert.throws(() => {
      values.limits.perAccount.concurrent = 2;
    }, TypeError);
    assert.deepEqual(values.channels[0]!.more, values.limits.perAccount);
    assert.notEqual(values.channels[0]!.more, values.limits.perAccount);
  });

  it('do not change their schemas: every default is a new value', () => {
    const schemas = { a: schema({ type: 'object', default: { list: [] }, properties: { list: { type: 'array' } } }) };
    const { values: first } = checkSections(read(''), schemas);
    const { values: second } = checkSections(read(''), schemas);
    assert.deepEqual(first, { a: { list: [] } });
    assert.notEqual(first.a, second.a);
    assert.ok(!Object.isFrozen(schemas.a.default));
  });

  it('report a position once, because its first mistake causes the others', () => {
    const schemas = {
      a: schema({ type: 'object', additionalProperties: { type: 'string', minLength: 3, pattern: 'x' } }),
    };
    assert.equal(problemsOf('a: { b: "" }\n', schemas).split('\n').length, 1);
    assert.match(problemsOf('a: { b: "${NONE}" }\n', schemas), /^[^\n]*NONE is not set[^\n]*$/);
  });

  it('report an invalid schema as a mistake of the plugin, not of the file', () => {
    assert.throws(
      () => checkSections(read(''), { a: schema({ type: 'object', propertys: {} }) }),
      /the schema of section a is wrong/,
    );
  });
});

describe('the message about a schema', () => {
  const message = (definition: Record<string, unknown>, yaml: string) =>
    problemsOf(`a: { b: ${yaml} }\n`, { a: schema({ type: 'object', properties: { b: definition } }) }).replace(
      /^gateway.yaml:1:\d+: /gm,
      '',
    );
  const oneKind = { anyOf: [{ enum: ['never', 'always'] }, { type: 'integer', minimum: 1 }] };
  const maps = {
    oneOf: [
      { type: 'object', additionalProperties: false, required: ['alias'], properties: { alias: { type: 'string' } } },
      {
        type: 'object',
        additionalProperties: false,
        required: ['from'],
        properties: { from: { type: 'array', items: { type: 'string' } }, free: { type: 'boolean' } },
      },
    ],
  };
  const sentences: readonly (readonly [definition: Record<string, unknown>, yaml: string, expected: string])[] = [
    [oneKind, 'sometimes', 'a.b: must be never or always or a whole number, 1 or more'],
    [oneKind, '[]', 'a.b: must be never or always or a whole number, 1 or more, not a list'],
    [maps, '5', 'a.b: must be a map with alias or a map with from, not a number'],
    // Alternatives that are maps: the one that was meant speaks.
    [maps, '{ from: x }', 'a.b.from: must be a list (each entry: text), not text'],
    [
      maps,
      '{ from: [1], fre: true }',
      'a.b.from[0]: must be text, not a number; put it in quotes\na.b.fre: unknown key; did you mean free?',
    ],
    [maps, '{ alias: [x] }', 'a.b.alias: must be text, not a list'],
    [maps, '{}', 'a.b: must be a map with alias or a map with from'],
    [
      { oneOf: [{ type: 'integer' }, { type: 'number' }] },
      '5',
      'a.b: is ambiguous; it must be only one of: a whole number or a number',
    ],
    [{ type: ['string', 'integer'] }, 'true', 'a.b: must be text or a whole number, not true; put it in quotes'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'a.b: must have at most 2 characters'],
    [{ type: 'string', minLength: 2 }, 'a', 'a.b: must have at least 2 characters'],
    [{ type: 'string', minLength: 2, examples: ['ab'] }, '""', 'a.b: must not be empty; it must be text such as ab'],
    [{ type: 'string', pattern: '^x' }, 'abc', 'a.b: must be text that matches ^x'],
    [{ type: 'string' }, '{}', 'a.b: must be text, not a map'],
    [{ type: 'string' }, '', 'a.b: must be text, not empty'],
    [
      { type: 'boolean' },
      '"true"',
      'a.b: must be true or false, not text; write it without quotes (and without ${…}, which always makes text)',
    ],
    [{ const: 1 }, '2', 'a.b: must be 1'],
    [{ type: 'number', minimum: 1, multipleOf: 0.5 }, '1.3', 'a.b: must be a number, 1 or more, in steps of 0.5'],
    [{ type: 'number', exclusiveMaximum: 1 }, '1', 'a.b: must be a number below 1'],
    [{ type: 'array', maxItems: 1, items: {} }, '[1, 2]', 'a.b: must have at most 1 entry'],
    [{ type: 'object', maxProperties: 2 }, '{ x: 1, y: 2, z: 3 }', 'a.b: must have at most 2 entries'],
    [
      { type: 'object', propertyNames: { type: 'string', pattern: '^x$', examples: ['x'] } },
      '{ y: 1 }',
      'a.b.y: this name is not allowed; it must be text such as x',
    ],
    [
      { type: 'object', properties: { c: {}, d: {} }, dependencies: { c: ['d'] } },
      '{ c: 1 }',
      'a.b.d: is missing; c needs it',
    ],
    [{ type: 'object', additionalProperties: false }, '{ c: 1 }', 'a.b.c: unknown key; nothing is allowed here'],
    [{ type: 'object', required: ['c'] }, '{}', 'a.b.c: is missing; add it'],
    [{ not: { type: 'string' } }, 'x', 'a.b: is not allowed here; remove it'],
    [
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      { if: { type: 'array' }, then: { type: 'array', minItems: 1 }, else: { type: 'string' } },
      '[]',
      'a.b: must have at least 1 entry',
    ],
  ];
  for (const [definition, yaml, expected] of sentences) {
    it(`${yaml || '(nothing)'} → ${expected}`, () => assert.equal(message(definition, yaml), expected));
  }
});

describe('a file whose other sections move to the database', () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-early-'));
  after(() => rmSync(dir, { recursive: true }));
  const taken = (text: string): ConfigFile => {
    const path = join(dir, 'gateway.yaml');
    writeFileSync(path, text);
    return readOrigin({ kind: 'store', path, env: {}, secrets: new Map(), text: undefined });
  };

  it('keeps the comments and line breaks of the rest', () => {
    const { text, problems } = taken(
      '# top\r\nconfig: store # early\r\nlisten:\r\n  port: 1\r\n# of b\r\nb: 2 # b\r\n',
    );
    assert.deepEqual([text, problems], ['# top\r\n# of b\r\nb: 2 # b\r\n', []]);
  });

  it('is refused with its mistakes, at their lines in the file', () => {
    for (const [text, line, message] of [
      ['config: store\nb: 1\nb: 2\n', 2, 'appears twice; keep one'],
      ['config: store\n---\nb: 1\n', 2, 'a second document begins here'],
      ['config: store\nlisten: &l { port: 1 }\nb: *l\n', 1, 'cannot be separated from the rest'],
    ] as const) {
      const [first] = taken(text).problems;
      assert.deepEqual([first?.line, first?.message.includes(message)], [line, true], first?.message);
    }
  });
});

describe('core sections', () => {
  it('have defaults for everything except the pipeline', () => {
    const { values } = checkSections(read('pipeline: [auth, { use: ./x.ts }]\n'), coreSections);
    assert.deepEqual(values.store, { driver: 'sqlite', file: './data/turnpike.db' });
    assert.deepEqual(values.pipeline, ['auth', { use: './x.ts' }]);
    assert.deepEqual(readListen(values.listen), {
      host: '127.0.0.1',
      port: 8080,
      tls: undefined,
      workers: 1,
      trustProxy: [],
      cors: ['*'],
      body: {
        jsonBytes: 16 * 1024 ** 2,
        uploadBytes: 32 * 1024 ** 2,
        depth: 64,
        spool: undefined,
        inFlight: {
          memory: { total: 512 * 1024 ** 2, perAccount: 128 * 1024 ** 2 },
          disk: { total: 2 * 1024 ** 3, perAccount: 512 * 1024 ** 2 },
        },
      },
      drainMs: 30_000,
      onDisconnect: { stream: 'cancel', whole: 'drain' },
      attempts: { max: 3 },
    });
  });

  it('allow one body of the maximum size, however small the budgets are', () => {
    const file = read(
      'listen: { body: { json: 64mb, inFlight: { memory: { total: 1mb, perAccount: 1mb } } } }\npipeline: [auth]\n',
    );
    const { inFlight } = readListen(checkSections(file, coreSections).values.listen).body;
    assert.deepEqual(inFlight.memory, { total: 64 * 1024 ** 2, perAccount: 64 * 1024 ** 2 });
  });

  it('take the port from the environment, within its range', () => {
    const port = (value: string) => {
      const file = read('listen: { port: "${PORT}" }\npipeline: [auth]\n', { PORT: value });
      const { listen } = checkSections(file, coreSections).values;
      return file.problems.length > 0 ? 'wrong' : readListen(listen).port;
    };
    assert.deepEqual(['0', '80', '65535', '65536', '99999', '-1', '8e3', ''].map(port), [
      0,
      80,
      65535,
      'wrong',
      'wrong',
      'wrong',
      'wrong',
      'wrong',
    ]);
  });
});

describe('values with a unit', () => {
  it('durations are milliseconds', () => {
    assert.deepEqual(
      ['250ms', '30s', '15m', '2h', '90d', '0s'].map(durationMs),
      [250, 30_000, 900_000, 7_200_000, 7_776_000_000, 0],
    );
  });

  it('sizes are bytes, in units of 1024', () => {
    assert.deepEqual(
      ['10b', '64kb', '16MiB', '10mb', '1GB'].map(byteSize),
      [10, 65_536, 16_777_216, 10_485_760, 1_073_741_824],
    );
  });

  it('anything else is refused', () => {
    for (const wrong of ['', '5', 's', '-5s', '1.5s', '5 s', '5S', '5w', '9999999999s', '5s5s'])
      assert.throws(() => durationMs(wrong), RangeError, wrong);
    for (const wrong of ['', '5', 'kb', '-5kb', '1.5kb', '5 kb', '5tb', '5k', '5ib'])
      assert.throws(() => byteSize(wrong), RangeError, wrong);
  });

  it('addresses and ranges are distinguished from names', () => {
    for (const right of ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0'])
      assert.ok(isAddressRange(right), right);
    for (const wrong of [
      '',
      'localhost',
      '10.0.0.0/33',
      'fd00::/129',
      '10.0.0/8',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      'fe80::1%eth0',
      '010.0.0.1',
    ]) {
      assert.ok(!isAddressRange(wrong), wrong);
    }
  });
});

describe('the suggested name', () => {
  it('corrects a typo and does not guess', () => {
    const known = ['name', 'vendor', 'url', 'key', 'weight', 'timeout', 'from'];
    const guesses = {
      nmae: 'name',
      Name: 'name',
      vender: 'vendor',
      wieght: 'weight',
      form: 'from',
      timeouts: 'timeout',
      kye: 'key',
      colour: undefined,
      x: undefined,
      '': undefined,
    };
    for (const [wrong, right] of Object.entries(guesses)) assert.equal(nearest(wrong, known), right, wrong);
    assert.equal(nearest('name', []), undefined);
  });
});

describe('the schema for editors', () => {
  const whole = editorSchema(sections) as { properties: Record<string, unknown> };
  const accepts = new Ajv({
    allowUnionTypes: true,
    formats: { 'address-range': true, origin: true, uri: true },
  }).compile(whole);

  it('accepts what the gateway accepts, including ${…} in place of any text', () => {
    const value = {
      listen: { drain: '${DRAIN:-30s}', trustProxy: ['${PROXY}'], port: '${PORT}' },
      pipeline: ['auth', { use: './x.ts' }],
      quota: { unpriced: '${UNPRICED}' },
    };
    assert.ok(accepts(value), JSON.stringify(accepts.errors));
  });

  it('refuses unknown sections, unknown keys and wrong values', () => {
    for (const wrong of [
      { lissen: {} },
      { listen: { prt: 1 } },
      { listen: { drain: '30' } },
      { quota: { unpriced: 'x' } },
      { listen: { port: 70_000 } },
    ]) {
      assert.ok(!accepts(wrong), JSON.stringify(wrong));
    }
  });

  it('keeps the descriptions of fields', () => {
    const { drain, host } = (whole.properties.listen as { properties: Record<string, Record<string, unknown>> })
      .properties;
    assert.equal(drain?.description, 'Time for running requests to finish on shutdown.');
    assert.equal(drain?.default, '30s');
    assert.match(String(host?.description), /address/);
  });
});
