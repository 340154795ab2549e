/** Stored orders, and the one way to change their state. */
import { randomBytes } from 'node:crypto';
import type { AdoptedOrder, Order, OrderOrder, OrderSearch, OrderState } from '../../core/contracts/payments.ts';
import type { Clock, Step, Store, Value } from '../../core/plugin.ts';
import { all, condition, contains, readPage, orderOf as sorted } from '../../core/sdk.ts';
import { moneyText, readDecimal, timesInMinor } from './money.ts';
import { type Books, leadsTo, returned } from './states.ts';

/** An order with its amounts. */
export interface OrderRecord extends Omit<Order, 'money' | 'returned'>, Books {
  readonly product: string | undefined;
  /** The provider's id of the payment; undefined until it is known. */
  readonly payment: string | undefined;
  /** Credited micro-quota, and how much of it was taken back. */
  readonly credited: bigint;
  readonly taken: bigint;
}

/** A new order. */
export type NewOrder = Pick<
  OrderRecord,
  'accountId' | 'provider' | 'method' | 'kind' | 'plan' | 'product' | 'amount' | 'quota' | 'money' | 'currency'
>;

/** The fields that may change; absent fields stay unchanged. */
export interface OrderChanges {
  readonly note?: string;
  readonly payment?: string;
  readonly credited?: bigint;
  readonly refunded?: bigint;
  readonly disputed?: bigint;
  readonly taken?: bigint;
  readonly completedMs?: number;
}

const ONE = { digits: 1n, scale: 0 };

/** How long an order can be paid. The card provider accepts half an hour to a day. */
const LIVES_MS = 2 * 3_600_000;

/** The orders of a list. */
const ORDERS: Readonly<Record<OrderOrder, string>> = {
  id: 'id',
  money: 'money',
  state: 'state',
  completed: 'COALESCE(completed_ms, 0)',
};

interface Row {
  readonly id: number;
  readonly account_id: number;
  readonly provider: string;
  readonly method: string;
  readonly trade_no: string;
  readonly kind: 'quota' | 'plan';
  readonly plan: string | null;
  readonly product: string | null;
  readonly amount: number;
  readonly quota: string;
  readonly money: string;
  readonly currency: string;
  readonly state: OrderState;
  readonly note: string;
  readonly payment_ref: string | null;
  readonly credited: string;
  readonly refunded: string;
  readonly disputed: string;
  readonly taken: string;
  readonly created_ms: number;
  readonly completed_ms: number | null;
  readonly expires_ms: number;
}

const COLUMNS = `id, account_id, provider, method, trade_no, kind, plan, product, amount, currency, state, note, payment_ref,
  CAST(quota AS TEXT) AS quota, CAST(money AS TEXT) AS money, CAST(credited AS TEXT) AS credited,
  CAST(refunded AS TEXT) AS refunded, CAST(disputed AS TEXT) AS disputed, CAST(taken AS TEXT) AS taken,
  created_ms, completed_ms, expires_ms`;

const INSERT = `INSERT INTO top_up
    (id, account_id, provider, method, trade_no, kind, plan, product, amount, quota, money, currency, state, credited, created_ms,
      completed_ms, expires_ms)
  SELECT COALESCE(MAX(id), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM top_up`;

/** The provider of orders that were paid at another gateway. */
export const IMPORTED = 'imported';
const ADOPT = `INSERT INTO top_up
    (id, account_id, provider, method, trade_no, kind, plan, product, amount, quota, money, currency, state, credited, created_ms,
      completed_ms, expires_ms, note)
  SELECT COALESCE(MAX(id), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM top_up WHERE TRUE
  ON CONFLICT (trade_no) DO NOTHING`;

/** The disputed amount of an order, without one of its disputes. */
const HELD = '(SELECT COALESCE(SUM(amount), 0) FROM payment_dispute WHERE order_id = ? AND dispute <> ?)';

export function createOrders(store: Store, clock: Clock) {
  async function find(tradeNo: string): Promise<OrderRecord | undefined> {
    const row = await store.one<Row>(`SELECT ${COLUMNS} FROM top_up WHERE trade_no = ?`, tradeNo);
    return row && toRecord(row);
  }

  return {
    find,

    async create(order: NewOrder): Promise<OrderRecord> {
      const tradeNo = newTradeNo();
      const nowMs = clock.now();
      await store.run(INSERT, ...valuesOf(order, tradeNo), 'pending', 0n, nowMs, null, nowMs + LIVES_MS);
      return (await find(tradeNo))!;
    },

    /** The step that inserts a paid and credited order, for the list that does both. */
    createPaid(order: NewOrder): { readonly tradeNo: string; readonly step: Step } {
      const tradeNo = newTradeNo();
      const nowMs = clock.now();
      const params = [...valuesOf(order, tradeNo), 'success', order.quota, nowMs, nowMs, nowMs];
      return { tradeNo, step: { sql: INSERT, params } };
    },

    /** The steps that insert an order of another gateway; undefined: there is one with its number, or it cost nothing. `must`: `order_exists`. */
    async adopt(adopted: AdoptedOrder): Promise<readonly Step[] | undefined> {
      const { from, tradeNo, plan, quota, money: paid, currency, createdMs, completedMs, ...order } = adopted;
      const decimal = readDecimal(paid);
      const money = decimal === undefined ? 0n : timesInMinor(decimal, ONE, currency);
      if (money === 0n || (await find(tradeNo)) !== undefined) return undefined;
      const kind = plan === undefined ? 'quota' : 'plan';
      const facts = { provider: IMPORTED, kind, plan, product: undefined, quota, money, currency } as const;
      const ended = ['success', quota, createdMs, completedMs, createdMs, `imported from ${from}`];
      return [{ sql: ADOPT, params: [...valuesOf({ ...order, ...facts }, tradeNo), ...ended], must: 'order_exists' }];
    },

    /** Finds an order by the provider's id of its payment. */
    async findPayment(provider: string, payment: string): Promise<OrderRecord | undefined> {
      if (payment === '') return undefined;
      const row = await store.one<Row>(
        `SELECT ${COLUMNS} FROM top_up WHERE provider = ? AND payment_ref = ?`,
        provider,
        payment,
      );
      return row && toRecord(row);
    },

    async search({ accountId, text, state, provider, before, sort, offset, limit }: OrderSearch) {
      const filter = all(
        condition('account_id = ?', accountId),
        contains('trade_no', text),
        condition('state = ?', state),
        condition('provider = ?', provider),
        condition('id < ?', before),
      );
      const { total, rows } = await readPage<Row>(
        store,
        'top_up',
        COLUMNS,
        filter,
        { offset, limit },
        sorted(sort, ORDERS),
      );
      return { total, items: rows.map(toRecord) };
    },

    /**
     * The step that moves an order from the state in which it was read to another one. Rolls its list back (`moved`) if its state or its refunded
     * amounts changed in the meantime.
     */
    move(order: OrderRecord, to: OrderState, changes: OrderChanges = {}): Step {
      if (!leadsTo(order.state, to)) throw new Error(`an order that is ${order.state} cannot be ${to}`);
      const sets: [column: string, value: Value][] = [['state', to]];
      if (changes.note !== undefined) sets.push(['note', changes.note]);
      if (changes.payment) sets.push(['payment_ref', changes.payment]);
      if (changes.credited !== undefined) sets.push(['credited', changes.credited]);
      if (changes.refunded !== undefined) sets.push(['refunded', changes.refunded]);
      if (changes.disputed !== undefined) sets.push(['disputed', changes.disputed]);
      if (changes.taken !== undefined) sets.push(['taken', changes.taken]);
      if (changes.completedMs !== undefined) sets.push(['completed_ms', changes.completedMs]);
      return {
        sql: `UPDATE top_up SET ${sets.map(([column]) => `${column} = ?`).join(', ')}
          WHERE id = ? AND state = ? AND refunded = ? AND disputed = ? AND taken = ? AND COALESCE(payment_ref, '') = ?`,
        params: [
          ...sets.map(([, value]) => value),
          order.id,
          order.state,
          order.refunded,
          order.disputed,
          order.taken,
          order.payment ?? '',
        ],
        must: 'moved',
      };
    },

    /** The disputed amount of an order, without one of its disputes. */
    async heldByOthers(order: OrderRecord, dispute: string): Promise<bigint> {
      const row = await store.one<{ held: string }>(`SELECT CAST(${HELD} AS TEXT) AS held`, order.id, dispute);
      return BigInt(row!.held);
    },

    /** The step that sets the amount of a dispute. Rolls its list back (`moved`) if the other disputes no longer add up to `others`. */
    hold(order: OrderRecord, dispute: string, amount: bigint, others: bigint): Step {
      return {
        sql: `INSERT INTO payment_dispute (provider, dispute, order_id, amount) SELECT ?, ?, ?, ? WHERE ${HELD} = ?
          ON CONFLICT (provider, dispute) DO UPDATE SET amount = excluded.amount`,
        params: [order.provider, dispute, order.id, amount, order.id, dispute, others],
        must: 'moved',
      };
    },

    /** Expires orders that were not paid in time. */
    expire: (): Promise<number> =>
      store.run(`UPDATE top_up SET state = 'expired' WHERE state = 'pending' AND expires_ms <= ?`, clock.now()),
  };
}

export type Orders = ReturnType<typeof createOrders>;

/** 120 random bits, because the trade number alone gives access to the payment page. */
function newTradeNo(): string {
  return `TP${randomBytes(15).toString('hex')}`;
}

function valuesOf(order: NewOrder, tradeNo: string): readonly Value[] {
  const { accountId, provider, method, kind, plan, product, amount, quota, money, currency } = order;
  return [accountId, provider, method, tradeNo, kind, plan ?? null, product ?? null, amount, quota, money, currency];
}

/** The public part of an order. */
export function orderOf(record: OrderRecord): Order {
  const { product: _, refunded, disputed, payment: __, credited: ___, taken: ____, ...order } = record;
  return {
    ...order,
    money: moneyText(record.money, record.currency),
    returned: moneyText(returned(record), record.currency),
  };
}

function toRecord(row: Row): OrderRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    provider: row.provider,
    method: row.method,
    tradeNo: row.trade_no,
    kind: row.kind,
    plan: row.plan ?? undefined,
    product: row.product ?? undefined,
    amount: row.amount,
    quota: BigInt(row.quota),
    money: BigInt(row.money),
    currency: row.currency,
    state: row.state,
    note: row.note,
    payment: row.payment_ref ?? undefined,
    credited: BigInt(row.credited),
    refunded: BigInt(row.refunded),
    disputed: BigInt(row.disputed),
    taken: BigInt(row.taken),
    createdMs: row.created_ms,
    completedMs: row.completed_ms ?? undefined,
    expiresMs: row.expires_ms,
  };
}
