/** Reads entries of the ledger: what a call was charged, and the credits, debits and refunds of an account. */
import type { Entry, Layer, Ledger, MoneyDay, MoneyEntry } from '../../core/contracts/ledger.ts';
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Store } from '../../core/plugin.ts';
import { all, condition, readSum, sumSql } from '../../core/sdk.ts';
import { readLayers } from './reservation.ts';
import { DAY_MS } from './tables.ts';

const COLUMNS = 'ref, op, kind, owner, window_start, CAST(amount AS TEXT) AS amount, at_ms, actor';
/** Entries of accounts' balances. A partial index has only these, and is used only with exactly this condition. */
const IS_MONEY = "kind = 'account'";
/** Negative entries of `deduct` and `set` are debits; the others pay a debt after a payment was refunded. */
const SIDE = `CASE WHEN amount > 0 THEN 'credit' WHEN ref LIKE 'deducted:%' OR ref LIKE 'set:%' THEN 'debit' ELSE 'refund' END`;

interface EntryRow {
  readonly ref: string;
  readonly op: Entry['op'];
  readonly kind: Entry['kind'];
  readonly owner: number;
  readonly window_start: number;
  readonly amount: string;
  readonly at_ms: number;
  readonly actor: string;
}

/** Makes that part of the service. */
export function createEntries(store: Store): Pick<Ledger, 'entriesOf' | 'money' | 'moneyByDay'> {
  return {
    async entriesOf(ref) {
      const rows = await store.all<EntryRow>(
        `SELECT ${COLUMNS} FROM entry WHERE ref = ? ORDER BY op, kind, owner, window_start`,
        ref,
      );
      return rows.map(toEntry);
    },

    async money(accountId, { limit, fromMs, before }) {
      const cursor = before === undefined ? undefined : readCursor(before);
      const { sql, params } = all(
        { sql: IS_MONEY, params: [] },
        condition('owner = ? AND at_ms >= ?', accountId, fromMs),
        cursor && condition('(at_ms, ref, op) < (?, ?, ?)', ...cursor),
      );
      const rows = await store.all<EntryRow & Pick<MoneyEntry, 'side'>>(
        `SELECT ${COLUMNS}, ${SIDE} AS side FROM entry WHERE ${sql} ORDER BY at_ms DESC, ref DESC, op DESC LIMIT ?`,
        ...params,
        limit + 1,
      );
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      const items = rows.slice(0, limit).map((row) => ({ ...toEntry(row), side: row.side }));
      return { items, next: last && cursorOf(last) };
    },

    async moneyByDay(accountId, fromMs) {
      const rows = await store.all<{ ms: number; side: MoneyEntry['side']; amount: string }>(
        `SELECT at_ms / ${DAY_MS} * ${DAY_MS} AS ms, ${SIDE} AS side, ${sumSql('ABS(amount)')} AS amount
          FROM entry WHERE ${IS_MONEY} AND owner = ? AND at_ms >= ? GROUP BY 1, 2 ORDER BY 1`,
        accountId,
        fromMs,
      );
      const days = new Map<number, MoneyDay>();
      for (const { ms: timeMs, side, amount } of rows) {
        const day = days.get(timeMs) ?? { timeMs, credit: 0n, debit: 0n, refund: 0n };
        days.set(timeMs, { ...day, [side]: readSum(amount) });
      }
      return [...days.values()];
    },
  };
}

/** The buckets that a recorded call was charged to. Records written before leases existed name only account and key. */
export function debitsOf(call: UsageRecord): readonly Entry[] {
  const { id, accountId, keyId, charged, included, atMs, durationMs, outcome, other } = call;
  if (charged === 0n) return [];
  const moved = {
    ref: id,
    op: 'debit',
    amount: charged,
    atMs: atMs + durationMs,
    actor: outcome === 'recovered' ? 'recovery' : 'call',
  } as const;
  const layers: readonly Layer[] = [
    ...(included === true ? [] : [{ kind: 'account', owner: accountId } as const]),
    { kind: 'key', owner: keyId },
    ...readLayers(other),
  ];
  return layers
    .map(({ kind, owner, windowStart }) => ({ ...moved, kind, owner, windowStart: windowStart || undefined }))
    .sort((a, b) => (a.kind < b.kind ? -1 : 1));
}

function toEntry({ ref, op, kind, owner, window_start, amount, at_ms: atMs, actor }: EntryRow): Entry {
  const windowStart = window_start === 0 ? undefined : window_start;
  return { ref, op, kind, owner, windowStart, amount: BigInt(amount), atMs, actor };
}

/** The cursor of a page that begins after an entry. */
function cursorOf({ at_ms, ref, op }: EntryRow): string {
  return Buffer.from(JSON.stringify([at_ms, ref, op])).toString('base64url');
}

/** Decodes a cursor; an invalid one is before all entries. */
function readCursor(text: string): readonly [atMs: number, ref: string, op: string] {
  try {
    const [atMs, ref, op] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (Number.isSafeInteger(atMs) && typeof ref === 'string' && typeof op === 'string')
      return [atMs as number, ref, op];
  } catch {
    // It is not a cursor of ours.
  }
  return [0, '', ''];
}
