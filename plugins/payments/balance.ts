/** Plans paid from the balance: order, payment and subscription are written in one list. */

import { type Actor, Audit } from '../../core/contracts/audit.ts';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import type { Account } from '../../core/contracts/identity.ts';
import { Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { Records } from '../../core/contracts/records.ts';
import { type Plan, Subscriptions } from '../../core/contracts/subscriptions.ts';
import type { Host, Step } from '../../core/plugin.ts';
import { errors } from './errors.ts';
import { moneyText } from './money.ts';
import type { OrderRecord, Orders } from './orders.ts';

/** The payment provider of such orders. */
const BALANCE = 'balance';
/** The balance is in currency units without a currency. */
const NO_CURRENCY = '';

/**
 * Sells `plan`, which has a price, to an account. Refuses: 400 `invalid_plan`, 409 `insufficient_balance`, `other_plan_runs`, `no_room`.
 */
export type BalanceSale = (account: Account, plan: Plan, actor: Actor, along: readonly Step[]) => Promise<OrderRecord>;

export function createBalanceSale(host: Host, orders: Orders): BalanceSale {
  const ledger = host.use(Ledger);

  /** A hundredth of a currency unit is a whole number of micro-quota. */
  const inMicro = (cents: bigint): bigint => (cents * BigInt(ledger.perUnit) * MICRO) / 100n;

  return async ({ id: accountId }, plan, actor, along) => {
    const cents = BigInt(plan.priceCents ?? 0);
    const price = inMicro(cents);
    // Otherwise a user could renew it from its own balance forever, and gain balance each time.
    if (plan.balance >= price) {
      throw coreErrors.invalid_plan(
        'This plan credits at least its price, so it cannot be paid from the balance. Use another payment method.',
      );
    }
    const subscriptions = host.use(Subscriptions);
    const { tradeNo, step } = orders.createPaid({
      accountId,
      provider: BALANCE,
      method: BALANCE,
      kind: 'plan',
      plan: plan.name,
      product: undefined,
      amount: 0,
      quota: plan.balance,
      money: cents,
      currency: NO_CURRENCY,
    });
    const ref = `top-up:${tradeNo}`;
    const money = moneyText(cents, NO_CURRENCY);
    const failed = await host.store.atomic([
      ...(await ledger.deductSteps(accountId, price, ref, BALANCE)),
      ...(await subscriptions.grantSteps(accountId, plan.name, ref, BALANCE)),
      step,
      ...(host.find(Records)?.eventSteps({
        accountId,
        kind: 'top-up',
        amount: plan.balance - price,
        text: `Paid ${money} from the balance for the plan ${plan.name}.`,
        ip: actor.ip,
      }) ?? []),
      ...(host.find(Audit)?.steps({
        actor,
        action: 'order.paid',
        object: `order ${tradeNo}`,
        facts: { account: accountId, provider: BALANCE, money, quota: Number(plan.balance / MICRO), plan: plan.name },
      }) ?? []),
      ...along,
    ]);
    if (failed !== undefined) refuseSale(failed, plan, money);
    subscriptions.changed(accountId);
    return (await orders.find(tradeNo))!;
  };
}

function refuseSale(failed: string, { name }: Plan, money: string): never {
  switch (failed) {
    case 'insufficient':
      throw errors.insufficient_balance(name, money);
    case 'other_plan_runs':
      throw coreErrors.other_plan_runs('Another plan was started by another request.');
    case 'no_room':
      throw coreErrors.no_room();
    default:
      throw notWritten(failed);
  }
}
