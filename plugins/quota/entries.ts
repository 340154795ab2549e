/** Reads entries of the ledger: what a call moved, and what came to an account and left it beside its calls. */
import type { Entry, Layer, Ledger, MoneyDay, MoneyEntry } from '../../core/contracts/ledger.ts';
import type { UsageRecord } from '../../core/contracts/records.ts';
import type { Store } from '../../core/plugin.ts';
import { all, condition } from '../../core/sdk.ts';
import { readLayers } from './holds.ts';
import { DAY_MS } from './windows.ts';

const COLUMNS = 'ref, op, kind, owner, window_start, CAST(amount AS TEXT) AS amount, at_ms, actor';
/** Money of accounts that is no call's: an index has nothing else in it, and is used where the condition is written exactly so. */
const IS_MONEY = "kind = 'account'";
/** What is taken is taken by hand, or for something, by `deduct` and `set`; else it pays what is owed since a payment went back. */
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
      const place = before === undefined ? undefined : readPlace(before);
      const { sql, params } = all(
        { sql: IS_MONEY, params: [] },
        condition('owner = ? AND at_ms >= ?', accountId, fromMs),
        place && condition('(at_ms, ref, op) < (?, ?, ?)', ...place),
      );
      const rows = await store.all<EntryRow & Pick<MoneyEntry, 'side'>>(
        `SELECT ${COLUMNS}, ${SIDE} AS side FROM entry WHERE ${sql} ORDER BY at_ms DESC, ref DESC, op DESC LIMIT ?`,
        ...params,
        limit + 1,
      );
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      const items = rows.slice(0, limit).map((row) => ({ ...toEntry(row), side: row.side }));
      return { items, next: last && placeOf(last) };
    },

    async moneyByDay(accountId, fromMs) {
      const rows = await store.all<{ ms: number; side: MoneyEntry['side']; amount: string }>(
        `SELECT at_ms / ${DAY_MS} * ${DAY_MS} AS ms, ${SIDE} AS side, CAST(SUM(ABS(amount)) AS TEXT) AS amount
          FROM entry WHERE ${IS_MONEY} AND owner = ? AND at_ms >= ? GROUP BY 1, 2 ORDER BY 1`,
        accountId,
        fromMs,
      );
      const days = new Map<number, MoneyDay>();
      for (const { ms: timeMs, side, amount } of rows) {
        const day = days.get(timeMs) ?? { timeMs, credit: 0n, debit: 0n, refund: 0n };
        days.set(timeMs, { ...day, [side]: BigInt(amount) });
      }
      return [...days.values()];
    },
  };
}

/** What a recorded call was taken from. Records of before there were leases name no layers beside account and key. */
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

/** Where an entry stands among those of its account, as others may keep it. */
function placeOf({ at_ms, ref, op }: EntryRow): string {
  return Buffer.from(JSON.stringify([at_ms, ref, op])).toString('base64url');
}

/** Reads it. Before everything where it is none of ours. */
function readPlace(text: string): readonly [atMs: number, ref: string, op: string] {
  try {
    const [atMs, ref, op] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (Number.isSafeInteger(atMs) && typeof ref === 'string' && typeof op === 'string')
      return [atMs as number, ref, op];
  } catch {
    // Somebody made it up.
  }
  return [0, '', ''];
}
