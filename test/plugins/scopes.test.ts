/** Scopes of rules: which calls, keys and accounts they have, whatever name a client sends or an owner chooses. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeAssembly } from '../../core/cli/check.ts';
import { Accounts } from '../../core/contracts/accounts.ts';
import type { Account, KeyRecord } from '../../core/contracts/identity.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Prompts } from '../../core/contracts/prompts.ts';
import { isListed, isListedWithId } from '../../core/sdk.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { errorAnswer } from '../kit/vendors/script.ts';

const free = (more: object = {}) => ({ from: ['main'], free: true, ...more });
const MODELS = {
  guarded: free(),
  hidden: free(),
  kept: free(),
  plain: free(),
  another: { alias: 'guarded' },
  'another-again': { alias: 'another' },
  upstream: free({ from: [{ main: 'guarded' }] }),
  'first-guarded': free({ from: ['spare'], fallback: ['guarded'] }),
  'first-hidden': free({ from: ['spare'], fallback: ['other-name'] }),
  'other-name': { alias: 'hidden' },
  'first-kept': free({ from: ['spare', 'main'], fallback: ['kept'] }),
  'any-*': free({ from: [{ main: '*' }] }),
};

describe('the scope of a rule', () => {
  let vendor: FakeVendor;
  let spare: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    [vendor, spare] = [await fakeVendor(), await fakeVendor()];
    gateway = await startGateway({
      vendor: [vendor, spare],
      config: {
        pipeline: [
          ...['accounts', 'auth', 'counters', 'keys', 'limits', 'guard', 'pseudonyms', 'prompts', 'prices', 'quota'],
          ...['models', 'styles', 'vendors/compatible', 'vendors/demo', 'log'],
        ],
        models: MODELS,
        guard: {
          rules: [
            { name: 'models', words: ['Blue Heron'], models: ['guarded'] },
            { name: 'account', words: ['Grey Owl'], accounts: ['ann', 'guest-*', '9999'] },
            { name: 'key', words: ['Red Kite'], keys: ['ci', 'job-*'] },
          ],
        },
        pseudonyms: { find: ['email'], models: ['hidden'] },
        prompts: { keep: '1d', models: ['kept'], readers: ['boss', 'audit-*'] },
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await Promise.all([vendor?.close(), spare?.close()]);
  });

  const call = (model: string, content: string, key = gateway.key) =>
    gateway.chat({ model, messages: [{ role: 'user', content }] }, { key });
  const statusOf = async (model: string, content: string, key?: string) => (await call(model, content, key)).status;

  for (const model of ['guarded', 'another', 'another-again', 'upstream', 'any-guarded', 'first-guarded']) {
    it(`has calls to ${model}, which the model of a rule may serve`, async () => {
      const requests = vendor.requests.length + spare.requests.length;
      assert.equal(await statusOf(model, 'About Blue Heron'), 403);
      assert.equal(vendor.requests.length + spare.requests.length, requests);
    });
  }

  it('has no calls to other models', async () => {
    assert.equal(await statusOf('plain', 'About Blue Heron'), 200);
    assert.equal(await statusOf('any-thing', 'About Blue Heron'), 200);
  });

  it('has no call whose fallback the key may not call', async () => {
    const account = (await gateway.host.use(Accounts).findByName('root'))!;
    const { secret } = await gateway.host
      .use(Keys)
      .create({ accountId: account.id, name: 'few', allowance: undefined, models: ['first-guarded'] });
    assert.equal(await statusOf('first-guarded', 'About Blue Heron', secret), 200);
  });

  it('has what a fallback behind an alias gets', async () => {
    spare.next(errorAnswer(500, 'broken'));
    assert.equal(await statusOf('first-hidden', 'I am ann@example.com'), 200);
    const sent = [...vendor.requests, ...spare.requests].map(({ body }) => body.toString()).join();
    assert.ok(sent.includes('[EMAIL_1]') && !sent.includes('ann@example.com'), sent);
  });

  it('has an answer only if a model of the scope was tried', async () => {
    const isStored = async (response: Response): Promise<boolean> => {
      const root = (await gateway.host.use(Accounts).findByName('root'))!;
      await response.text();
      return gateway.host
        .use(Prompts)
        .isReadable(response.headers.get('x-request-id')!, { account: root, ownOnly: false });
    };
    assert.equal(await isStored(await call('kept', 'Hello')), true);
    assert.equal(await isStored(await call('first-kept', 'Hello')), false);
    assert.equal(await isStored(await call('plain', 'Hello')), false);
    spare.next(errorAnswer(500, 'broken'));
    vendor.next(errorAnswer(500, 'broken'));
    assert.equal(await isStored(await call('first-kept', 'Hello')), true);
  });

  it('keeps an account that its user renames, and does not get another one', async () => {
    const accounts = gateway.host.use(Accounts);
    const keys = gateway.host.use(Keys);
    const open = async (name: string) => {
      const account = await accounts.create({ name, role: 'member' });
      const { secret } = await keys.create({ accountId: account.id, name: 'k', allowance: undefined });
      return { account, secret };
    };
    const ann = await open('ann');
    const bob = await open('bob');
    const guest = await open('guest-1');
    assert.equal(await statusOf('plain', 'Grey Owl', ann.secret), 403);
    assert.equal(await statusOf('plain', 'Grey Owl', bob.secret), 200);

    await accounts.change(ann.account.id, { name: 'zoe' });
    await accounts.change(guest.account.id, { name: 'someone' });
    await accounts.change(bob.account.id, { name: 'guest-2' });
    assert.equal(await statusOf('plain', 'Grey Owl', ann.secret), 403);
    assert.equal(await statusOf('plain', 'Grey Owl', guest.secret), 403);
    assert.equal(await statusOf('plain', 'Grey Owl', bob.secret), 200);
    // The name that the rule means stays reserved.
    await assert.rejects(accounts.create({ name: 'Ann', role: 'member' }), /already exists/);
    await assert.rejects(accounts.change(bob.account.id, { name: 'ann' }), /already exists/);

    // An administrator's word counts.
    await accounts.change(bob.account.id, { name: 'guest-3', renamesScope: true });
    assert.equal(await statusOf('plain', 'Grey Owl', bob.secret), 403);
    await accounts.change(ann.account.id, { name: 'eve', renamesScope: true });
    assert.equal(await statusOf('plain', 'Grey Owl', ann.secret), 200);
    // A name of digits is no id.
    const digits = await open('9999');
    assert.equal(await statusOf('plain', 'Grey Owl', digits.secret), 200);
  });

  it('keeps a key that its owner renames, and does not get another one', async () => {
    const keys = gateway.host.use(Keys);
    const account = (await gateway.host.use(Accounts).findByName('root'))!;
    const open = (name: string) => keys.create({ accountId: account.id, name, allowance: undefined });
    const [ci, other] = [await open('ci'), await open('other')];
    await keys.change(account.id, ci.key.id, { name: 'mine' });
    await keys.change(account.id, ci.key.id, { name: 'mine again' });
    await keys.change(account.id, other.key.id, { name: 'job-1' });
    assert.equal(await statusOf('plain', 'Red Kite', ci.secret), 403);
    assert.equal(await statusOf('plain', 'Red Kite', other.secret), 200);
  });

  it('lets no administrator become a reader of prompts by changing their own name', async () => {
    const accounts = gateway.host.use(Accounts);
    const response = await call('kept', 'Hello');
    await response.text();
    const id = response.headers.get('x-request-id')!;
    const mayRead = (account: Account) => gateway.host.use(Prompts).isReadable(id, { account, ownOnly: false });

    const eve = await accounts.create({ name: 'mallory', role: 'admin' });
    const boss = await accounts.create({ name: 'boss', role: 'admin' });
    assert.deepEqual([await mayRead(eve), await mayRead(boss)], [false, true]);
    await accounts.change(boss.id, { name: 'former' });
    await assert.rejects(accounts.change(eve.id, { name: 'boss' }), /already exists/);
    await accounts.change(eve.id, { name: 'audit-me' });
    const now = async ({ id: its }: Account) => (await accounts.find(its))!;
    assert.deepEqual([await mayRead(await now(eve)), await mayRead(await now(boss))], [false, true]);
  });

  it('is warned of where calls can leave it, and not of aliases and fallbacks that are in it', async () => {
    const text = await describeAssembly(gateway.configFile, {});
    assert.doesNotMatch(text, /warning: .*guard\.rules\[0\]\.models/);
    assert.match(text, /guard\.rules\[2\]\.keys.*another key/);
    assert.match(text, /prompts\.readers\[1\].*ids/);
  });
});

describe('a list with names and ids', () => {
  const one = { id: 17, name: 'ann' } as KeyRecord;
  it('has ids, names and patterns, and takes no name for an id', () => {
    assert.equal(isListedWithId(undefined, one), true);
    assert.equal(isListedWithId(['17'], one), true);
    assert.equal(isListedWithId(['a*'], one), true);
    assert.equal(isListedWithId(['1*'], one), false);
    assert.equal(isListedWithId(['17'], { id: 3, name: '17' }), false);
    assert.equal(isListedWithId(['*'], { id: 3, name: '17' }), true);
    assert.equal(isListedWithId(['ann'], { ...one, scopeName: 'bob' }), false);
    assert.equal(isListedWithId(['bob'], { ...one, scopeName: 'bob' }), true);
    assert.equal(isListed(['gpt-*'], 'gpt-5'), true);
  });
});
