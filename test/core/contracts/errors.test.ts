/** Tables of errors: what they make, what the compiler and the start refuse, and what the gateway knows of them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { planFrom } from '../../../core/assembly/assemble.ts';
import { coreErrors, notWritten } from '../../../core/contracts/errors.ts';
import { GatewayError, refuse } from '../../../core/plugin.ts';
import { defineErrors } from '../../../core/sdk.ts';

const errors = defineErrors(
  {
    closed: {
      status: 403,
      text: (from: number, to: number) => `Calls are accepted from ${from} to ${to} o'clock.`,
      help: 'The gateway is closed. Try again in the morning.',
      headers: { 'x-should-retry': 'false' },
    },
    misspelt: { status: [400, 422], param: 'word', text: 'This word is misspelt.', help: 'Spell the word correctly.' },
    busy: { status: 503, help: 'The gateway is busy. Try again later.' },
  },
  'api',
);

describe('an error of a table', () => {
  it('has the status, code, field and headers of its row, and the text with the given values', () => {
    const error = errors.closed(8, 18);
    assert.ok(error instanceof GatewayError);
    const { status, code, type, message, param, headers } = error;
    assert.deepEqual(
      [status, code, type, message, param, headers],
      [
        403,
        'closed',
        'permission_error',
        "Calls are accepted from 8 to 18 o'clock.",
        '',
        { 'x-should-retry': 'false' },
      ],
    );
    assert.deepEqual([errors.misspelt().status, errors.misspelt().param], [400, 'word']);
  });

  it('has the message that it is given if its row has no text, otherwise its help', () => {
    assert.equal(errors.busy().message, 'The gateway is busy. Try again later.');
    assert.equal(errors.busy('The queue is full.').message, 'The queue is full.');
  });

  it('is copied by `with`, which changes what it is given and adds headers', () => {
    const error = errors.closed(8, 18);
    const other = error.with({ param: 'hour', headers: { 'retry-after': '60' } });
    assert.deepEqual(
      [other.status, other.code, other.message, other.param, other.headers],
      [403, 'closed', error.message, 'hour', { 'x-should-retry': 'false', 'retry-after': '60' }],
    );
    assert.equal(errors.misspelt().with({ status: 422, message: 'No.' }).status, 422);
    assert.deepEqual([error.param, error.headers], ['', { 'x-should-retry': 'false' }]);
  });

  it('is known before it happens', () => {
    assert.deepEqual(errors.misspelt.about, {
      code: 'misspelt',
      statuses: [400, 422],
      help: 'Spell the word correctly.',
      place: 'api',
    });
  });

  it('is thrown by `refuse`, as is an error whose code is in no table', () => {
    assert.throws(() => refuse(errors.misspelt()), { code: 'misspelt', status: 400 });
    assert.throws(() => refuse(418, 'teapot', 'It makes tea.', { param: 'pot' }), { code: 'teapot', param: 'pot' });
  });

  it('does not compile with an unknown code, or other values than its text takes', () => {
    // @ts-expect-error: there is no such code
    assert.throws(() => errors.open(), TypeError);
    // @ts-expect-error: a number is missing
    errors.closed(8);
    // @ts-expect-error: the text takes no value
    errors.misspelt('wrod');
  });
});

describe('the error of steps that were not written', () => {
  it('has the code of the step if that is the code of an error, otherwise that of a conflict', () => {
    assert.deepEqual([notWritten('no_room').status, notWritten('no_room').code], [409, 'no_room']);
    for (const must of ['living', 'internal_error', 'constructor'])
      assert.deepEqual([notWritten(must).status, notWritten(must).code], [409, 'conflict']);
    assert.equal(notWritten('living').message, coreErrors.conflict().message);
  });
});

describe('the errors of a pipeline', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-errors-'));
  after(() => rmSync(folder, { recursive: true }));

  /** The plan of a pipeline with a plugin that has these errors, as source text. */
  function planWith(name: string, table: string) {
    const sdk = new URL('../../../core/sdk.ts', import.meta.url).href;
    writeFileSync(
      join(folder, `${name}.mjs`),
      `import { defineErrors } from '${sdk}';
      export default { name: '${name}', api: 2, errors: ${table}, create: () => ({}) };`,
    );
    const config = join(folder, `${name}.yaml`);
    writeFileSync(config, `store: { driver: sqlite, file: ./t.db }\npipeline: [accounts, auth, keys, ./${name}.mjs]\n`);
    return planFrom(config, {});
  }

  it('are those of core and of its plugins, each with its owner', async () => {
    const plan = await planWith('hours', "defineErrors({ closed: { status: 403, text: 'Closed.', help: 'Wait.' } })");
    assert.deepEqual(plan.file.problems, []);
    assert.deepEqual(plan.errors.get('closed'), {
      code: 'closed',
      statuses: [403],
      help: 'Wait.',
      place: 'call',
      owner: 'hours',
    });
    assert.equal(plan.errors.get('key_expired')?.owner, 'auth');
    assert.equal(plan.errors.get('internal_error')?.owner, 'core');
    assert.equal(plan.errors.has('content_refused'), false);
  });

  it('are refused if another plugin has one of these codes', async () => {
    const plan = await planWith('again', "defineErrors({ key_expired: { status: 401, text: 'No.', help: 'No.' } })");
    assert.deepEqual(
      plan.file.problems.map(({ message }) => message),
      ['again defines the error key_expired, which auth already defines'],
    );
  });

  it('are refused if `defineErrors` did not make them', async () => {
    const plan = await planWith('by-hand', '{ closed: () => new Error() }');
    assert.match(plan.file.problems[0]?.message ?? '', /by-hand.*`errors\.closed\.about` must be an object/);
  });
});
