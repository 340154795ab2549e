/** One call of the log with all that is known of it, and how long calls take: for whom it is, and that it is true. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, type Visitor, visitor } from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { jsonAnswer } from '../../kit/vendors/script.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

let vendor: FakeVendor;
let spare: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;
let bob: Visitor;
let adam: Visitor;
let key: string;

before(async () => {
  [vendor, spare] = [await fakeVendor(), await fakeVendor()];
  gateway = await startGateway({
    vendor: [vendor, spare],
    config: { pipeline: CONSOLE_PIPELINE, console: PATIENT },
    env: ROOT_ENV,
  });
  ann = await member(gateway, 'ann', { units: 10_000_000 });
  bob = await member(gateway, 'bob');
  adam = await member(gateway, 'adam', { role: 'admin' });
  key = (await ann.data('POST', '/api/token/', { name: 'cli', unlimited_quota: true })).key;
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
  await spare?.close();
});

/** Its `x-request-id`. */
async function call(body: object = {}): Promise<string> {
  const answer = await gateway.chat({ max_tokens: 10, ...body }, { key });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
}

const own = (id: string): Promise<Any> => ann.data('GET', `/api/log/self/detail/${id}`);
const said = async (who: Visitor, path: string) => {
  const { status, body } = await who.get(path);
  return [status, body?.code];
};

/** Quota units as micro-quota. */
function micro(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
}

describe('a call as a whole', () => {
  it('is for whoever made it, and for administrators', async () => {
    const id = await call();
    assert.equal((await own(id)).request_id, id);
    assert.equal((await adam.data('GET', `/api/log/detail/${id}`)).request_id, id);
    assert.deepEqual(await said(bob, `/api/log/self/detail/${id}`), [404, 'call_not_found']);
    assert.deepEqual(await said(adam, `/api/log/self/detail/${id}`), [404, 'call_not_found'], 'not in the own log');
    assert.deepEqual(await said(bob, `/api/log/detail/${id}`), [403, 'role_insufficient']);
    for (const path of ['self/detail', 'detail']) {
      assert.equal((await said(visitor(gateway), `/api/log/${path}/${id}`))[0], 401);
      for (const other of ['0'.repeat(26), '%25', `${id}x`, 'x'.repeat(2_000)]) {
        assert.deepEqual(await said(adam, `/api/log/${path}/${other}`), [404, 'call_not_found'], other);
      }
    }
  });

  it('is the line of the lists, and more', async () => {
    const id = await call({ stream: true });
    const [line] = (await ann.data('GET', `/api/log/self?request_id=${id}`)).items;
    const detail = await own(id);
    for (const [name, value] of Object.entries(line)) assert.deepEqual(detail[name], value, name);
    const { outcome, status, style, stream, duration_ms, first_byte_ms, estimated, usage, at_ms } = detail;
    assert.deepEqual([outcome, status, style, stream, estimated], ['served', 200, 'chat', true, false]);
    assert.deepEqual([usage.input, usage.output], [line.prompt_tokens, line.completion_tokens]);
    assert.equal(Math.floor(at_ms / 1_000), line.created_at);
    assert.equal(first_byte_ms <= duration_ms, true, `${first_byte_ms} of ${duration_ms}`);
    assert.deepEqual([detail.translation, detail.notes, detail.client_request_id, detail.image], [[], {}, null, null]);
    assert.deepEqual(
      [Object.keys(JSON.parse(line.other)).filter((name) => /priced|held/.test(name))],
      [[]],
      'a list has no notes of the ledger in it',
    );
  });

  it('has a receipt that adds up to what left every layer', async () => {
    const id = await call();
    const { receipt, entries, usage, quota } = await own(id);
    const { items, factor, total, charged, held, capped_by, reason, exact, quota_per_unit, included } = receipt;
    assert.deepEqual(
      [exact, factor, capped_by, reason, quota_per_unit, included],
      [true, '1', null, null, 500_000, false],
    );
    // As gateway.yaml says: 1 and 2 currency units per million tokens.
    assert.deepEqual(
      items.map(({ bucket, count, price, per, unit }: Any) => [bucket, count, price, per, unit]),
      [
        ['input', usage.input, '1', 1_000_000, 'token'],
        ['output', usage.output, '2', 1_000_000, 'token'],
      ],
    );
    const sum = items.reduce((all: bigint, item: Any) => all + micro(item.quota), 0n);
    assert.deepEqual([micro(total), micro(charged), Number(charged)], [sum, sum, quota]);
    assert.equal(micro(held) >= sum, true, held);
    assert.deepEqual(
      entries.map(({ op, kind, owner_name, amount, hold, ref, actor, window_start_ms }: Any) => [
        ...[op, kind, owner_name, amount, hold, ref, actor, window_start_ms],
      ]),
      [
        ['debit', 'account', 'ann', charged, held, id, 'call', null],
        ['debit', 'key', 'cli', charged, held, id, 'call', null],
      ],
    );
    for (const { hold, amount, release } of entries) assert.equal(micro(amount) + micro(release), micro(hold));
  });

  it('tells what was tried; members not what a channel is to its vendor', async () => {
    vendor.next(jsonAnswer(500, { error: { message: 'a secret of the operator' } }));
    const id = await call();
    const { attempts } = await own(id);
    assert.deepEqual(
      attempts.map(({ channel, failure, model, reason }: Any) => [channel, failure, model, reason]),
      [
        ['main', 'status', undefined, undefined],
        ['spare', undefined, undefined, undefined],
      ],
    );
    const told = await adam.data('GET', `/api/log/detail/${id}`);
    assert.equal(told.attempts[0].model, 'test-model');
    assert.equal(typeof told.attempts[0].reason, 'string');
  });

  it('that was refused or free says so, and moved nothing', async () => {
    const [refused, free] = [
      await own(await call({ model: 'no-such-model' })),
      await own(await call({ model: 'free-model' })),
    ];
    for (const [detail, reason] of [
      [refused, 'refused'],
      [free, 'free'],
    ]) {
      const { receipt, entries } = detail;
      assert.deepEqual([receipt.reason, receipt.exact, receipt.items, receipt.charged], [reason, true, [], '0']);
      assert.deepEqual(entries, []);
    }
    assert.deepEqual([refused.usage, refused.tokens_per_second], [{}, null]);
  });

  it('of what is no call there is none', async () => {
    const { items } = await ann.data('GET', '/api/log/self?type=7');
    for (const { request_id } of items) {
      assert.deepEqual(await said(ann, `/api/log/self/detail/${request_id}`), [404, 'call_not_found']);
    }
  });
});

describe('how long calls take', () => {
  it('is told of those that the log would list', async () => {
    const { total } = await ann.data('GET', '/api/log/self?type=2');
    const { total: errors } = await ann.data('GET', '/api/log/self?type=5');
    const all = await ann.data('GET', '/api/log/self/latency');
    assert.deepEqual(
      [all.calls, all.served, all.refused, all.failed, all.aborted],
      [total + errors, total, errors, 0, 0],
    );
    for (const { count, histogram, p50_ms, p95_ms, p99_ms } of [all.duration, all.first_byte]) {
      assert.equal(count, total);
      assert.equal(
        histogram.reduce((sum: number, step: Any) => sum + step.count, 0),
        total,
      );
      assert.deepEqual(
        [p50_ms, p95_ms, p99_ms],
        [p50_ms, p95_ms, p99_ms].toSorted((a, b) => a - b),
      );
      assert.equal(histogram.at(-1).le_ms, null);
    }
    const calls = async (who: Visitor, path: string) => (await who.data('GET', `/api/log/${path}`)).calls;
    assert.equal(await calls(ann, 'self/latency?model_name=free-model'), 1);
    assert.equal(await calls(ann, 'self/latency?type=5'), errors);
    assert.equal(await calls(ann, 'self/latency?type=7'), 0);
    assert.equal(await calls(ann, 'self/latency?token_name=nobody'), 0);
    assert.equal(await calls(bob, 'self/latency'), 0);
    assert.equal(await calls(adam, 'latency?username=ann'), total + errors);
    assert.equal(await calls(adam, 'latency?channel=spare'), 1);
    assert.deepEqual(await said(bob, '/api/log/latency'), [403, 'role_insufficient']);
    const none = await bob.data('GET', '/api/log/self/latency');
    assert.deepEqual([none.since, none.duration.p50_ms, none.duration.count], [0, null, 0]);
  });

  it('refuses what it cannot read', async () => {
    for (const query of ['start_timestamp=then', 'type=9', 'type=x']) {
      const { status, body } = await ann.get(`/api/log/self/latency?${query}`);
      assert.deepEqual([status, body.param], [400, query.split('=')[0]]);
    }
  });
});
