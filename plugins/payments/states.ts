/** The states of an order and their transitions, and the effect of refunds. */
import type { Order, OrderState } from '../../core/contracts/payments.ts';
import type { Notice } from './provider.ts';

/** The money of an order, in the smallest unit of its currency. */
export interface Books {
  readonly money: bigint;
  readonly currency: string;
  readonly refunded: bigint;
  /** The disputed amount. */
  readonly disputed: bigint;
}

/** A refund or a dispute; or a dispute that was won, which releases the money. */
export type Returned = Extract<Notice, { about: 'refunded' | 'disputed' }>;

/** No state changes back to `pending`; a payment changes every state to success. */
const LEADS_TO: Readonly<Record<OrderState, readonly OrderState[]>> = {
  pending: ['success', 'failed', 'expired', 'parked'],
  failed: ['success', 'parked'],
  expired: ['success', 'parked'],
  parked: ['success', 'refunded', 'disputed', 'parked'],
  success: ['refunded', 'disputed', 'success'],
  refunded: ['disputed', 'refunded', 'success', 'parked'],
  disputed: ['refunded', 'success', 'disputed', 'parked'],
};

/** Whether an order may change to a state; some states lead to themselves, with other amounts. */
export function leadsTo(from: OrderState, to: OrderState): boolean {
  return LEADS_TO[from].includes(to);
}

/** Whether the order was paid, whatever happened later. */
export function isPaid({ state }: Pick<Order, 'state'>): boolean {
  return state !== 'pending' && state !== 'failed' && state !== 'expired';
}

/** The amount that was taken back: refunded and disputed amounts may be the same money. */
export function returned({ money, refunded, disputed }: Omit<Books, 'currency'>): bigint {
  return smaller(refunded + disputed, money);
}

/** The amount of a dispute; the whole payment if the amount is unknown, or in another currency. */
export function heldBy({ money, currency }: Books, dispute: Extract<Notice, { about: 'disputed' }>): bigint {
  if (dispute.won) return 0n;
  return dispute.currency === currency && dispute.amount > 0n ? smaller(dispute.amount, money) : money;
}

/** The total refunded amount; undefined if the notification does not have it. */
export function refundedAfter(
  { money, refunded }: Books,
  { amount, of, sum }: Extract<Notice, { about: 'refunded' }>,
): bigint | undefined {
  if (amount <= 0n || of <= 0n) return undefined;
  // As a share: the paid amount may include tax, or be in another currency.
  const share = (money * amount + of - 1n) / of;
  const total = sum === 'all' ? share : refunded + share;
  // Notifications may overtake each other: the refunded amount never decreases.
  return smaller(total > refunded ? total : refunded, money);
}

/** The state of a paid order by its refunded amounts; `note`: why it was not credited, if so. */
export function stateOf(books: Omit<Books, 'currency'>, note: string): 'success' | 'parked' | 'refunded' | 'disputed' {
  if (books.disputed > 0n) return 'disputed';
  if (books.refunded === books.money) return 'refunded';
  return note === '' ? 'success' : 'parked';
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
