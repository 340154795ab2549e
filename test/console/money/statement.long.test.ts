/** The statement of an account: every day opens with what closed the one before, and today closes with what is there. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  advanced,
  CONSOLE_PIPELINE,
  PATIENT,
  ROOT_ENV,
  root,
  signedIn,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { codeOf, nextCodeOf } from '../../kit/stand-ins/factors.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 8, 16, 12);
const MICRO = 1_000_000n;

let vendor: FakeVendor;
let gateway: TestGateway;
let clock: FakeClock;
/** An administrator who was just checked by a second factor, and what their codes are made of. */
let eve: Visitor;
let secret: string;
let carl: Visitor & { readonly id: number };
let key: string;

before(async () => {
  vendor = await fakeVendor();
  clock = fakeClock(NOW_MS);
  const plans = { all: { daily: 5, includes: 'balance' } };
  const config = { pipeline: CONSOLE_PIPELINE, console: PATIENT, plans };
  gateway = await startGateway({ vendor, clock, config, env: ROOT_ENV });
  eve = await signedIn(gateway, 'eve', { role: 'admin' });
  ({ secret } = await eve.data('POST', '/api/user/2fa/setup'));
  await eve.data('POST', '/api/user/2fa/enable', { code: codeOf(secret, clock) });
  await later(0);
  ({ key } = await carl.data('POST', '/api/token/', { name: 'cli', unlimited_quota: true }));
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

/** Time goes by, and people sign in again. */
async function later(ms: number): Promise<void> {
  await advanced(gateway, clock, ms);
  carl = await signedIn(gateway, 'carl');
  eve = await signedIn(gateway, 'eve');
  await eve.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
}

/** Quota units as micro-quota. */
function micro(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
}

describe('the statement', () => {
  const statement = (query = '') => carl.data('GET', `/api/user/statement?${query}`);
  it('adds up, day by day, to the balance, with calls, credits, deductions and subscriptions', async () => {
    const call = async () => {
      const answer = await gateway.chat({ max_tokens: 10 }, { key });
      await answer.text();
      assert.equal(answer.status, 200);
      return micro(answer.headers.get('x-turnpike-cost') ?? '');
    };
    await gateway.command('user credit carl 1000');
    const first = await call();
    await later(DAY_MS);
    await eve.data('POST', '/api/user/manage', { id: carl.id, action: 'add_quota', value: 300, mode: 'subtract' });
    const second = (await call()) + (await call());
    await later(2 * DAY_MS);
    await gateway.command('user credit carl 50');

    const told = await statement('days=5');
    const { days, balance, held, debt, unlimited, events, next } = told;
    assert.deepEqual([held, debt, unlimited, next], ['0', '0', false, null]);
    assert.deepEqual(
      days.map(({ date, requests, exact: { credits, debits, calls, refunds } }: Any) => [
        ...[date, requests, micro(credits), micro(debits), micro(calls), micro(refunds)],
      ]),
      [
        ['2026-09-15', 0, 0n, 0n, 0n, 0n],
        ['2026-09-16', 1, 1_000n * MICRO, first, first, 0n],
        ['2026-09-17', 2, 0n, 300n * MICRO + second, second, 0n],
        ['2026-09-18', 0, 0n, 0n, 0n, 0n],
        ['2026-09-19', 0, 50n * MICRO, 0n, 0n, 0n],
      ],
    );
    let before = 0n;
    for (const { exact } of days) {
      assert.equal(micro(exact.opening), before, 'what closed the day before');
      before = micro(exact.opening) + micro(exact.credits) - micro(exact.debits) - micro(exact.refunds);
      assert.equal(micro(exact.closing), before);
    }
    assert.equal(micro(balance), before);
    assert.equal((await carl.data('GET', '/api/user/self')).quota, Number(before / MICRO));
    assert.deepEqual(
      events.map(({ kind, side, exact, by, ref }: Any) => [kind, side, exact, by, ref.replace(/:.*/, '')]),
      [
        ['manage', 'credit', '50', 'administrator', 'cli'],
        ['manage', 'debit', '-300', 'administrator', 'deducted'],
        ['manage', 'credit', '1000', 'administrator', 'cli'],
      ],
      'who the administrator was is not told',
    );
  });

  it('of a month is a page to print, whose sums are those of its days', async () => {
    const { days } = await statement('days=366');
    const ofMonth = days.filter(({ date }: Any) => date.startsWith('2026-09'));
    const { text, status } = await carl.get('/api/user/statement/print?month=2026-09');
    assert.equal(status, 200);
    const total = (name: string): number => ofMonth.reduce((sum: number, day: Any) => sum + Number(day.exact[name]), 0);
    const cells = [...text.slice(text.indexOf('<tfoot>')).matchAll(/<td>([^<]*)<\/td>/g)].map(([, cell]) =>
      Number(cell),
    );
    const inCurrency = (quota: string | number): number => Number(quota) / 500_000;
    for (const [i, expected] of [
      inCurrency(ofMonth[0].exact.opening),
      inCurrency(total('credits')),
      inCurrency(total('debits')),
      inCurrency(total('refunds')),
      inCurrency(ofMonth.at(-1).exact.closing),
    ].entries()) {
      assert.ok(Math.abs(cells[i]! - expected) < 1e-9, `${i}: ${cells[i]}, should be ${expected}`);
    }
    assert.match(text, /The month has not ended yet/);
    assert.match((await carl.get('/api/user/statement/print?month=2026-08&lang=zh')).text, /账户对账单/);
    for (const month of ['2026-13', '2024-01', '2026-10']) {
      const { status, body } = await carl.get(`/api/user/statement/print?month=${month}`);
      assert.deepEqual([status, body.param], [400, 'month'], month);
    }
  });

  it('has pages of events', async () => {
    const whole = (await statement()).events;
    const first = await statement('page_size=2');
    const second = await statement(`page_size=2&before=${first.next}`);
    assert.deepEqual([...first.events, ...second.events], whole);
    assert.deepEqual([first.events.length, second.next], [2, null]);
    assert.deepEqual((await statement('before=made-up')).events, []);
  });

  it('leaves out what a subscription included', async () => {
    const closing = (await statement()).balance;
    await eve.data('POST', '/api/subscription/admin/bind', { user_id: carl.id, plan: 'all' });
    const answer = await gateway.chat({ max_tokens: 10 }, { key });
    await answer.text();
    assert.notEqual(answer.headers.get('x-turnpike-cost'), '0');
    const { days, balance } = await statement('days=1');
    assert.deepEqual([balance, days[0].exact.calls, days[0].requests], [closing, '0', 1]);
    const id = answer.headers.get('x-request-id');
    const { receipt, entries } = await carl.data('GET', `/api/log/self/detail/${id}`);
    assert.deepEqual(
      [receipt.included, receipt.exact, entries.map(({ kind, owner_name }: Any) => [kind, owner_name])],
      [
        true,
        true,
        [
          ['day', 'all'],
          ['key', 'cli'],
        ],
      ],
    );
  });

  it('is of whoever asks, of so many days as they say', async () => {
    assert.equal((await visitor(gateway).get('/api/user/statement')).status, 401);
    const bob = await signedIn(gateway, 'bob');
    await gateway.command('user credit bob 7');
    const { days, events } = await bob.data('GET', '/api/user/statement?days=366');
    assert.equal(days.length, 366);
    assert.deepEqual(
      events.map(({ exact }: Any) => exact),
      ['7'],
    );
    const unlimited = await (await root(gateway)).data('GET', '/api/user/statement');
    assert.equal(unlimited.unlimited, true);
    for (const query of ['days=0', 'days=367', 'days=x', 'page_size=x', `before=${'x'.repeat(2_001)}`]) {
      const { status, body } = await bob.get(`/api/user/statement?${query}`);
      assert.deepEqual([status, body.param], [400, query.split('=')[0]], query);
    }
  });
});
