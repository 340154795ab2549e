/** The life of an order: which states lead to which, and what becomes of one when money of it goes back. */
import type { Order, OrderState } from '../../core/contracts/payments.ts';
import type { Notice } from './provider.ts';

/** Money of an order, in the smallest unit of its currency. */
export interface Books {
  readonly money: bigint;
  readonly currency: string;
  readonly refunded: bigint;
  /** What banks hold back now. */
  readonly disputed: bigint;
}

/** A notice that money goes back, or (a dispute that was won) comes again. */
export type Returned = Extract<Notice, { about: 'refunded' | 'disputed' }>;

/** Nothing leads back to `pending`, and money that came is a success from wherever it finds the order. */
const LEADS_TO: Readonly<Record<OrderState, readonly OrderState[]>> = {
  pending: ['success', 'failed', 'expired', 'parked'],
  failed: ['success', 'parked'],
  expired: ['success', 'parked'],
  parked: ['success', 'refunded', 'disputed', 'parked'],
  success: ['refunded', 'disputed', 'success'],
  refunded: ['disputed', 'refunded', 'success', 'parked'],
  disputed: ['refunded', 'success', 'disputed', 'parked'],
};

/** True where an order may go from one state to the other; some may stay, and change what they say of money. */
export function leadsTo(from: OrderState, to: OrderState): boolean {
  return LEADS_TO[from].includes(to);
}

/** True where the money has come, whatever became of it. */
export function isPaid({ state }: Pick<Order, 'state'>): boolean {
  return state !== 'pending' && state !== 'failed' && state !== 'expired';
}

/** How much of the money went back: refunded and disputed may be the same money. */
export function returned({ money, refunded, disputed }: Omit<Books, 'currency'>): bigint {
  return smaller(refunded + disputed, money);
}

/** How much of the money one dispute holds back; all of it where that is not said, or in another currency. */
export function heldBy({ money, currency }: Books, dispute: Extract<Notice, { about: 'disputed' }>): bigint {
  if (dispute.won) return 0n;
  return dispute.currency === currency && dispute.amount > 0n ? smaller(dispute.amount, money) : money;
}

/** How much of the money has been refunded in all; undefined where the notice does not say. */
export function refundedAfter(
  { money, refunded }: Books,
  { amount, of, sum }: Extract<Notice, { about: 'refunded' }>,
): bigint | undefined {
  if (amount <= 0n || of <= 0n) return undefined;
  // As a share: what was paid may have a tax in it, or be counted in another currency.
  const share = (money * amount + of - 1n) / of;
  const total = sum === 'all' ? share : refunded + share;
  // Notifications overtake each other: the sum of all refunds never falls.
  return smaller(total > refunded ? total : refunded, money);
}

/** The state of an order that is paid, by what of its money went back; `note`: why it was parked, if it was. */
export function stateOf(books: Omit<Books, 'currency'>, note: string): 'success' | 'parked' | 'refunded' | 'disputed' {
  if (books.disputed > 0n) return 'disputed';
  if (books.refunded === books.money) return 'refunded';
  return note === '' ? 'success' : 'parked';
}

/** The smaller of two amounts. */
export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
