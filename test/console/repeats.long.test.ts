/** Requests that are sent twice or late: `Idempotency-Key` and `If-Match`. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { definePlugin } from '../../core/plugin.ts';
import {
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
  verify,
} from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { wholeAnswer } from '../kit/vendors/script.ts';

/** Holds requests for `/api` that have passed its guards, until it is opened. */
function gate() {
  let open: () => void = () => {};
  let isOpen = Promise.resolve();
  const waiting: (() => void)[] = [];
  return {
    close() {
      isOpen = new Promise((resolve) => {
        open = resolve;
      });
    },
    open: () => open(),
    /** Resolves when the next one waits. */
    arrival: () => new Promise<void>((resolve) => waiting.push(resolve)),
    async pass() {
      waiting.shift()?.();
      await isOpen;
    },
  };
}

let vendor: FakeVendor;
let gateway: TestGateway;
let boss: Visitor;
let mia: Visitor;
let miaId: number;
/** Between what a request reads and what it writes. */
const held = gate();

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({
    vendor,
    config: {
      pipeline: CONSOLE_PIPELINE,
      console: PATIENT,
      plans: { basic: { days: 30, daily: 1_000 } },
    },
    env: ROOT_ENV,
    plugins: [
      definePlugin({
        name: 'gate',
        api: 2,
        needs: [Ledger],
        create: (host) => {
          const ledger = host.use(Ledger);
          const { balance } = ledger;
          return {
            start() {
              Object.assign(ledger, {
                async balance(...of: Parameters<typeof balance>) {
                  await held.pass();
                  return balance(...of);
                },
              });
            },
          };
        },
      }),
    ],
  });
  boss = await verify(await root(gateway));
  mia = await member(gateway, 'mia', { units: 1_000 });
  const { items } = await boss.data('GET', '/api/user/?page_size=100');
  miaId = items.find((user: { username: string }) => user.username === 'mia').id;
});
after(async () => {
  held.open();
  await gateway?.stop();
  await vendor?.close();
});

const keyed = (key: string) => ({ 'idempotency-key': key });
const credit = (value: number, key: string, more: object = {}) =>
  boss.post('/api/user/manage', { id: miaId, action: 'add_quota', value, ...more }, keyed(key));
const balance = async (): Promise<number> => (await boss.data('GET', `/api/user/${miaId}`)).quota;
const rowOf = (key: string) => gateway.rows(`SELECT * FROM api_request WHERE key = '${key}'`)[0];
/** As if the process had been killed before it wrote the answer. */
const lose = (key: string) =>
  gateway.host.store.run(`UPDATE api_request SET answer = NULL, claim = 'another-process r' WHERE key = ?`, key);

describe('a request with an Idempotency-Key', () => {
  it('is carried out once, and its repetition gets the same answer', async () => {
    const before = await balance();
    const first = await credit(7, 'abc-1');
    assert.equal(said(first), '200 ok');
    assert.equal(first.headers.get('idempotent-replayed'), null);
    const second = await credit(7, 'abc-1');
    assert.equal(second.text, first.text);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.equal(await balance(), before + 7);
    assert.equal(said(await credit(7, 'abc-2')), '200 ok');
    assert.equal(await balance(), before + 14);
    const own = await gateway.host.use(Ledger).entriesOf('manage:1:abc-1');
    assert.deepEqual(
      own.map(({ amount }) => amount),
      [7n * MICRO],
    );
  });

  it('is refused if the key was used for another one, in body or path', async () => {
    await credit(1, 'used');
    const before = await balance();
    assert.equal(said(await credit(2, 'used')), '422 idempotency_key_reused');
    assert.equal(said(await boss.post('/api/user/invitation', {}, keyed('used'))), '422 idempotency_key_reused');
    assert.equal(await balance(), before);
    // The keys of others are others.
    assert.equal(said(await mia.post('/api/token/', { name: 'k' }, keyed('used'))), '200 ok');
  });

  it('is refused with a key that is none', async () => {
    for (const key of ['', 'é', 'x'.repeat(256)])
      assert.equal(said(await credit(1, key)), '400 invalid_idempotency_key', key);
    assert.equal(said(await credit(1, 'x'.repeat(255))), '200 ok');
  });

  it('returns the secret of the key that the first one created, which is sealed at rest', async () => {
    const first = await mia.post('/api/token/', { name: 'once' }, keyed('new key'));
    const second = await mia.post('/api/token/', { name: 'once' }, keyed('new key'));
    assert.equal(second.body.data.key, first.body.data.key);
    assert.equal((await mia.data('GET', '/api/token/search?keyword=once')).total, 1);
    const { answer, digest } = rowOf('new key')!;
    assert.ok(!`${answer} ${digest}`.includes('sk-'), 'the answer is sealed');
  });

  it('may be repeated after a refusal that changed nothing', async () => {
    const tim = await member(gateway, 'tim');
    const body = { name: 'k', model_limits: 'no-such-model' };
    assert.equal(said(await tim.post('/api/token/', body, keyed('refused'))), '400 invalid_models');
    assert.equal(rowOf('refused'), undefined);
    assert.equal(said(await tim.post('/api/token/', { name: 'k' }, keyed('refused'))), '200 ok');
  });

  it('is refused while the first one runs, and answered afterwards', async () => {
    const before = await balance();
    held.close();
    const arrived = held.arrival();
    const first = credit(5, 'slow');
    await arrived;
    const second = await credit(5, 'slow');
    held.open();
    assert.equal(said(second), '409 request_running');
    assert.equal(second.headers.get('retry-after'), '1');
    assert.equal((await credit(5, 'slow')).text, (await first).text);
    assert.equal(await balance(), before + 5);
  });

  it('gets the first answer, too, if the first one ends between two looks at it', async (t) => {
    const { store } = gateway.host;
    const { run, one } = store;
    const [looked, ended] = [gate(), gate()];
    looked.close();
    ended.close();
    // The first one is marked as changed, but waits with its answer until the second has seen that there is none.
    t.mock.method(store, 'run', async (...of: Parameters<typeof run>) => {
      if (of[0].includes('SET answer = ?')) await looked.pass();
      return run(...of);
    });
    t.mock.method(store, 'one', async (...of: Parameters<typeof one>) => {
      const row = await one(...of);
      if (of[0].includes('changed, answer FROM api_request')) {
        looked.open();
        await ended.pass();
      }
      return row;
    });
    const before = await balance();
    const waits = looked.arrival();
    const first = credit(3, 'overlapping');
    await waits;
    const second = credit(3, 'overlapping');
    const { text } = await first;
    ended.open();
    assert.equal((await second).text, text);
    assert.equal(await balance(), before + 3);
  });

  it('is carried out once by many at the same time', async () => {
    const before = await balance();
    const answers = await Promise.all(Array.from({ length: 20 }, () => credit(3, 'many')));
    assert.deepEqual([...new Set(answers.map(said))].toSorted().at(0), '200 ok');
    assert.ok(answers.every((each) => ['200 ok', '409 request_running'].includes(said(each))));
    assert.equal(await balance(), before + 3);
  });

  it('is not carried out again after a kill behind its change, even when its row is gone', async () => {
    for (const more of [{}, { mode: 'subtract' }, { mode: 'override' }]) {
      const key = `killed ${JSON.stringify(more)}`;
      await credit(9, key, more);
      const before = await balance();
      await lose(key);
      assert.equal(said(await credit(9, key, more)), '409 answer_not_kept');
      await gateway.host.store.run('DELETE FROM api_request WHERE key = ?', key);
      assert.equal(said(await credit(9, key, more)), '409 answer_not_kept');
      assert.equal(await balance(), before);
    }
  });

  it('is carried out after a kill before its change', async () => {
    await credit(1, 'early');
    await lose('early');
    await gateway.host.store.run(`UPDATE api_request SET changed = 0 WHERE key = 'early'`);
    // Its entry proves that it was not early.
    assert.equal(said(await credit(1, 'early')), '409 answer_not_kept');
    const made = await mia.post('/api/token/', { name: 'early' }, keyed('early key'));
    await lose('early key');
    await gateway.host.store.run(`UPDATE api_request SET changed = 0 WHERE key = 'early key'`);
    const again = await mia.post('/api/token/', { name: 'early' }, keyed('early key'));
    assert.equal(said(again), '200 ok');
    assert.notEqual(again.body.data.id, made.body.data.id);
  });

  it('changes nothing if another process has taken it over meanwhile', async () => {
    const before = await balance();
    held.close();
    const arrived = held.arrival();
    // `subtract` reads the balance first.
    const first = credit(4, 'overtaken', { mode: 'subtract' });
    await arrived;
    await gateway.host.store.run(`UPDATE api_request SET claim = 'another-process r' WHERE key = 'overtaken'`);
    held.open();
    assert.equal(said(await first), '409 conflict');
    assert.equal(await balance(), before);
    assert.equal(said(await credit(4, 'overtaken', { mode: 'subtract' })), '200 ok');
    assert.equal(await balance(), before - 4);
  });

  it('is kept for a day, and of one account the last thousand', async () => {
    const { store, clock } = gateway.host;
    await mia.post('/api/token/', { name: 'old' }, keyed('old'));
    await store.run(`UPDATE api_request SET at_ms = at_ms - 86400001 WHERE key = 'old'`);
    const made = await mia.post('/api/token/', { name: 'another' }, keyed('old'));
    assert.equal(said(made), '200 ok');
    const { account_id: id } = rowOf('old')!;
    for (let i = 0; i < 1_010; i++) {
      await store.run(
        `INSERT INTO api_request (account_id, key, digest, claim, at_ms) VALUES (?, ?, '', '', ?)`,
        ...[Number(id), `filler ${i}`, clock.now() - 10_000 + i],
      );
    }
    await mia.post('/api/token/', { name: 'last' }, keyed('last'));
    const [count] = gateway.rows(`SELECT COUNT(*) AS n FROM api_request WHERE account_id = ${id}`);
    assert.ok(Number(count!.n) <= 1_001 && Number(count!.n) > 900, `${count!.n}`);
    assert.ok(rowOf('last') !== undefined);
    assert.equal(rowOf('filler 0'), undefined);
  });

  it('covers codes, plans and what a department may spend', async () => {
    const code = { name: 'gift', quota: 10 };
    const [codes, again] = [
      await boss.post('/api/redemption/', code, keyed('codes')),
      await boss.post('/api/redemption/', code, keyed('codes')),
    ];
    assert.deepEqual(again.body.data, codes.body.data);
    await lose('codes');
    assert.equal(said(await boss.post('/api/redemption/', code, keyed('codes'))), '409 answer_not_kept');
    const redeemed = await mia.post('/api/user/topup', { key: codes.body.data[0] }, keyed('redeem'));
    assert.equal(said(redeemed), '200 ok');
    assert.equal((await mia.post('/api/user/topup', { key: codes.body.data[0] }, keyed('redeem'))).text, redeemed.text);

    const department = await boss.data('POST', '/api/department/', { name: 'Research', quota: 100 });
    const recharge = () => boss.post(`/api/department/${department.id}/recharge`, { amount: 5 }, keyed('recharge'));
    await recharge();
    assert.equal((await recharge()).body.data.quota, 105);
    await lose('recharge');
    assert.equal(said(await recharge()), '409 answer_not_kept');

    const bind = () => boss.post('/api/subscription/admin/bind', { user_id: miaId, plan: 'basic' }, keyed('bind'));
    const bound = await bind();
    assert.equal(said(bound), '200 ok', bound.text);
    assert.equal((await bind()).text, bound.text);
    await lose('bind');
    assert.equal(said(await bind()), '409 answer_not_kept');
  });

  it('leaves nothing behind when its account is deleted', async () => {
    const eva = await member(gateway, 'eva');
    await eva.post('/api/token/', { name: 'k' }, keyed('of eva'));
    const { id } = (await boss.data('GET', '/api/user/search?keyword=eva')).items[0];
    await boss.data('DELETE', `/api/user/${id}`);
    assert.equal(rowOf('of eva'), undefined);
  });
});

describe('a record that is read and written as a whole', () => {
  const tagOf = async (person: Visitor, path: string): Promise<string> => {
    const { headers, text } = await person.get(path);
    const tag = headers.get('etag');
    assert.ok(tag !== null, text);
    return tag;
  };

  it('has an ETag, and is changed with If-Match only if it is still the same', async () => {
    const key = await mia.data('POST', '/api/token/', { name: 'k', remain_quota: 100 });
    const user = await boss.data('POST', '/api/user/', { username: 'una', password: 'a long password' });
    const department = await boss.data('POST', '/api/department/', { name: 'Sales' });
    await boss.data('POST', '/api/redemption/', { name: 'code', quota: 5 });
    const [code] = (await boss.data('GET', '/api/redemption/')).items;
    const cases: [Visitor, string, string, (i: number) => object][] = [
      [mia, `/api/token/${key.id}`, '/api/token/', (i) => ({ id: key.id, name: `k${i}` })],
      [boss, `/api/user/${user.id}`, '/api/user/', (i) => ({ id: user.id, remark: `r${i}` })],
      [mia, '/api/user/self', '/api/user/self', (i) => ({ display_name: `Mia ${i}` })],
      [mia, '/api/user/self', '/api/user/setting', (i) => ({ sidebar_modules: `${i}` })],
      [boss, `/api/department/${department.id}`, `/api/department/${department.id}`, (i) => ({ ratio: i / 2 })],
      [boss, `/api/redemption/${code.id}`, '/api/redemption/', (i) => ({ id: code.id, quota: 10 + i })],
      [mia, '/api/user/billing', '/api/user/billing', (i) => ({ name: `N${i}` })],
    ];
    for (const [person, read, write, body] of cases) {
      const tag = await tagOf(person, read);
      assert.equal(await tagOf(person, read), tag, read);
      const put = async (i: number, ifMatch: string) =>
        said(await person.put(write, body(i), ifMatch === '' ? {} : { 'if-match': ifMatch }));
      assert.equal(await put(1, '"nope"'), '412 precondition_failed', write);
      assert.equal(await put(1, `W/${tag}`), '412 precondition_failed', write);
      assert.equal(await put(1, `"x", ${tag}`), '200 ok', write);
      assert.equal(await put(2, tag), '412 precondition_failed', write);
      assert.equal(await put(2, '*'), '200 ok', write);
      // Without it, the last one wins, as before.
      assert.equal(await put(3, ''), '200 ok', write);
      const both = await tagOf(person, read);
      const raced = await Promise.all([4, 5, 6].map((i) => put(i, both)));
      assert.deepEqual(raced.toSorted(), ['200 ok', '412 precondition_failed', '412 precondition_failed'], write);
    }
  });

  it('is deleted with If-Match only if it is still the same', async () => {
    const key = await mia.data('POST', '/api/token/', { name: 'k' });
    const tag = await tagOf(mia, `/api/token/${key.id}`);
    await mia.data('PUT', '/api/token/', { id: key.id, name: 'changed' });
    const at = `/api/token/${key.id}`;
    assert.equal(said(await mia.delete(at, undefined, { 'if-match': tag })), '412 precondition_failed');
    assert.equal(said(await mia.delete(at, undefined, { 'if-match': await tagOf(mia, at) })), '200 ok');
  });

  it('keeps its ETag while calls are charged to it, and gets another one from administrators', async () => {
    await boss.data('POST', '/api/user/manage', { id: miaId, action: 'add_quota', value: 10_000 });
    const key = await mia.data('POST', '/api/token/', { name: 'calls', remain_quota: 1_000 });
    const at = `/api/token/${key.id}`;
    const tag = await tagOf(mia, at);
    vendor.always(wholeAnswer());
    const before = await mia.data('GET', at);
    const answer = await gateway.chat({ max_tokens: 10 }, { key: key.key });
    await answer.text();
    const after = await mia.data('GET', at);
    assert.equal(answer.status, 200);
    assert.ok(after.used_quota > before.used_quota);
    assert.equal(await tagOf(mia, at), tag);
    await boss.data('PUT', '/api/token/', { id: key.id, status: 2 });
    assert.notEqual(await tagOf(mia, at), tag);
  });

  it('is refused to those who may not see it, whatever If-Match says', async () => {
    const key = await boss.data('POST', '/api/token/', { name: 'of root' });
    assert.equal(said(await mia.put('/api/token/', { id: key.id }, { 'if-match': '"x"' })), '404 key_not_found');
  });
});
