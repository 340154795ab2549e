/** Applies provider notifications to orders: credits once, takes back once, or neither, and always writes to the audit log. */
import { Accounts } from '../../core/contracts/accounts.ts';
import { type Actor, Audit } from '../../core/contracts/audit.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import { Records } from '../../core/contracts/records.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import { GatewayError, type Host, type JsonObject, type Step } from '../../core/plugin.ts';
import { errors } from './errors.ts';
import type { Events } from './events.ts';
import { moneyText } from './money.ts';
import type { OrderRecord, Orders } from './orders.ts';
import type { Notice } from './provider.ts';
import { heldBy, isPaid, type Returned, refundedAfter, returned, smaller, stateOf } from './states.ts';

/**
 * The result for the provider. `done`: it was processed. `seen`: it had been processed before. `ignored`: nothing to do. `refused`: it does
 * not match the order. `later`: something else has to happen first, so the provider should send it again.
 */
export type NoticeResult = 'done' | 'seen' | 'ignored' | 'refused' | 'later';

type Paid = Extract<Notice, { about: 'paid' }>;
/** If another request was faster, the list is built again from the current state. */
type Outcome = NoticeResult | 'again';
/** Why a paid order cannot be credited. */
interface Hindrance {
  readonly reason: string;
}

/** The reasons by the failed `must` of the list. */
const HINDRANCES: Readonly<Record<string, string>> = {
  no_room: 'the balance would exceed its maximum',
  other_plan_runs: 'another plan is active',
  went_back: 'the payment was refunded before it was reported',
};

/** The maximum number of attempts. */
const TRIES = 10;

export function createSettlement(host: Host, orders: Orders, events: Events) {
  const { store, clock, log } = host;
  const accounts = host.use(Accounts);
  const ledger = host.use(Ledger);

  const audit = (actor: Actor, action: string, order: OrderRecord, facts: JsonObject = {}): readonly Step[] =>
    host.find(Audit)?.steps({
      actor,
      action,
      object: `order ${order.tradeNo}`,
      facts: { account: order.accountId, provider: order.provider, ...facts },
    }) ?? [];

  const tell = (order: OrderRecord, kind: 'top-up' | 'refund', amount: bigint, text: string): readonly Step[] =>
    host.find(Records)?.eventSteps({ accountId: order.accountId, kind, amount, text, ip: '' }) ?? [];

  async function write(steps: readonly Step[]): Promise<'done' | 'seen' | 'again' | Hindrance> {
    const failed = await store.atomic(steps);
    if (failed === undefined) return 'done';
    if (failed === 'moved') return 'again';
    if (failed === 'seen') return failed;
    const reason = HINDRANCES[failed];
    if (reason === undefined) throw new Error(`an order could not be settled: ${failed}`);
    return { reason };
  }

  /** For lists that credit nothing. */
  async function note(steps: readonly Step[]): Promise<'done' | 'seen' | 'again'> {
    const outcome = await write(steps);
    if (typeof outcome === 'object') throw new Error(`an order could not be settled: ${outcome.reason}`);
    return outcome;
  }

  /** The notification does not match its order: an administrator has to look at it. */
  async function object(actor: Actor, order: OrderRecord, reason: string): Promise<'refused'> {
    log.warn('a payment notification does not match its order', { order: order.tradeNo, reason });
    await host.find(Audit)?.note({
      actor,
      action: 'order.refused',
      object: `order ${order.tradeNo}`,
      facts: { account: order.accountId, provider: order.provider, reason },
    });
    return 'refused';
  }

  /** The steps that credit an order and the credited quota; or why the order cannot be credited. */
  async function giftOf({
    accountId,
    kind,
    plan,
    quota,
    tradeNo,
    provider,
  }: OrderRecord): Promise<{ readonly steps: readonly Step[]; readonly credited: bigint } | string> {
    const person = await accounts.person(accountId);
    if (person === undefined || person.deletedMs !== undefined) return 'the account is deleted';
    const ref = `top-up:${tradeNo}`;
    if (kind === 'quota') return { steps: ledger.creditSteps(accountId, quota, ref, provider), credited: quota };
    const subscriptions = host.find(Subscriptions);
    if (plan === undefined || subscriptions === undefined) return 'there are no plans any more';
    try {
      const steps = await subscriptions.grantSteps(accountId, plan, ref, provider);
      const { balance = 0n } = subscriptions.plan(plan) ?? {};
      return { steps, credited: balance < quota ? balance : quota };
    } catch (error) {
      if (error instanceof GatewayError) return error.message;
      throw error;
    }
  }

  /** Credits an order, together with `along`; or returns why that is impossible. */
  async function give(
    order: OrderRecord,
    along: readonly Step[],
    payment: string | undefined,
    actor: Actor,
    action: string,
    facts: JsonObject = {},
  ): Promise<'done' | 'seen' | 'again' | Hindrance> {
    const gift = await giftOf(order);
    if (typeof gift === 'string') return { reason: gift };
    const { credited } = gift;
    const price = `${moneyText(order.money, order.currency)} ${order.currency}`;
    const what = order.plan === undefined ? '' : ` for the plan ${order.plan}`;
    const changes = { credited, note: '', completedMs: clock.now(), ...(payment !== undefined && { payment }) };
    const outcome = await write([
      orders.move(order, 'success', changes),
      ...along,
      ...gift.steps,
      ...tell(order, 'top-up', credited, `Paid ${price} with ${order.provider}${what}.`),
      ...audit(actor, action, order, { money: price, quota: inUnits(credited), plan: order.plan ?? '', ...facts }),
    ]);
    if (outcome === 'done' && order.kind === 'plan') host.find(Subscriptions)?.changed(order.accountId);
    return outcome;
  }

  async function pay(order: OrderRecord, notice: Paid, actor: Actor): Promise<Outcome> {
    const { event, payment } = notice;
    const reason = await objectionTo(order, notice);
    if (reason !== undefined) return object(actor, order, reason);
    const once = events.once(order.provider, event);
    if (isPaid(order)) {
      if (order.payment === payment) return 'seen';
      // An administrator completed the order before: now the payment's id is known, to which refunds refer. Or it was paid twice.
      const steps =
        order.payment === undefined
          ? [orders.move(order, order.state, { payment }), events.settle(order.provider, payment)]
          : audit(actor, 'order.paid-twice', order, { payment });
      const outcome = await write([once, ...steps]);
      if (typeof outcome === 'object') return object(actor, order, outcome.reason);
      return outcome === 'again' ? 'again' : 'seen';
    }
    const outcome = await give(order, [once, events.settle(order.provider, payment)], payment, actor, 'order.paid');
    if (typeof outcome === 'string') return outcome;
    log.warn('a paid order could not be credited', { order: order.tradeNo, reason: outcome.reason });
    return note([
      once,
      orders.move(order, 'parked', { payment, note: outcome.reason, completedMs: clock.now() }),
      ...audit(actor, 'order.parked', order, { reason: outcome.reason }),
    ]);
  }

  async function objectionTo(order: OrderRecord, notice: Paid): Promise<string | undefined> {
    const { money, currency, account, payment, product, objection } = notice;
    if (objection !== undefined) return objection;
    if (product !== undefined && product !== order.product) return 'another product was paid';
    if (payment === '') return 'no payment is named';
    if (currency !== order.currency) return `paid in ${currency}, not in ${order.currency}`;
    if (!money.includes(order.money)) return 'another amount was paid';
    if (account !== undefined && account !== String(order.accountId)) return 'it names another account';
    const other = await orders.findPayment(order.provider, payment);
    return other === undefined || other.id === order.id ? undefined : 'this payment has settled another order';
  }

  async function takeBack(order: OrderRecord, notice: Returned, actor: Actor): Promise<Outcome> {
    if (!isPaid(order)) return 'later';
    if (order.payment !== undefined && order.payment !== notice.payment) return 'ignored';
    const next = { money: order.money, refunded: order.refunded, disputed: order.disputed };
    const steps = [events.once(order.provider, notice.event)];
    if (notice.about === 'refunded') {
      const refunded = refundedAfter(order, notice);
      if (refunded === undefined) return object(actor, order, 'it does not have the refunded amount');
      if (refunded === order.refunded) return 'seen';
      next.refunded = refunded;
    } else {
      const { dispute, supersedes } = notice;
      const [others, held] = [await orders.heldByOthers(order, dispute), heldBy(order, notice)];
      next.disputed = smaller(others + held, order.money);
      steps.push(orders.hold(order, dispute, held, others));
      if (supersedes !== undefined) steps.push(events.supersede(order.provider, supersedes));
    }
    const back = returned(next);
    const target = (order.credited * back) / order.money;
    const delta = target - order.taken;
    const all = back === order.money;
    const ref = `top-up:${order.tradeNo}:${notice.event}`;
    const money = `${moneyText(back, order.currency)} ${order.currency}`;
    // Canceled before the list that records it: after an interruption, the notification is sent again. A repeated one may be about a later
    // subscription.
    const ends = all && returned(order) < order.money && order.kind === 'plan' && order.note === '';
    if (ends && !(await events.isSeen(order.provider, notice.event))) await endPlan(order);
    const { refunded, disputed } = next;
    const changes = { refunded, disputed, taken: target, payment: notice.payment };
    const outcome = await write([
      ...steps,
      orders.move(order, stateOf(next, order.note), changes),
      ...(delta > 0n ? await ledger.takeBackSteps(order.accountId, delta, ref, order.provider) : []),
      ...(delta < 0n ? ledger.creditSteps(order.accountId, -delta, ref, order.provider) : []),
      ...tell(order, 'refund', delta < 0n ? -delta : delta, textOf(notice, money)),
      ...audit(actor, actionOf(notice), order, { returned: money, quota: inUnits(delta) }),
    ]);
    return typeof outcome === 'object' ? object(actor, order, outcome.reason) : outcome;
  }

  /** If the price of a plan was refunded, the plan ends, if it is still the purchased one. */
  async function endPlan({ accountId, plan }: OrderRecord): Promise<void> {
    const subscriptions = host.find(Subscriptions);
    const current = await subscriptions?.of(accountId);
    if (current?.plan === plan && current?.state === 'active') await subscriptions?.cancel(accountId);
  }

  async function takeOnce(provider: string, notice: Notice, actor: Actor): Promise<Outcome> {
    const isReturn = notice.about === 'refunded' || notice.about === 'disputed';
    const byPayment = isReturn ? await orders.findPayment(provider, notice.payment) : undefined;
    const tradeNo = 'tradeNo' in notice ? notice.tradeNo : undefined;
    const order = byPayment ?? (tradeNo === undefined ? undefined : await orders.find(tradeNo));
    if (order === undefined) {
      // The provider's account may sell other products, too.
      log.info('the order of a payment notification does not exist', { provider, event: notice.event });
      const goesBack = isReturn && notice.payment !== '' && !(notice.about === 'disputed' && notice.won);
      return goesBack && (await note([events.goBack(provider, notice.payment)])) === 'again' ? 'again' : 'ignored';
    }
    if (order.provider !== provider) return object(actor, order, `told by ${provider}`);
    const once = events.once(provider, notice.event);
    switch (notice.about) {
      case 'paid':
        return pay(order, notice, actor);
      case 'refunded':
      case 'disputed':
        return takeBack(order, notice, actor);
      case 'waiting':
        return note([once, ...audit(actor, 'order.waiting', order, { state: order.state })]);
      case 'failed':
      case 'expired':
        if (order.state !== 'pending') return 'ignored';
        return note([once, orders.move(order, notice.about), ...audit(actor, `order.${notice.about}`, order)]);
    }
  }

  return {
    /** Processes a verified notification of `provider`. Rejects if the store fails: then nothing changed. */
    async take(provider: string, notice: Notice, ip: string): Promise<NoticeResult> {
      const actor = { accountId: undefined, name: provider, ip };
      for (let i = 0; i < TRIES; i++) {
        const outcome = await takeOnce(provider, notice, actor);
        if (outcome !== 'again') return outcome;
      }
      throw new Error('an order kept changing while a notification was taken');
    },

    /** Completes an order on the word of an administrator. Refuses: 404, 409. */
    async complete(tradeNo: string, actor: Actor, reason: string = ''): Promise<void> {
      for (let i = 0; i < TRIES; i++) {
        const order = await orders.find(tradeNo);
        if (order === undefined) throw coreErrors.order_not_found(tradeNo);
        if (isPaid(order) && order.state !== 'parked') throw errors.order_completed(order.state);
        if (returned(order) > 0n) throw errors.order_returned();
        const outcome = await give(order, [], undefined, actor, 'order.completed', {
          ...(reason !== '' && { reason }),
        });
        if (outcome === 'done') return;
        if (typeof outcome === 'object') throw errors.order_cannot_be_given(outcome.reason);
      }
      throw new Error('an order kept changing while it was completed');
    },
  };
}

export type Settlement = ReturnType<typeof createSettlement>;

function actionOf(notice: Returned): string {
  if (notice.about === 'refunded') return 'order.refunded';
  return notice.won ? 'order.dispute-won' : 'order.disputed';
}

function textOf(notice: Returned, money: string): string {
  if (notice.about === 'refunded') return `Refunded: ${money} in all.`;
  return notice.won ? `A dispute has ended; ${money} was refunded in total.` : `Disputed: ${money} in all.`;
}

/** For readers of the audit log: whole quota units. */
function inUnits(micro: bigint): number {
  return Number(micro / 1_000_000n);
}
