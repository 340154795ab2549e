/** Invoices and credit notes of orders: numbered without gaps, issued when they are first requested, and unchanged since. */
import { Accounts } from '../../core/contracts/accounts.ts';
import type { Buyer, OrderDocument, Payments, Seller } from '../../core/contracts/payments.ts';
import type { Host } from '../../core/plugin.ts';
import { moneyText, readDecimal } from './money.ts';
import { IMPORTED, type OrderRecord, type Orders, orderOf } from './orders.ts';
import type { SellerSection } from './section.ts';
import { isPaid, returned } from './states.ts';

/** The setting of an account that has its details. */
const SETTING = 'billing';
const NO_DETAILS: Buyer = { name: '', address: '', taxId: '' };
const DIGITS = 6;

interface Row {
  readonly number: string;
  readonly kind: 'invoice' | 'credit';
  readonly amount: string;
  readonly issued_ms: number;
  readonly facts: string;
}

/** What a document has kept of the time when it was issued. */
interface Facts {
  readonly seller: Seller;
  readonly buyer: Buyer;
  /** The tax that prices include; `rate` in percent, a decimal number. */
  readonly tax: { readonly name: string; readonly rate: string } | undefined;
  /** The number of the invoice that a later document is about. */
  readonly about?: string;
}

/** The part of the service about documents. */
export type Documents = Pick<Payments, 'documents' | 'buyer' | 'setBuyer'>;

/** Creates it. */
export function createDocuments(host: Host, orders: Orders, seller: SellerSection): Documents {
  const { store, clock } = host;
  const accounts = host.use(Accounts);

  const readRows = (orderId: number): Promise<readonly Row[]> =>
    store.all<Row>(
      `SELECT number, kind, CAST(amount AS TEXT) AS amount, issued_ms, facts FROM payment_document
        WHERE order_id = ? ORDER BY seq`,
      orderId,
    );

  async function buyer(accountId: number): Promise<Buyer> {
    const details = (await accounts.person(accountId))?.settings[SETTING];
    return { ...NO_DETAILS, ...(details as Partial<Buyer> | undefined) };
  }

  async function factsOf(accountId: number): Promise<Facts> {
    const { tax, prefix: _, ...details } = seller;
    return {
      seller: details,
      buyer: await buyer(accountId),
      tax: tax.name === '' ? undefined : { name: tax.name, rate: `${tax.rate}` },
    };
  }

  /** Issues the next document of an order, unless its documents already add up to what was paid and not returned. */
  async function issueNext(order: OrderRecord, rows: readonly Row[]): Promise<boolean> {
    const net = rows.reduce(
      (sum, { kind, amount }) => sum + (kind === 'credit' ? -BigInt(amount) : BigInt(amount)),
      0n,
    );
    // The invoice is for the whole payment, even if it was returned before anybody asked for it.
    const due = rows.length === 0 ? order.money : order.money - returned(order);
    if (net === due) return false;
    const [first] = rows;
    const facts: Facts =
      first === undefined
        ? await factsOf(order.accountId)
        : { ...(JSON.parse(first.facts) as Facts), about: first.number };
    const last = await store.one<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM payment_document');
    const seq = (last?.seq ?? 0) + 1;
    const sum = `SELECT COALESCE(SUM(CASE kind WHEN 'credit' THEN -amount ELSE amount END), 0) FROM payment_document`;
    // If another request or a refund was faster, nothing is written, and the order and its documents are read again.
    await store.run(
      `INSERT INTO payment_document (seq, number, order_id, kind, amount, issued_ms, facts)
        SELECT ?, ?, ?, ?, ?, ?, ? WHERE (${sum} WHERE order_id = ?) = ?
          AND EXISTS (SELECT 1 FROM top_up WHERE id = ? AND refunded = ? AND disputed = ?) ON CONFLICT DO NOTHING`,
      ...[seq, `${seller.prefix}${`${seq}`.padStart(DIGITS, '0')}`, order.id, net < due ? 'invoice' : 'credit'],
      ...[net < due ? due - net : net - due, clock.now(), JSON.stringify(facts), order.id, net],
      ...[order.id, order.refunded, order.disputed],
    );
    return true;
  }

  /** `before`: what the documents before it add up to, and `after`: with it. */
  function toDocument(
    order: OrderRecord,
    { number, kind, amount, issued_ms: issuedMs, facts: text }: Row,
    before: bigint,
    after: bigint,
  ): OrderDocument {
    const { seller: from, buyer: to, tax, about } = JSON.parse(text) as Facts;
    const money = BigInt(amount);
    // Of sums, not of single amounts: the taxes of an invoice and of its credit notes add up without a rest.
    const change = tax === undefined ? 0n : taxIn(after, tax.rate) - taxIn(before, tax.rate);
    const included = change < 0n ? -change : change;
    return {
      ...{ number, kind, issuedMs, seller: from, buyer: to, about, order: orderOf(order), currency: order.currency },
      amount: moneyText(money, order.currency),
      tax: tax && {
        ...tax,
        amount: moneyText(included, order.currency),
        net: moneyText(money - included, order.currency),
      },
    };
  }

  return {
    buyer,

    async setBuyer(accountId, details, along) {
      const isEmpty = Object.values(details).every((value) => value === '');
      await accounts.change(accountId, { settings: { [SETTING]: isEmpty ? null : { ...details } } }, along);
    },

    async documents(tradeNo, accountId) {
      for (;;) {
        const order = await orders.find(tradeNo);
        // What the balance pays for was invoiced when the balance was bought.
        if (order === undefined || !isPaid(order) || order.currency === '') return [];
        // What another gateway sold, it has invoiced.
        if (order.provider === IMPORTED) return [];
        if (accountId !== undefined && order.accountId !== accountId) return [];
        const rows = await readRows(order.id);
        if (await issueNext(order, rows)) continue;
        let net = 0n;
        return rows.map((row) => {
          const before = net;
          net += row.kind === 'credit' ? -BigInt(row.amount) : BigInt(row.amount);
          return toDocument(order, row, before, net);
        });
      }
    },
  };
}

/** The tax that an amount includes, rounded half up: `rate` percent on top of the net amount. */
function taxIn(amount: bigint, rate: string): bigint {
  const { digits, scale } = readDecimal(rate)!;
  const divisor = 100n * 10n ** BigInt(scale) + digits;
  return (2n * amount * digits + divisor) / (2n * divisor);
}
