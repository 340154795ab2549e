import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import {
  type ApiAnswer,
  CONSOLE_PIPELINE,
  checked,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  signedIn,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { isOfThisRun } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;
let bob: Visitor;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({
    vendor,
    config: { pipeline: CONSOLE_PIPELINE, console: PATIENT },
    env: ROOT_ENV,
  });
  ann = await member(gateway, 'ann', { units: 1_000_000 });
  bob = await member(gateway, 'bob', { units: 10 });
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

/** Code and field of a refusal. */
function refusal({ status, body }: ApiAnswer): readonly unknown[] {
  assert.equal(body?.success, false, `a refusal: ${JSON.stringify(body)}`);
  return [status, body.code, body.param];
}

/** The status of a call with a key. */
async function call(key: string, body: object = {}): Promise<number> {
  const answer = await gateway.chat({ max_tokens: 10, ...body }, { key });
  await answer.text();
  return answer.status;
}

const make = (person: Visitor, body: object = {}) => person.data('POST', '/api/token/', { name: 'k', ...body });

describe('making a key', () => {
  it('shows it once, whole, and masked ever after [T-SEC-06] [T-SEC-07]', async () => {
    const made = await make(ann, { name: 'shown once' });
    const { key: secret, id } = made;
    assert.match(secret, /^sk-[0-9A-Za-z]{49}$/);
    assert.equal(await call(secret), 200);
    const masked = `${secret.slice(0, 7)}**********${secret.slice(-4)}`;
    const answers = [
      await ann.get('/api/token/?page_size=100'),
      await ann.get('/api/token'),
      await ann.get(`/api/token/search?keyword=shown&token=${secret}`),
      await ann.get(`/api/token/${id}`),
      await ann.put('/api/token/', { id, name: 'shown once' }),
    ];
    for (const { status, text } of answers) {
      assert.equal(status, 200, text);
      assert.ok(!text.includes(secret.slice(7, -4)), 'no answer holds the middle of the key');
    }
    assert.equal((await ann.data('GET', `/api/token/${id}`)).key, masked);
  });

  it('needs a name and nothing else', async () => {
    const made = await make(ann, { name: ' plain ' });
    const { id, user_id, key, created_time, ...rest } = made;
    assert.deepEqual(rest, {
      name: 'plain',
      status: 1,
      accessed_time: 0,
      expired_time: -1,
      remain_quota: 0,
      used_quota: 0,
      held_quota: 0,
      unlimited_quota: true,
      model_limits_enabled: false,
      model_limits: '',
      allow_ips: '',
      group: '',
      strict: false,
      limits: [],
    });
    assert.ok(created_time > 1_700_000_000, 'unix seconds');
    assert.equal(await call(key), 200);
  });

  it('takes everything that tools send', async () => {
    const expires = Math.floor(Date.now() / 1_000) + 3_600;
    const made = await make(ann, {
      expired_time: expires,
      remain_quota: 250_000,
      unlimited_quota: false,
      model_limits_enabled: true,
      model_limits: 'test-model, free-model',
      allow_ips: '127.0.0.1\n10.0.0.0/8\n',
      group: 'default',
      cross_group_retry: false,
    });
    const { expired_time, remain_quota, unlimited_quota, model_limits_enabled, model_limits, allow_ips } = made;
    assert.deepEqual(
      { expired_time, remain_quota, unlimited_quota, model_limits_enabled, model_limits, allow_ips },
      {
        expired_time: expires,
        remain_quota: 250_000,
        unlimited_quota: false,
        model_limits_enabled: true,
        model_limits: 'test-model,free-model',
        allow_ips: '127.0.0.1\n10.0.0.0/8',
      },
    );
    assert.equal(await call(made.key), 200);
    assert.equal(await call(made.key, { model: 'demo' }), 403);
  });

  it('refuses what makes no sense, naming the field [T-LED-06]', async () => {
    const count = async () => (await ann.data('GET', '/api/token/')).total;
    const had = await count();
    const now = Math.floor(Date.now() / 1_000);
    const wrong: readonly (readonly [object, string])[] = [
      [{ name: undefined }, ''],
      [{ name: '  ' }, 'name'],
      [{ name: 'x'.repeat(65) }, 'name'],
      [{ name: 7 }, 'name'],
      [{ expired_time: 0 }, 'expired_time'],
      [{ expired_time: -2 }, 'expired_time'],
      [{ expired_time: now - 1 }, 'expired_time'],
      [{ expired_time: 2 ** 63 }, 'expired_time'],
      [{ expired_time: '-1' }, 'expired_time'],
      [{ expired_time: now + 60.5 }, 'expired_time'],
      [{ remain_quota: -1 }, 'remain_quota'],
      [{ remain_quota: 0.5 }, 'remain_quota'],
      [{ remain_quota: '1e3' }, 'remain_quota'],
      [{ remain_quota: 2 ** 53 }, 'remain_quota'],
      [{ remain_quota: 2 ** 63 }, 'remain_quota'],
      [{ remain_quota: null }, 'remain_quota'],
      [{ unlimited_quota: 'true' }, 'unlimited_quota'],
      [{ unlimited_quota: false }, 'remain_quota'],
      [{ model_limits: 'no-such-model' }, 'model_limits'],
      [{ model_limits_enabled: true }, 'model_limits'],
      [{ model_limits_enabled: true, model_limits: ' , ' }, 'model_limits'],
      [{ allow_ips: '10.0.0.5/8' }, 'allow_ips'],
      [{ allow_ips: 'example.com' }, 'allow_ips'],
      [{ allow_ips: '10.0.0.0/33' }, 'allow_ips'],
    ];
    for (const [body, param] of wrong) {
      const answer = await ann.post('/api/token/', { name: 'k', ...body });
      assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
      if (param !== '') assert.equal(answer.body.param, param, answer.text);
    }
    assert.equal(await count(), had);
  });

  it('takes amounts exactly, up to what the ledger has room for [T-LED-06]', async () => {
    for (const amount of [0, 1, 2 ** 31 - 1, 2 ** 31, 4_000_000_000_000]) {
      const made = await make(ann, { remain_quota: amount });
      assert.deepEqual([made.remain_quota, made.unlimited_quota], [amount, false]);
      assert.equal(made.status, amount === 0 ? 4 : 1);
      assert.equal((await ann.data('GET', `/api/token/${made.id}`)).remain_quota, amount);
    }
  });

  it('gives nobody more than they have [T-AUTHZ-02]', async () => {
    // Bob has less than one such call may cost; his key says he may spend a thousand times that.
    const { key } = await make(bob, { remain_quota: 1_000_000 });
    const answer = await gateway.chat({ max_tokens: 1_000_000 }, { key });
    const body = (await answer.json()) as { error: { code: string } };
    assert.deepEqual([answer.status, body.error.code], [403, 'QUOTA_USER_INSUFFICIENT']);
    assert.equal(
      refusal(await bob.post('/api/token/', { name: 'k', user_id: 1, role: 'root' }))?.toString(),
      '400,invalid_request_error,role',
    );
    const own = (await make(bob)).user_id;
    assert.equal((await make(bob, { user_id: own })).user_id, own);
    assert.equal((await make(bob, { user_id: 0 })).user_id, own);
    const forRoot = await bob.post('/api/token/', { name: 'k', user_id: 1 });
    assert.deepEqual(refusal(forRoot), [403, 'role_insufficient', 'user_id']);
  });

  it('is for whoever is signed in', async () => {
    const stranger = visitor(gateway);
    const tries = [
      stranger.get('/api/token/'),
      stranger.get('/api/token/search'),
      stranger.get('/api/token/default'),
      stranger.get('/api/token/1'),
      stranger.post('/api/token/', { name: 'k' }),
      stranger.put('/api/token/', { id: 1 }),
      stranger.delete('/api/token/1'),
      stranger.post('/api/token/batch', { ids: [1] }),
      stranger.post('/api/token/1/key'),
    ];
    for (const answer of await Promise.all(tries)) assert.equal(answer.status, 401, answer.text);
    // A key is for calls.
    const withKey = visitor(gateway, { authorization: `Bearer ${gateway.key}` });
    assert.deepEqual(refusal(await withKey.get('/api/token/')), [401, 'access_token_wanted', undefined]);
  });
});

describe('changing a key', () => {
  it('keeps what is left out', async () => {
    const made = await make(ann, { remain_quota: 500, model_limits: 'test-model', allow_ips: '127.0.0.1' });
    const { id, key } = made;
    const masked = { ...made, key: `${key.slice(0, 7)}**********${key.slice(-4)}` };
    assert.deepEqual(await ann.data('PUT', '/api/token/', { id, name: 'new' }), { ...masked, name: 'new' });
    assert.deepEqual(await ann.data('GET', `/api/token/${id}`), { ...masked, name: 'new' });
    const open = await ann.data('PUT', '/api/token/', { id, allow_ips: '', model_limits_enabled: false });
    assert.deepEqual(open, {
      ...masked,
      name: 'new',
      allow_ips: '',
      model_limits: '',
      model_limits_enabled: false,
    });
  });

  it('said back as it was shown changes nothing', async () => {
    const made = await make(ann, { remain_quota: 500, model_limits: 'test-model', allow_ips: '::1\n10.0.0.0/8' });
    const shown = await ann.data('GET', `/api/token/${made.id}`);
    assert.deepEqual(await ann.data('PUT', '/api/token/', { ...shown, DeletedAt: null }), shown);
    assert.equal(await call(made.key), 403, 'the addresses still count');
  });

  it('sets only what may be set: no column of the table and no word of ours [T-AUTHZ-01]', async () => {
    const { id } = await make(ann);
    const before = await ann.data('GET', `/api/token/${id}`);
    for (const column of [
      'account_id',
      'hash',
      'prefix',
      'suffix',
      'enabled',
      'created_ms',
      'used_ms',
      'expires_ms',
      'models',
      'addresses',
      'revoked_ms',
      'is_default',
      'allowance',
    ]) {
      assert.equal((await ann.put('/api/token/', { id, [column]: 1 })).status, 400, column);
      assert.equal((await ann.post('/api/token/', { name: 'k', [column]: 1 })).status, 400, column);
    }
    const refused = { user_id: 1, key: 'sk-mine', created_time: 1, group: 'vip', cross_group_retry: true };
    for (const [name, value] of Object.entries({ ...refused, auto_groups: ['vip'], DeletedAt: '2026-01-01' })) {
      assert.deepEqual(refusal(await ann.put('/api/token/', { id, [name]: value })), [400, 'read_only', name]);
    }
    // What calls change is older than what is, when it comes back.
    assert.deepEqual(await ann.data('PUT', '/api/token/', { id, accessed_time: 1, used_quota: 1 }), before);
    for (const [name, value] of Object.entries({ ...refused, user_id: undefined, used_quota: 5, accessed_time: 7 })) {
      if (value === undefined) continue;
      const answer = await ann.post('/api/token/', { name: 'k', [name]: value });
      assert.deepEqual(refusal(answer), [400, 'read_only', name]);
    }
    assert.deepEqual(refusal(await ann.post('/api/token/', { name: 'k', id: 7 })), [
      400,
      'invalid_request_error',
      'id',
    ]);
    const asTools = { id: 0, key: '', created_time: 0, group: 'default', cross_group_retry: false, auto_groups: null };
    assert.equal((await make(ann, { ...asTools, DeletedAt: null, status: 2 })).status, 2, 'disabled from the start');
  });

  it('of its status alone looks at nothing else', async () => {
    const { id, key } = await make(ann);
    assert.equal(await call(key), 200);
    const off = await ann.data('PUT', '/api/token/?status_only=1', { id, status: 2, name: 'ignored' });
    assert.deepEqual([off.status, off.name], [2, 'k']);
    assert.equal(await call(key), 401);
    for (const status of [3, 4]) {
      assert.deepEqual(refusal(await ann.put('/api/token/?status_only=1', { id, status })), [
        400,
        'invalid_request_error',
        'status',
      ]);
    }
    assert.equal((await ann.put('/api/token/?status_only=1', { id })).status, 400);
    assert.equal((await ann.data('PUT', '/api/token/', { id, status: 3 })).status, 2);
    assert.equal((await ann.data('PUT', '/api/token/', { id, status: 1 })).status, 1);
    assert.equal(await call(key), 200);
  });

  it('of what it may spend counts from the very next call [T-LED-10]', async () => {
    const { id, key } = await make(ann, { remain_quota: 0 });
    assert.equal(await call(key), 403);
    assert.equal((await ann.data('PUT', '/api/token/', { id, remain_quota: 100_000 })).status, 1);
    assert.equal(await call(key), 200);
    const { remain_quota: left, used_quota: used } = await ann.data('GET', `/api/token/${id}`);
    assert.ok(used > 0 && left + used <= 100_000, `${left} left, ${used} used`);
    assert.equal((await ann.data('PUT', '/api/token/', { id, remain_quota: 0 })).status, 4);
    assert.equal(await call(key), 403);
    assert.equal((await ann.data('PUT', '/api/token/', { id, unlimited_quota: true })).unlimited_quota, true);
    assert.equal(await call(key), 200);
    const limited = await ann.data('PUT', '/api/token/', { id, remain_quota: 7 });
    assert.deepEqual([limited.remain_quota, limited.unlimited_quota], [7, false]);
    assert.equal((await ann.data('GET', `/api/token/${id}`)).used_quota, limited.used_quota);
  });

  it('shows when it was used last', async () => {
    const { id, key } = await make(ann);
    assert.equal(await call(key), 200);
    const { accessed_time: at } = await ann.data('GET', `/api/token/${id}`);
    const { created_time: made } = await ann.data('GET', `/api/token/${id}`);
    assert.ok(at === made || at % 60 === 0, `${at} is a minute, or the moment it was made`);
    assert.ok(at >= made, 'never before it was made');
    assert.ok(isOfThisRun(at * 1_000), `${at} is about now`);
  });
});

describe('a key of somebody else', () => {
  let admin: Visitor;
  let chief: Visitor;
  let mia: Visitor;
  let ids: Readonly<Record<'mia' | 'adam' | 'root', number>>;
  const idOf = async (who: Visitor): Promise<number> => (await who.data('GET', '/api/user/self')).id;
  before(async () => {
    admin = await checked(gateway, await member(gateway, 'adam', { role: 'admin' }));
    chief = await checked(gateway, await root(gateway));
    mia = await member(gateway, 'mia', { units: 100_000 });
    ids = { mia: await idOf(mia), adam: await idOf(admin), root: await idOf(chief) };
  });

  it('is made, limited, disabled and ended by administrators, and pays from the balance of its user [T-KEY-01]', async () => {
    const made = await admin.data('POST', '/api/token/', { name: 'for mia', user_id: ids.mia });
    assert.equal(made.user_id, ids.mia);
    const before = (await mia.data('GET', '/api/user/self')).quota;
    assert.equal(await call(made.key), 200);
    assert.ok((await mia.data('GET', '/api/user/self')).quota < before, 'mia pays');
    assert.deepEqual(
      (await mia.data('GET', '/api/token/')).items.map(({ id }: { id: number }) => id),
      [made.id],
    );
    const listed = await admin.data('GET', `/api/token/?user_id=${ids.mia}`);
    assert.deepEqual([listed.total, listed.items[0].id, listed.items[0].user_id], [1, made.id, ids.mia]);
    assert.ok(!JSON.stringify(listed).includes(made.key), 'nobody reads a key');
    assert.equal((await admin.data('GET', `/api/token/${made.id}`)).name, 'for mia');

    const limited = await admin.data('PUT', '/api/token/', { id: made.id, remain_quota: 0 });
    assert.deepEqual([limited.user_id, limited.status], [ids.mia, 4]);
    assert.equal(await call(made.key), 403);
    await admin.data('PUT', '/api/token/', { id: made.id, unlimited_quota: true });
    await admin.data('PUT', '/api/token/?status_only=1', { id: made.id, status: 2 });
    assert.equal(await call(made.key), 401);
    await admin.data('DELETE', `/api/token/${made.id}`);
    assert.equal((await mia.data('GET', '/api/token/')).total, 0);
    const entries = await gateway.host.use(Audit).page({ limit: 5, action: 'key' });
    assert.deepEqual(
      entries.map(({ action, actor, object }) => [action, actor.name, object]),
      ['key.delete', 'key.change', 'key.change', 'key.change', 'key.create'].map((action) => [
        action,
        'adam',
        `key ${made.id}`,
      ]),
    );
    for (const { facts } of entries) assert.equal((facts as { user_id?: number }).user_id, ids.mia);
  });

  it('is nothing to members, and to administrators only where its user is below them [T-KEY-02]', async () => {
    const [hers, his, top] = [await make(mia), await make(admin), await make(chief)];
    for (const [who, key, refused] of [
      [ann, hers, '404 key_not_found'],
      [mia, top, '404 key_not_found'],
      [admin, top, '403 role_insufficient'],
      [await checked(gateway, await member(gateway, 'eva', { role: 'admin' })), his, '403 role_insufficient'],
    ] as const) {
      const answers = [
        await who.get(`/api/token/${key.id}`),
        await who.put('/api/token/', { id: key.id, name: 'taken' }),
        await who.put('/api/token/?status_only=1', { id: key.id, status: 2 }),
        await who.delete(`/api/token/${key.id}`),
      ];
      for (const answer of answers) assert.equal(said(answer), refused);
      const list = await who.get(`/api/token/?user_id=${key.user_id}`);
      assert.deepEqual(refusal(list)?.slice(0, 2), [403, 'role_insufficient']);
      assert.equal(said(await who.post('/api/token/', { name: 'k', user_id: key.user_id })), '403 role_insufficient');
      assert.equal(said(await who.post('/api/token/batch', { ids: [key.id] })), refused);
      assert.equal(said(await who.post(`/api/token/${key.id}/key`)), refused);
    }
    for (const user of [999_999, -1]) {
      const answer = await chief.post('/api/token/', { name: 'k', user_id: user });
      assert.ok([400, 404].includes(answer.status), answer.text);
    }
    const { key: secret } = await chief.data('POST', `/api/token/${hers.id}/key`, {});
    assert.match(secret, /^sk-/, 'who may delete a key may rotate it');
    assert.equal(await chief.data('POST', '/api/token/batch', { action: 'disable', ids: [hers.id] }), 1);
    await chief.data('DELETE', `/api/token/${his.id}`);
    for (const key of [hers, top]) assert.equal((await gateway.host.use(Keys).ownerOf(key.id)) !== undefined, true);
  });

  it('is changed after a check only [T-KEY-03]', async () => {
    const unchecked = await signedIn(gateway, 'adam');
    const { id } = await make(mia);
    for (const answer of [
      await unchecked.post('/api/token/', { name: 'k', user_id: ids.mia }),
      await unchecked.put('/api/token/', { id, remain_quota: 5 }),
      await unchecked.delete(`/api/token/${id}`),
    ])
      assert.equal(said(answer), '403 verification_required');
    assert.equal((await unchecked.get(`/api/token/?user_id=${ids.mia}`)).status, 200);
  });

  it('is never bottomless by accident: without a balance that limits it, a limit is asked for [T-KEY-04]', async () => {
    const { id } = await gateway.host.use(Accounts).create({ name: 'second-root', role: 'root' });
    const unlimited = await chief.post('/api/token/', { name: 'k', user_id: id });
    assert.deepEqual(refusal(unlimited), [400, 'limit_wanted', 'remain_quota']);
    assert.equal(
      (await chief.data('POST', '/api/token/', { name: 'k', user_id: id, remain_quota: 5 })).remain_quota,
      5,
    );
    assert.equal(
      (await chief.data('POST', '/api/token/', { name: 'k', user_id: id, unlimited_quota: true })).user_id,
      id,
    );
  });

  it('is not what a list of the own answers, when it is asked for', async () => {
    for (const path of [
      '/api/token/usage',
      '/api/log/self',
      '/api/log/self/stat',
      '/api/user/self',
      '/api/user/topup/self',
    ]) {
      assert.deepEqual(
        refusal(await chief.get(`${path}?user_id=${ids.mia}`))?.slice(0, 2),
        [400, 'unknown_parameter'],
        path,
      );
    }
  });
});

describe('the list', () => {
  it('is newest first, page by page, with what was asked for', async () => {
    const carl = await member(gateway, 'carl');
    assert.deepEqual(await carl.data('GET', '/api/token/'), { page: 1, page_size: 10, total: 0, items: [] });
    for (const name of ['one', 'two%', 'three', 'two']) await make(carl, { name });
    const names = async (query: string) =>
      (await carl.data('GET', `/api/token/${query}`)).items.map(({ name }: { name: string }) => name);
    assert.deepEqual(await names(''), ['two', 'three', 'two%', 'one']);
    assert.deepEqual(await names('?p=2&page_size=3'), ['one']);
    assert.deepEqual(await names('?p=2&size=3'), ['one']);
    assert.deepEqual(await names('search?keyword=TWO'), ['two', 'two%']);
    assert.deepEqual(await names('?keyword=%25'), ['two%']);
    assert.equal((await carl.data('GET', '/api/token/search?keyword=two&page_size=1')).total, 2);
    assert.equal((await carl.get('/api/token/?p=x')).status, 400);
  });
});

describe('the list by state', () => {
  it('has those that are enabled, disabled, expired or have nothing left', async () => {
    const stella = await member(gateway, 'stella');
    const disabled = await make(stella, { name: 'disabled' });
    await stella.put('/api/token/?status_only=1', { id: disabled.id, status: 2 });
    await make(stella, { name: 'spent', remain_quota: 0 });
    for (const name of ['one', 'two', 'three']) await make(stella, { name });
    const found = async (query: string) => {
      const { total, items } = await stella.data('GET', `/api/token/?${query}`);
      return [total, ...items.map(({ name }: { name: string }) => name)];
    };
    assert.deepEqual(await found('status=1'), [3, 'three', 'two', 'one']);
    assert.deepEqual(await found('status=1&p=2&page_size=2'), [3, 'one']);
    assert.deepEqual(await found('status=1&keyword=t'), [2, 'three', 'two']);
    assert.deepEqual(await found('status=2'), [1, 'disabled']);
    assert.deepEqual(await found('status=3'), [0]);
    assert.deepEqual(await found('status=4'), [1, 'spent']);
    assert.equal((await stella.get('/api/token/?status=5')).status, 400);
  });
});

describe('somebody else’s keys', () => {
  it('are neither seen nor changed nor ended, as if they were not there [T-AUTHZ-03]', async () => {
    const hers = await make(ann, { name: 'hers' });
    const his = await make(bob, { name: 'his' });
    await verify(bob);
    const { id } = hers;
    const there = await Promise.all([
      bob.get(`/api/token/${id}`),
      bob.put('/api/token/', { id, name: 'his' }),
      bob.put('/api/token/?status_only=1', { id, status: 2 }),
      bob.put('/api/token/', { id, remain_quota: 5 }),
      bob.delete(`/api/token/${id}`),
      bob.post(`/api/token/${id}/key`, {}),
      bob.post('/api/token/batch', { ids: [his.id, id] }),
      bob.post('/api/token/batch', { ids: [id] }),
    ]);
    const nowhere = await Promise.all([bob.get('/api/token/999999'), bob.delete('/api/token/999999')]);
    for (const answer of [...there, ...nowhere]) {
      assert.deepEqual([answer.status, answer.body.code], [404, 'key_not_found'], answer.text);
    }
    assert.ok(!(await bob.get('/api/token/?page_size=100')).text.includes('hers'), 'not in his list');
    assert.equal((await ann.data('GET', `/api/token/${id}`)).name, 'hers');
    assert.equal(await call(hers.key), 200);
    assert.equal((await bob.data('GET', `/api/token/${his.id}`)).name, 'his', 'all or nothing');
  });

  it('have no ids but numbers', async () => {
    for (const id of ['0', '-1', '1e3', '1.5', 'x', '%27', '99999999999999999999']) {
      assert.equal((await ann.get(`/api/token/${id}`)).status, 404, id);
      assert.equal((await ann.delete(`/api/token/${id}`)).status, 404, id);
    }
    for (const ids of [[], ['1'], [0], [-1], [1.5], 1, undefined]) {
      assert.equal((await ann.post('/api/token/batch', { ids })).status, 400, JSON.stringify(ids));
    }
  });
});

describe('ending keys', () => {
  it('counts at once', async () => {
    const { id, key } = await make(ann);
    assert.equal(await call(key), 200);
    const answer = await ann.delete(`/api/token/${id}`);
    assert.deepEqual([answer.status, answer.body], [200, { success: true, message: '', data: null }]);
    assert.equal(await call(key), 401);
    assert.equal((await ann.delete(`/api/token/${id}`)).status, 404);
  });

  it('ends several, saying how many', async () => {
    const made = await Promise.all([make(ann), make(ann)]);
    const ids = made.map(({ id }) => id);
    assert.equal(await ann.data('POST', '/api/token/batch', { ids: [...ids, ids[0]] }), 2);
    for (const { key } of made) assert.equal(await call(key), 401);
    assert.equal((await ann.post('/api/token/batch', { ids })).status, 404);
  });
});

describe('the default key', () => {
  it('is made and whole the first time, and masked ever after', async () => {
    const dora = await member(gateway, 'dora', { units: 100_000 });
    const first = await dora.data('GET', '/api/token/default');
    assert.equal(await call(first.key), 200);
    const again = await dora.data('GET', '/api/token/default');
    assert.equal(again.id, first.id);
    assert.equal(again.key, `${first.key.slice(0, 7)}**********${first.key.slice(-4)}`);
    assert.equal((await dora.data('GET', '/api/token/')).total, 1);
    // A page of somebody else's cannot have a browser make it.
    const cross = await dora.get('/api/token/default', { 'sec-fetch-site': 'cross-site' });
    assert.deepEqual(refusal(cross), [403, 'cross_site', undefined]);
  });
});

describe('exchanging a key', () => {
  it('needs a check, and a sign-in', async () => {
    const emil = await member(gateway, 'emil', { units: 100_000 });
    const { id, key } = await make(emil);
    assert.deepEqual(refusal(await emil.post(`/api/token/${id}/key`)), [403, 'verification_required', undefined]);
    const token = await emil.data('GET', '/api/user/token');
    const tool = visitor(gateway, { authorization: `Bearer ${token}` });
    assert.equal((await tool.get(`/api/token/${id}`)).status, 200);
    assert.deepEqual(refusal(await tool.post(`/api/token/${id}/key`)), [401, 'session_wanted', undefined]);
    assert.equal(await call(key), 200);
  });

  it('shows the new one once; the one before ends at once, or after its grace', async () => {
    const fay = await verify(await member(gateway, 'fay', { units: 100_000 }));
    const first = await make(fay);
    const second = await fay.data('POST', `/api/token/${first.id}/key`, { grace_seconds: 60 });
    assert.deepEqual({ ...second, key: first.key }, first);
    for (const { key } of [first, second]) assert.equal(await call(key), 200);
    // Tools send no body.
    const answer = await fetch(`${gateway.url}/api/token/${first.id}/key`, {
      method: 'POST',
      headers: { cookie: [...fay.cookies].map(([name, value]) => `${name}=${value}`).join('; '), 'new-api-user': '1' },
    });
    const { data: third } = (await answer.json()) as { data: { key: string } };
    for (const { key } of [first, second]) assert.equal(await call(key), 401);
    assert.equal(await call(third.key), 200);
    assert.ok(!(await fay.get(`/api/token/${first.id}`)).text.includes(third.key), 'masked');
    for (const grace_seconds of [-1, 86_401, 1.5, '60', null]) {
      const wrong = await fay.post(`/api/token/${first.id}/key`, { grace_seconds });
      assert.deepEqual(refusal(wrong), [400, 'invalid_request_error', 'grace_seconds']);
    }
    assert.equal((await fay.post(`/api/token/${first.id}/key`, { grace: 60 })).status, 400);
  });

  it('and everything else stands in the audit, without any key', async () => {
    const gwen = await verify(await member(gateway, 'gwen'));
    const { id, key } = await make(gwen, { name: 'told' });
    await gwen.data('PUT', '/api/token/', { id, name: 'told again', allow_ips: '' });
    const { key: next } = await gwen.data('POST', `/api/token/${id}/key`, { grace_seconds: 5 });
    await gwen.data('DELETE', `/api/token/${id}`);
    const rows = gateway.rows('SELECT * FROM audit ORDER BY seq');
    const told = rows.filter((row) => Object.values(row).includes(`key ${id}`)).map(({ action }) => action);
    assert.deepEqual(told, ['key.create', 'key.change', 'key.rotate', 'key.delete']);
    for (const secret of [key, next]) {
      assert.ok(!JSON.stringify(rows).includes(secret.slice(7, -4)), 'no secret in the audit');
    }
  });
});
