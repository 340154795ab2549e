/** Payments without HTTP: what a failing store leaves, a hundred accounts and one code, what is forgotten in time. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit, type AuditEvent } from '../../../core/contracts/audit.ts';
import type { Account } from '../../../core/contracts/identity.ts';
import { Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import { Payments } from '../../../core/contracts/payments.ts';
import { Site } from '../../../core/contracts/site.ts';
import { Answer, type ApiRequest, type Service, type Step, StoreUnavailable } from '../../../core/plugin.ts';
import payments from '../../../plugins/payments/index.ts';
import { type Driven, type MemoryStore, memoryStore } from '../../kit/gateway/drive.ts';
import { type FakeNotice, type FakeStripe, fakeStripe } from '../../kit/stand-ins/fake-payments.ts';
import { driveWithLedger } from '../with-ledger.ts';

const ANN: Account = { id: 1, name: 'ann', role: 'member', enabled: true, createdMs: 0 };
const ACTOR = { accountId: 1, name: 'ann', ip: '192.0.2.1' };
const TEN = 10n * 500_000n * MICRO;
const OFF = {
  secret: '',
  webhookSecret: '',
  url: '',
  key: '',
  products: [],
  appId: '',
  privateKey: '',
  publicKey: '',
  id: '',
};

/** A store that fails as often as it is told to: before a list is written, or after, when only the answer is lost. */
function failing(): MemoryStore & { fail: 'before' | 'after' | undefined } {
  const store = memoryStore();
  const self = Object.assign(Object.create(store) as MemoryStore, {
    fail: undefined as 'before' | 'after' | undefined,
    async atomic(steps: readonly Step[]) {
      const { fail } = self;
      self.fail = undefined;
      if (fail === 'before') throw new StoreUnavailable('no');
      const failed = await store.atomic(steps);
      if (fail === 'after') throw new StoreUnavailable('no');
      return failed;
    },
  });
  return self;
}

describe('payments', () => {
  let stripe: FakeStripe;
  let driven: Driven;
  let store: ReturnType<typeof failing>;
  const audited: AuditEvent[] = [];
  function noteDown(event: AuditEvent): readonly Step[] {
    audited.push(event);
    return [];
  }
  before(async () => {
    store = failing();
    stripe = await fakeStripe(() => driven.clock.now());
    driven = await driveWithLedger([payments], {
      store,
      sections: {
        payments: {
          currency: 'USD',
          price: 1,
          smallest: 5,
          largest: 100,
          amounts: [],
          seller: { name: '', address: '', taxId: '', email: '', note: '', prefix: 'INV-', tax: { name: '', rate: 0 } },
          stripe: stripe.section,
          creem: OFF,
          alipay: OFF,
          epay: { ...OFF, methods: [] },
        },
      },
      services: (): readonly (readonly [Service<unknown>, unknown])[] => [
        [Accounts, { person: async (id: number) => ({ ...ANN, id, deletedMs: undefined }) }],
        [Audit, { steps: noteDown, note: async () => {} }],
        [Site, { origin: 'https://console.example', root: 'https://console.example', secure: true, name: 'Test' }],
      ],
    });
    const ledger = driven.use(Ledger);
    for (let owner = 1; owner <= 100; owner++) await store.atomic(ledger.open({ kind: 'account', owner }, 0n, false));
    await driven.start();
  });
  after(async () => {
    await driven.stop();
    await stripe.close();
  });

  const granted = async (owner: number) => (await driven.use(Ledger).balance({ kind: 'account', owner }))?.granted;
  const begin = async () => {
    const item = { units: 10 };
    const { order } = await driven.use(Payments).start({ account: ANN, provider: 'stripe', item });
    return stripe.sessions.find(({ tradeNo }) => tradeNo === order.tradeNo)!;
  };
  async function tell(notice: FakeNotice): Promise<number> {
    const route = driven.parts[0]!.routes!.find(({ path }) => path === notice.path)!;
    const request = { ...notice, bytes: Buffer.from(notice.body), ip: '192.0.2.9' } as unknown as ApiRequest;
    const answer = await route.handle(request);
    assert.ok(answer instanceof Answer, 'it sets a status');
    return answer.status;
  }
  /** Lets time pass, and what is done at its end. */
  async function pass(ms: number): Promise<void> {
    for (const step of [ms - 60_000, 60_000]) {
      driven.clock.advance(step);
      await driven.stop();
      await driven.start();
    }
  }
  const faults = async () =>
    (
      await Promise.all(driven.parts.flatMap(({ invariants = [] }) => invariants.map(({ check }) => check(store))))
    ).flat();

  it('are credited by the next delivery where the store failed, and once where only the answer was lost [T-PAY-05]', async () => {
    const before = (await granted(1)) ?? 0n;
    const session = await begin();
    const notice = stripe.session(session);
    store.fail = 'before';
    await assert.rejects(tell(notice), StoreUnavailable, 'the provider is to send it again');
    assert.equal(await granted(1), before);
    assert.equal(await tell(notice), 200);
    assert.equal(await granted(1), before + TEN);

    const next = stripe.session(await begin());
    store.fail = 'after';
    await assert.rejects(tell(next), StoreUnavailable);
    assert.equal(await granted(1), before + 2n * TEN, 'it was written');
    assert.equal(await tell(next), 200);
    assert.equal(await granted(1), before + 2n * TEN);

    const refund = stripe.refunded(session, 1_000);
    store.fail = 'before';
    await assert.rejects(tell(refund), StoreUnavailable);
    assert.equal(await tell(refund), 200);
    assert.equal(await tell(refund), 200);
    assert.equal((await driven.use(Payments).order(session.tradeNo))?.state, 'refunded');
    assert.equal(await granted(1), before + TEN);
    assert.deepEqual(await faults(), []);
  });

  it('take more than an account may have no further than its order', async () => {
    const session = await begin();
    const room = 4_000_000_000_000_000_000n - (await granted(1))! - TEN + 1n;
    await driven.use(Ledger).credit({ kind: 'account', owner: 1 }, room, 'fill', 'test');
    assert.equal(await tell(stripe.session(session)), 200);
    const order = await driven.use(Payments).order(session.tradeNo);
    assert.deepEqual([order?.state, order?.note], ['parked', 'the balance would exceed its maximum']);
    assert.deepEqual(await faults(), []);
  });

  it('give one code to one of a hundred accounts', async () => {
    const { codes } = driven.use(Payments);
    const [code] = await codes.create({ name: 'one', quota: 7n * MICRO, count: 1, expiresMs: undefined }, ACTOR);
    const ids = Array.from({ length: 99 }, (_, i) => i + 2);
    const before = await Promise.all(ids.map(granted));
    const results = await Promise.allSettled(ids.map((id) => codes.redeem({ ...ANN, id }, code!, ACTOR)));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    const after = await Promise.all(ids.map(granted));
    assert.deepEqual(
      after.map((now, i) => now! - before[i]!).filter((more) => more !== 0n),
      [7n * MICRO],
    );
    assert.deepEqual(await faults(), []);
  });

  it('end the waiting of what nobody pays, and forget old events', async () => {
    const session = await begin();
    const count = () => store.db.prepare('SELECT COUNT(*) AS n FROM payment_event').get() as { n: number };
    assert.ok(count().n > 0, 'something is remembered');
    await pass(60_000);
    assert.equal((await driven.use(Payments).order(session.tradeNo))?.state, 'pending');
    await pass(2 * 3_600_000);
    assert.equal((await driven.use(Payments).order(session.tradeNo))?.state, 'expired');
    await pass(91 * 86_400_000);
    assert.equal(count().n, 0);
  });

  it('leave an account of everything in the audit, without a secret', () => {
    const actions = new Set(audited.map(({ action }) => action));
    for (const action of ['order.paid', 'order.refunded', 'order.parked', 'redemption.create', 'redemption.redeem'])
      assert.ok(actions.has(action), action);
    assert.doesNotMatch(JSON.stringify(audited), /whsec|sk_test/);
  });

  it('say in the check who takes money', () => {
    assert.deepEqual(driven.parts[0]!.report!(), ['paid with stripe (USD)']);
  });

  it('notice where the books of orders were tampered with', async () => {
    const { tradeNo } = await begin();
    const damage = [
      `UPDATE top_up SET state = 'success' WHERE trade_no = '${tradeNo}'`,
      `UPDATE top_up SET credited = 5 WHERE trade_no = '${tradeNo}'`,
      `UPDATE top_up SET completed_ms = 5 WHERE trade_no = '${tradeNo}'`,
      `UPDATE top_up SET refunded = money WHERE trade_no = '${tradeNo}'`,
      'UPDATE redemption_code SET used_ms = NULL WHERE used_by IS NOT NULL',
    ];
    for (const sql of damage) {
      store.db.exec('BEGIN');
      assert.ok(store.db.prepare(sql).run().changes > 0, sql);
      assert.notDeepEqual(await faults(), [], sql);
      store.db.exec('ROLLBACK');
      assert.deepEqual(await faults(), []);
    }
  });
});
