/** Prices of the section `prices` that charge nothing: the same list for `check`, the start, and a draft in the console. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { describeAssembly } from '../../../core/cli/check.ts';
import { CONSOLE_PIPELINE, checked, PATIENT, ROOT_ENV, root, type Visitor } from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';

const PRICE = { input: 1, output: 4 };
const CHANNELS = [
  { name: 'main', vendor: 'compatible', url: 'http://127.0.0.1:9/v1', key: 'k' },
  { name: 'later', vendor: 'openai', key: '' },
];
const MODELS = {
  'acme-large': { from: ['main'], price: { input: 3, output: 12 } },
  'acme-small': { from: ['main'] },
  'acme-free': { from: ['main'], free: true },
  'acme-list': { from: [{ main: 'gpt-5' }], price: 'list' },
  nick: { alias: 'acme-small' },
  waiting: { from: ['later'] },
  'open-*': { from: ['main'] },
  'own-*': { from: ['main'], price: PRICE },
};
const WRONG = {
  'acme-large': 'has no effect: the model has its own `price` in `models`, which decides; remove one of the two',
  'acme-free': 'has no effect: the model is `free: true`; remove one of the two',
  'acme-list': 'has no effect: the model has `price: list`; remove one of the two',
  'acme-larg': 'has no effect: there is no model of this name; did you mean acme-large?',
  nothing: 'has no effect: there is no model of this name',
  nick: 'has no effect: it is an alias of acme-small, so write the price for acme-small',
  'own-9':
    'has no effect: the model, which "own-*" in `models` serves, has its own `price` in `models`, which decides; remove one of the two',
} as const;
const RIGHT = ['acme-small', 'waiting', 'open-*', 'open-7'];

const configured = (names: readonly string[]) => ({
  channels: CHANNELS,
  models: MODELS,
  prices: Object.fromEntries(names.map((name) => [name, PRICE])),
});

describe('a price in `prices` that has no effect', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tp-unused-'));
  let gateway: TestGateway;
  let boss: Visitor;
  before(async () => {
    gateway = await startGateway({
      config: { pipeline: CONSOLE_PIPELINE, console: PATIENT, ...configured(RIGHT) },
      env: ROOT_ENV,
    });
    boss = await checked(gateway, await root(gateway));
  });
  after(async () => {
    await gateway.stop();
    rmSync(folder, { recursive: true });
  });

  const base = {
    pipeline: [...CONSOLE_PIPELINE],
    store: { file: './turnpike.db' },
  };

  it('is an error of `check`, one for each, and no other price is one', async () => {
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, stringify({ ...base, ...configured([...RIGHT, ...Object.keys(WRONG)]) }));
    await assert.rejects(describeAssembly(file, {}), (error: { problems: { path: string; message: string }[] }) => {
      const found = Object.fromEntries(error.problems.map(({ path, message }) => [path, message]));
      const pathOf = (name: string) => `prices.${name}`;
      assert.deepEqual(found, Object.fromEntries(Object.entries(WRONG).map(([name, why]) => [pathOf(name), why])));
      return true;
    });
    writeFileSync(file, stringify({ ...base, ...configured(RIGHT) }));
    assert.match(await describeAssembly(file, {}), /price of acme-small: /);
  });

  it('is the same error of a draft in the console, which does not become the configuration', async () => {
    const { text } = await boss.data('GET', '/api/config');
    const draft = text.replace(/^prices:$/m, 'prices:\n  acme-large: { input: 1, output: 4 }');
    assert.notEqual(draft, text);
    const { problems } = await boss.data('POST', '/api/config/check', { text: draft });
    assert.deepEqual(
      problems.map(({ path, message }: { path: string; message: string }) => [path, message]),
      [['prices.acme-large', WRONG['acme-large']]],
    );
    assert.deepEqual((await boss.data('POST', '/api/config/check', { text })).problems, []);
  });
});
