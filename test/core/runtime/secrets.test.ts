/** What looks like a secret: each sample is masked by the log and in the editor, and `check` and `doctor` warn of it. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { configFrom } from '../../../core/config/file.ts';
import { createMasks, MASK } from '../../../core/operations/config-editing/masks.ts';
import { createLog } from '../../../core/runtime/logger.ts';
import { secretsByForm, withoutSecrets } from '../../../core/runtime/secrets.ts';

const MIXED = 'aB3dE6gH9jK2mN5pQ8sT1vW4';
const UUID = '0a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f';

/** A text, and the part of it that must not be shown. */
const SAMPLES: readonly (readonly [text: string, secret: string])[] = [
  ...['sk-', 'sk_live_', 'sk-ant-api03-', 'pk-lf-', 'pk_live_', 'rk_live_', 'whsec_', 'ghp_', 'gho_', 'ghs_'],
  ...['github_pat_', 'glpat-', 'xoxb-', 'xoxp-', 'xapp-', 'hf_', 'gsk_', 'xai-', 'nvapi-', 'npm_', 'turnpike_st_'],
]
  .map((prefix): readonly [string, string] => [`the vendor said ${prefix}${MIXED}, sorry`, `${prefix}${MIXED}`])
  .concat([
    ['AKIAIOSFODNN7EXAMPLE is wrong', 'AKIAIOSFODNN7EXAMPLE'],
    [`AIza${MIXED}${MIXED} is wrong`, `AIza${MIXED}${MIXED}`],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
    ['sent Bearer hunter2222', 'hunter2222'],
    ['sent Basic aHVudGVyMjI=', 'aHVudGVyMjI='],
    ['https://x.example/?key=hunter22&a=b', 'hunter22'],
    ['https://x.example/?sig=hunter22', 'hunter22'],
    ['host=db pwd=hunter22', 'hunter22'],
    [`{"api_key":"hunter22"}`, 'hunter22'],
    [`{"keys":["hunter22","hunter33"]}`, 'hunter33'],
    ['postgres://me:hunter22@db.example/x', 'hunter22'],
    ['smtps://me:hunter@22@mail.example', 'hunter@22'],
    [`https://hooks.x.example/services/T0/B0/${MIXED}`, MIXED],
    [`https://x.example/hook/${UUID}`, UUID],
    [`https://x.example/hook/${UUID}/send`, UUID],
  ]);

describe('what looks like a secret', () => {
  for (const [text, secret] of SAMPLES) {
    it(`is hidden by all: ${text}`, () => {
      const lines: string[] = [];
      const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => 0 });
      log.warn(text, { fact: text });
      assert.ok(!lines[0]!.includes(JSON.stringify(secret).slice(1, -1)), `log: ${lines[0]}`);

      const file = `note: ${JSON.stringify(text)}\n# or: ${text}\n`;
      const shown = createMasks(Buffer.alloc(32, 7))(file).text;
      assert.ok(!shown.includes(secret) && MASK.test(shown), `editor: ${shown}`);

      const warnings = warningsOf(text);
      assert.ok(
        warnings.some((warning) => warning.includes('looks like a credential')),
        `check: ${warnings}`,
      );
    });

    it(`is the same after masking twice: ${text}`, () => {
      const once = withoutSecrets(text, '[secret]');
      assert.equal(withoutSecrets(once, '[secret]'), once);
    });
  }

  it('is nothing that an operator needs: ids of vendors, hashes, paths and addresses stay in the log', () => {
    for (const text of [
      'req_011CSHoEeqs5C35K2UUqR7Fy was refused',
      `the head of the audit log is 12:${'0af3'.repeat(16)}`,
      '/opt/Turnpike-2026-Production/gateway.yaml could not be read',
      `https://login.x.example/${UUID}/v2.0`,
      'risk-of-something-longer, max_tokens=100',
    ])
      assert.equal(withoutSecrets(text, '[secret]'), text);
  });

  it('is found in linear time', () => {
    for (const piece of [
      'http://',
      'https://a/',
      '/aB3',
      '"keys":[',
      '"keys":["a",',
      'sk-',
      'hf_',
      'pwd = ',
      'a@//',
      'x-key: ',
    ]) {
      const text = piece.repeat(Math.ceil(300_000 / piece.length));
      assert.ok(withoutSecrets(text, '[secret]').length <= 5 * text.length, piece);
      assert.ok(secretsByForm(text).length <= text.length, piece);
    }
  });
});

/** The warnings about a value of gateway.yaml: `doctor` repeats those of `check`. */
function warningsOf(text: string): readonly string[] {
  const file = join(tmpdir(), 'gateway-that-is-not-there.yaml');
  return configFrom(file, `note: ${JSON.stringify(text)}\n`, { env: {} }).warnings.map(({ message }) => message);
}
