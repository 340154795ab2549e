/** A call before it is made: what it may cost, where it would go, what would be lost; and nothing comes of it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Keys } from '../../../core/contracts/keys.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, signedIn, visitor } from '../../kit/console/console.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;

const PATH = '/api/playground/estimate';
const HELLO = { model: 'test-model', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Person;
let bob: Person;
let adam: Person;
let mine: number;

before(async () => {
  vendor = await fakeVendor();
  const channel = { vendor: 'compatible', url: vendor.url, key: VENDOR_KEY };
  gateway = await startGateway({
    config: {
      pipeline: CONSOLE_PIPELINE,
      console: PATIENT,
      limits: { requestsPerMinute: 2 },
      channels: [
        { ...channel, name: 'main', priority: 0 },
        { ...channel, name: 'spare', priority: 1 },
        { ...channel, name: 'other', speaks: ['messages'] },
      ],
      models: {
        'test-model': { from: [{ main: 'vendor-model' }, 'spare'], price: { input: 1, output: 2 } },
        alias: { alias: 'test-model' },
        translated: { from: ['other'], free: true },
        unpriced: { from: ['main'] },
      },
    },
    env: ROOT_ENV,
  });
  ann = await signedIn(gateway, 'ann');
  bob = await signedIn(gateway, 'bob');
  adam = await signedIn(gateway, 'adam', { role: 'admin' });
  for (const name of ['ann', 'adam']) await gateway.command(`user credit ${name} 1000000`);
  mine = await keyOf(ann);
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

async function keyOf(who: Person): Promise<number> {
  return (await who.data('POST', '/api/token/', { name: 'k', unlimited_quota: true })).id;
}
const estimate = (who: Person, token_id: number, body: object, style = 'chat') =>
  who.data('POST', PATH, { token_id, style, body });

describe('an estimate', () => {
  it('tells a member what the call may cost, and not where it would go', async () => {
    assert.deepEqual(await estimate(ann, mine, HELLO), {
      // 1,024 tokens and one for every byte of input at 0.5 quota, 100 tokens of output at 1.
      at_most: (1_024 + 56) / 2 + 100,
      may_grow: false,
      input_estimate: 56 / 4,
      output_limit: 100,
      price: 'input 1, output 2 per million tokens',
      losses: [],
      would_go_to: null,
      refusal: null,
    });
    const open = await estimate(ann, mine, { ...HELLO, model: 'alias', max_tokens: undefined });
    assert.deepEqual(
      [open.may_grow, open.output_limit, open.price],
      [true, null, 'input 1, output 2 per million tokens'],
    );
    assert.ok(open.at_most > 4_096, 'what is assumed is set aside');
  });

  it('is never less than what the call is charged', async () => {
    const { at_most: most } = await estimate(ann, mine, HELLO);
    const { secret } = await gateway.host.use(Keys).rotate(ann.id, mine, 0);
    await (await gateway.chat(HELLO, { key: secret })).text();
    const [line] = (await ann.data('GET', '/api/log/self?type=2')).items;
    assert.ok(line.quota > 0 && line.quota <= most, `${line.quota} of ${most}`);
  });

  it('tells administrators the channels in their order', async () => {
    const { would_go_to: places } = await estimate(adam, await keyOf(adam), HELLO);
    assert.deepEqual(places, [
      { channel: 'main', model: 'vendor-model', style: 'chat', state: 'available', asked: true },
      { channel: 'spare', model: 'test-model', style: 'chat', state: 'available', asked: true },
    ]);
  });

  it('tells what a translation would lose', async () => {
    const { losses, at_most: most } = await estimate(ann, mine, { ...HELLO, model: 'translated', seed: 7 });
    assert.equal(losses.length, 1);
    assert.match(losses[0], /seed/);
    assert.equal(most, 0);
  });

  it('tells the refusal that the call would meet', async () => {
    const keys = gateway.host.use(Keys);
    const make = async (changes: object) => {
      const { key } = await keys.create({ accountId: ann.id, name: 'k', allowance: undefined });
      await keys.change(ann.id, key.id, changes);
      return key.id;
    };
    const cases: readonly (readonly [number, object, string])[] = [
      [mine, { ...HELLO, model: 'nowhere' }, '404 model_not_found'],
      [mine, { ...HELLO, model: 'unpriced' }, '402 model_not_priced'],
      [mine, { model: 'test-model' }, '400 invalid_request_error'],
      [mine, {}, '400 invalid_request_error'],
      [await make({ enabled: false }), HELLO, '401 key_disabled'],
      [await make({ expiresMs: Date.now() - 1_000 }), HELLO, '401 key_expired'],
      [await make({ models: ['translated'] }), HELLO, '403 model_not_allowed'],
      [await make({ addresses: ['10.0.0.0/8'] }), HELLO, '403 ip_not_allowed'],
      [await keyOf(bob), HELLO, '403 QUOTA_USER_INSUFFICIENT'],
    ];
    for (const [id, body, expected] of cases) {
      const { refusal, would_go_to: places } = await estimate(expected.includes('QUOTA') ? bob : ann, id, body);
      assert.equal(`${refusal?.status} ${refusal?.code}`, expected);
      assert.ok(refusal.message.length > 10, 'it says why');
      assert.equal(places, null);
    }
  });

  it('leaves nothing behind: no record, no hold, no count, and no vendor hears of it', async () => {
    const { id, secret } = await (async () => {
      const opened = await gateway.host.use(Keys).create({ accountId: ann.id, name: 'k', allowance: undefined });
      return { id: opened.key.id, secret: opened.secret };
    })();
    const records = usageRecords(gateway.storeFile).length;
    const asked = vendor.requests.length;
    const before = await ann.data('GET', '/api/user/self');
    for (let i = 0; i < 5; i++) assert.equal((await estimate(ann, id, HELLO)).refusal, null);
    assert.deepEqual(
      [usageRecords(gateway.storeFile).length, vendor.requests.length, (await ann.data('GET', '/api/user/self')).quota],
      [records, asked, before.quota],
    );
    for (const left of ['1', '0']) {
      const answer = await gateway.chat(HELLO, { key: secret });
      assert.equal(answer.headers.get('x-ratelimit-remaining-requests'), left);
      await answer.text();
    }
    assert.equal((await estimate(ann, id, HELLO)).refusal?.code, 'rate_limit_exceeded');
  });

  it('is for the own keys of whoever is signed in [T-AUTHZ-03]', async () => {
    const theirs = await keyOf(bob);
    const asked = { style: 'chat', body: HELLO };
    for (const token_id of [theirs, 999_999]) {
      const { status, body } = await ann.post(PATH, { token_id, ...asked });
      assert.deepEqual([status, body.code, body.param], [404, 'key_not_found', 'token_id']);
    }
    assert.equal((await visitor(gateway).post(PATH, { token_id: mine, ...asked })).status, 401);
    const withKey = visitor(gateway, { authorization: `Bearer ${gateway.key}` });
    assert.equal((await withKey.post(PATH, { token_id: mine, ...asked })).status, 401);
    assert.equal((await ann.post(PATH, { token_id: mine, ...asked }, { 'sec-fetch-site': 'cross-site' })).status, 403);
  });

  it('refuses what is no call', async () => {
    const good = { token_id: mine, style: 'chat', body: HELLO };
    const wrong: readonly (readonly [object, number, string])[] = [
      [{ ...good, style: 'nothing' }, 400, 'style'],
      [{ ...good, style: '__proto__' }, 400, 'style'],
      [{ ...good, body: [] }, 400, 'body'],
      [{ ...good, body: 'x' }, 400, 'body'],
      [{ ...good, token_id: '1' }, 400, 'token_id'],
      [{ style: 'chat', body: HELLO }, 400, 'token_id'],
      [{ ...good, account_id: 1 }, 400, 'account_id'],
    ];
    for (const [body, status, param] of wrong) {
      const answer = await ann.post(PATH, body);
      assert.deepEqual([answer.status, answer.body.param], [status, param], JSON.stringify(body));
    }
  });

  it('takes a long conversation, up to a mebibyte', async () => {
    const talk = (length: number) => ({ ...HELLO, messages: [{ role: 'user', content: 'x'.repeat(length) }] });
    const { input_estimate: tokens } = await estimate(ann, mine, talk(900_000));
    assert.ok(tokens > 200_000, `${tokens} tokens`);
    const { status, body } = await ann.post(PATH, { token_id: mine, style: 'chat', body: talk(1_100_000) });
    assert.deepEqual([status, body.code], [413, 'request_too_large']);
  });
});
