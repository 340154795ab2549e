/** Redemption codes: made and kept by administrators, redeemed once in the world. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';

const YEAR_S = 365 * 86_400;

describe('redemption codes', () => {
  const clock = fakeClock(Date.now());
  const nowS = (): number => Math.floor(clock.now() / 1_000);
  let gateway: TestGateway;
  let ann: Visitor;
  let bob: Visitor;
  let admin: Visitor;
  let unchecked: Visitor;
  before(async () => {
    gateway = await startGateway({
      clock,
      config: { pipeline: CONSOLE_PIPELINE, console: PATIENT },
      env: ROOT_ENV,
    });
    ann = await member(gateway, 'ann');
    bob = await member(gateway, 'bob');
    unchecked = await member(gateway, 'adam', { role: 'admin' });
    admin = await verify(await root(gateway));
  });
  after(async () => {
    await gateway.command('reconcile');
    await gateway.stop();
  });

  const make = async (more: object = {}): Promise<string> => {
    const [code] = await admin.data('POST', '/api/redemption/', { name: 'gift', quota: 1_000, ...more });
    return code;
  };
  const redeem = (who: Visitor, key: string) => who.post('/api/user/topup', { key });
  const balance = async (who: Visitor): Promise<number> => (await who.data('GET', '/api/user/self')).quota;
  const found = async (code: string) => {
    const { items } = await admin.data('GET', '/api/redemption/?page_size=100');
    return items.find(({ key }: { key: string }) => key === code);
  };

  it('are made by checked administrators, up to 100 at once', async () => {
    const codes = await admin.data('POST', '/api/redemption', { name: 'spring', quota: 5, count: 100 });
    assert.equal(new Set(codes).size, 100);
    for (const code of codes) assert.match(code, /^[0-9a-f]{32}$/);
    const page = await admin.data('GET', '/api/redemption/?p=2&page_size=40');
    assert.deepEqual([page.page, page.page_size, page.total, page.items.length], [2, 40, 100, 40]);
    const [{ id, key, ...rest }] = page.items;
    assert.ok(codes.includes(key), 'administrators can read them');
    const { created_time, ...fixed } = rest;
    assert.ok(Math.abs(created_time - nowS()) < 10, 'made now');
    assert.deepEqual(fixed, {
      user_id: 1,
      username: 'root',
      status: 1,
      name: 'spring',
      quota: 5,
      redeemed_time: 0,
      used_user_id: 0,
      used_username: '',
      expired_time: 0,
      count: 0,
    });
    assert.deepEqual(await admin.data('GET', `/api/redemption/${id}`), { id, key, ...rest });
  });

  it('are whole for whoever has just shown a second factor: a stolen session or access token finds no money', async () => {
    const code = await make();
    const { id } = await found(code);
    const token = await unchecked.data('GET', '/api/user/token');
    for (const who of [unchecked, visitor(gateway, { authorization: token })]) {
      const all = await who.data('GET', '/api/redemption/?page_size=100');
      const some = await who.data('GET', `/api/redemption/search?keyword=${id}`);
      const keys = [...all.items, ...some.items, await who.data('GET', `/api/redemption/${id}`)].map(({ key }) => key);
      assert.ok(keys.includes(`${code.slice(0, 4)}****`), 'it can be told from others');
      for (const key of keys) assert.match(key, /^[0-9a-f]{4}\*{4}$/);
    }
  });

  it('are nobody else’s business', async () => {
    const rows = [
      ['get', '/api/redemption/'],
      ['get', '/api/redemption/search?keyword=x'],
      ['get', '/api/redemption/1'],
      ['post', '/api/redemption/'],
      ['put', '/api/redemption/'],
      ['delete', '/api/redemption/1'],
      ['delete', '/api/redemption/invalid'],
    ] as const;
    for (const [method, path] of rows) {
      assert.equal((await visitor(gateway)[method](path)).status, 401, `${method} ${path}`);
      assert.equal((await ann[method](path)).status, 403, `${method} ${path}`);
      if (method === 'get') continue;
      const sent = method === 'delete' ? undefined : { name: 'x', quota: 1, id: 1 };
      const { status, body } = await unchecked[method](path, sent);
      assert.deepEqual([status, body.code], [403, 'verification_required'], `${method} ${path}`);
    }
  });

  it('are refused where they would make no sense', async () => {
    const wrong: readonly (readonly [body: object, param: string])[] = [
      [{ quota: 5 }, 'name'],
      [{ name: '', quota: 5 }, 'name'],
      [{ name: 'x'.repeat(21), quota: 5 }, 'name'],
      [{ name: 'x' }, 'quota'],
      [{ name: 'x', quota: 0 }, 'quota'],
      [{ name: 'x', quota: -5 }, 'quota'],
      [{ name: 'x', quota: 0.5 }, 'quota'],
      [{ name: 'x', quota: 1e21 }, 'quota'],
      [{ name: 'x', quota: '5' }, 'quota'],
      [{ name: 'x', quota: 5, count: 0 }, 'count'],
      [{ name: 'x', quota: 5, count: 101 }, 'count'],
      [{ name: 'x', quota: 5, expired_time: -1 }, 'expired_time'],
      [{ name: 'x', quota: 5, expired_time: nowS() - 5 }, 'expired_time'],
      [{ name: 'x', quota: 5, key: '0'.repeat(32) }, 'key'],
      [{ name: 'x', quota: 5, used_by: 1 }, 'used_by'],
      [{ name: 'x', quota: 5, created_by: 2 }, 'created_by'],
      [{ name: 'x', quota: 5, hash: 'x', sealed: 'x' }, 'hash'],
    ];
    for (const [sent, param] of wrong) {
      const { status, body } = await admin.post('/api/redemption/', sent);
      assert.deepEqual([status, body.param], [400, param], JSON.stringify(sent));
    }
  });

  it('are stored as hashes, and sealed', async () => {
    const code = await make();
    const rows = gateway.rows('SELECT * FROM redemption_code');
    const forms = [code, Buffer.from(code).toString('hex')];
    const text = JSON.stringify(rows);
    assert.ok(rows.length > 0 && !forms.some((form) => text.includes(form)), 'the code stands nowhere in the table');
    assert.ok(!gateway.log.some((line) => line.includes(code)), 'nor in the log');
  });

  it('give their quota to whoever comes first, and tell the audit', async () => {
    const code = await make({ quota: 12_345 });
    const before = await balance(ann);
    assert.equal((await redeem(ann, `  ${code.toUpperCase()}\n`)).body.data, 12_345);
    assert.equal(await balance(ann), before + 12_345);
    for (const who of [ann, bob]) {
      const again = await redeem(who, code);
      assert.deepEqual([again.status, again.body.code, again.body.param], [400, 'invalid_code', 'key']);
    }
    assert.equal(await balance(bob), 0);
    const { status, used_user_id, redeemed_time } = await found(code);
    const { id } = await ann.data('GET', '/api/user/self');
    assert.deepEqual([status, used_user_id], [3, id]);
    assert.ok(redeemed_time > 0, 'it says when');
    const { items } = await admin.data('GET', '/api/audit?action=redemption.redeem');
    assert.deepEqual(items[0].facts, { account: id, quota: 12_345 });
    assert.ok(!JSON.stringify(items).includes(code), 'without the code');
  });

  it('give once, redeemed 100 times at once by one person', async () => {
    const code = await make();
    const before = await balance(ann);
    const answers = await Promise.all(Array.from({ length: 100 }, () => redeem(ann, code)));
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1);
    assert.equal(statuses.filter((status) => status === 400).length, 99);
    assert.equal(await balance(ann), before + 1_000);
  });

  it('say the same whatever is wrong with them, and take nothing but a code [T-PAY-07]', async () => {
    const [disabled, expired, removed] = [await make(), await make({ expired_time: nowS() + 60 }), await make()];
    await admin.data('PUT', '/api/redemption/?status_only=1', { id: (await found(disabled)).id, status: 2 });
    await admin.data('DELETE', `/api/redemption/${(await found(removed)).id}`);
    clock.advance(61_000);
    const texts = new Set<string>();
    for (const key of ['0'.repeat(32), 'x', disabled, expired, removed]) {
      const { status, text } = await redeem(ann, key);
      assert.equal(status, 400);
      texts.add(text);
    }
    assert.equal(texts.size, 1);
    for (const body of [
      {},
      { amount: 10 },
      { key: '' },
      { key: 5 },
      { key: null },
      { key: 'x', quota: 5 },
      { key: ['x'] },
    ]) {
      assert.equal((await ann.post('/api/user/topup', body)).status, 400, JSON.stringify(body));
    }
  });

  it('change as long as nobody has used them', async () => {
    const code = await make();
    const { id } = await found(code);
    const end = nowS() + YEAR_S;
    const whole = { ...(await found(code)), name: 'other', quota: 7, expired_time: end };
    const changed = await admin.data('PUT', '/api/redemption/', whole);
    assert.deepEqual(
      [changed.name, changed.quota, changed.expired_time, changed.key, changed.used_user_id, changed.status],
      ['other', 7, end, code, 0, 1],
    );
    assert.deepEqual(await found(code), changed);
    const { status } = await admin.data('PUT', '/api/redemption/?status_only=true', { id, status: 2, quota: 9_999 });
    assert.deepEqual([status, (await found(code)).quota], [2, 7], 'the status and nothing else');
    await admin.data('PUT', '/api/redemption/?status_only=true', { id, status: 1 });
    assert.equal((await admin.data('PUT', '/api/redemption/', { id, expired_time: 0 })).expired_time, 0);
    for (const [sent, param] of [
      [{ id, quota: -1 }, 'quota'],
      [{ id, expired_time: 5 }, 'expired_time'],
      [{ id: 'x' }, 'id'],
      [{ id, hash: 'x' }, 'hash'],
    ] as const) {
      const answer = await admin.put('/api/redemption/', sent);
      assert.deepEqual([answer.status, answer.body.param], [400, param]);
    }
    const wrong = await admin.put('/api/redemption/?status_only=1', { id, status: 3 });
    assert.deepEqual([wrong.status, wrong.body.param], [400, 'status']);

    assert.equal((await redeem(bob, code)).body.data, 7);
    const late = await admin.put('/api/redemption/', { id, quota: 5 });
    assert.deepEqual([late.status, late.body.code], [409, 'code_used']);
    assert.equal((await admin.put('/api/redemption/', { id: 999_999, name: 'x' })).status, 404);
  });

  it('are found by name and id', async () => {
    await make({ name: 'Easter 50%' });
    const names = async (keyword: string) => {
      const { items } = await admin.data('GET', `/api/redemption/search?keyword=${encodeURIComponent(keyword)}`);
      return items.map(({ name }: { name: string }) => name);
    };
    assert.deepEqual(await names('easter'), ['Easter 50%']);
    assert.deepEqual(await names('50%'), ['Easter 50%']);
    assert.deepEqual(await names('%%%'), []);
    await make({ name: 'Übung' });
    assert.deepEqual(await names('Übung'), ['Übung']);
    assert.equal((await names('3')).length, 1);
    assert.equal((await admin.get('/api/redemption/999999')).status, 404);
    assert.equal((await admin.get('/api/redemption/x')).status, 404);
  });

  it('that cannot be read any more are listed still, and can be removed', async () => {
    await make({ name: 'sealed elsewhere' });
    await gateway.host.store.run(`UPDATE redemption_code SET sealed = 'v1.x' WHERE name = 'sealed elsewhere'`);
    const { items } = await admin.data('GET', '/api/redemption/search?keyword=elsewhere');
    assert.deepEqual([items.length, items[0].key], [1, '']);
    assert.equal(await admin.data('DELETE', `/api/redemption/${items[0].id}`), null);
  });

  it('are found by their state, with the names of who made and who used them', async () => {
    const name = 'by state';
    const [unused, disabled, used] = [await make({ name }), await make({ name }), await make({ name })];
    const expired = await make({ name, expired_time: nowS() + 60 });
    await admin.data('PUT', '/api/redemption/?status_only=1', { id: (await found(disabled)).id, status: 2 });
    await redeem(bob, used);
    clock.advance(61_000);
    for (const [state, code] of Object.entries({ unused, disabled, used, expired })) {
      const { total, items } = await admin.data('GET', `/api/redemption/search?keyword=by%20state&state=${state}`);
      assert.deepEqual([total, items[0].key], [1, code], state);
      assert.deepEqual([items[0].username, items[0].used_username], ['root', state === 'used' ? 'bob' : '']);
    }
    assert.equal((await admin.get('/api/redemption/?state=other')).status, 400);
    const refused = await unchecked.get('/api/redemption/?whole=1');
    assert.deepEqual([refused.status, refused.body.code], [403, 'verification_required']);
    assert.equal((await admin.get('/api/redemption/?whole=1')).status, 200);
  });

  it('go one by one, or all that are dead', async () => {
    const alive = await make();
    const gone = await make();
    const { id } = await found(gone);
    assert.equal(await admin.data('DELETE', `/api/redemption/${id}`), null);
    assert.equal((await admin.delete(`/api/redemption/${id}`)).status, 404);
    const { items } = await admin.data('GET', '/api/redemption/?page_size=100');
    const used = await make();
    await redeem(bob, used);
    const count = await admin.data('DELETE', '/api/redemption/invalid');
    assert.ok(count >= 3, `${count} of ${items.length} were used, disabled or expired`);
    assert.equal(await admin.data('DELETE', '/api/redemption/invalid'), 0);
    assert.ok((await found(alive)) !== undefined, 'the living stay');
    assert.equal(await found(used), undefined);
    assert.equal((await redeem(ann, used)).status, 400, 'what was used stays used');
  });
});
