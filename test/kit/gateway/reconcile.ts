/** Counts the money of a store again, from the outside: own queries over its tables, none of the gateway's invariants. */
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { type Row, readRows } from './rows.ts';

interface Bucket {
  readonly kind: string;
  readonly owner: bigint;
  readonly window_start: bigint;
  readonly granted: bigint;
  readonly used: bigint;
  readonly held: bigint;
  readonly unlimited: bigint;
  readonly debt: bigint;
}
interface Entry {
  readonly op: 'credit' | 'refund' | 'adjust';
  readonly kind: string;
  readonly owner: bigint;
  readonly window_start: bigint;
  readonly amount: bigint;
}
/** A debit of a day, or a lease. */
interface Part {
  readonly kind: string;
  readonly owner: bigint;
  readonly window_start: bigint;
  readonly amount: bigint;
}
interface Charged {
  readonly account_id: bigint;
  readonly key_id: bigint;
  readonly charged: bigint;
  readonly included: bigint;
  /** A JSON object; its `layers` are what it was taken from beside account and key: `[kind, owner, window]` of each. */
  readonly other: string;
}

/** Kinds whose `granted` is made of entries; the others follow a plan or a budget. */
const ENTERED = ['account', 'key'];

/** Windows of subscriptions: an entry is what another gateway had charged to it before it was adopted. */
const WINDOWS = ['day', 'week', 'month'];

/** Entries that change the debt of a bucket of another kind. */
const OWING: Readonly<Record<string, string>> = { debt: 'account', 'key-debt': 'key' };

/** What a bucket, and whatever adds up to it, is called by. */
const PLACE = 'kind, CAST(owner AS TEXT) AS owner, CAST(window_start AS TEXT) AS window_start';
const text = (column: string): string => `CAST(${column} AS TEXT) AS ${column}`;

/** What is wrong with the ledger in this store (see `readRows`), one line each; empty where all adds up. The gateway may be running. */
export function ledgerFaults(store: string): readonly string[] {
  const [buckets = [], entries = [], debits = [], leases = [], charged = []] = readRows(
    store,
    `SELECT ${PLACE}, ${['granted', 'used', 'held', 'unlimited', 'debt'].map(text).join(', ')} FROM bucket`,
    `SELECT op, ${PLACE}, ${text('amount')} FROM entry`,
    `SELECT ${PLACE}, ${text('amount')} FROM debit`,
    `SELECT ${PLACE}, ${text('amount')} FROM lease`,
    `SELECT ${['account_id', 'key_id', 'charged', 'included'].map(text).join(', ')}, other FROM usage_record WHERE charged > 0`,
  ).map((rows) => rows.map(exact));
  const faults = [
    ...faultsOf({
      buckets: buckets as unknown as readonly Bucket[],
      entries: entries as unknown as readonly Entry[],
      debits: debits as unknown as readonly Part[],
      leases: leases as unknown as readonly Part[],
      records: charged as unknown as readonly Charged[],
    }),
  ];
  return store.startsWith('postgres://') ? faults : [...faults, ...damages(store)];
}

/** Columns that are no words as bigints. */
function exact(row: Row): Readonly<Record<string, unknown>> {
  const words = ['op', 'kind', 'other'];
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, words.includes(name) ? value : BigInt(value ?? 0)]),
  );
}

/** What SQLite itself finds wrong with a file. A server looks after its own. */
function damages(file: string): readonly string[] {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    const faults: string[] = [];
    const integrity = db.pragma('integrity_check', { simple: true });
    if (integrity !== 'ok') faults.push(`integrity_check: ${integrity}`);
    const orphans = db.pragma('foreign_key_check') as readonly unknown[];
    if (orphans.length > 0) faults.push(`foreign_key_check: ${orphans.length} rows`);
    return faults;
  } finally {
    db.close();
  }
}

interface Books {
  readonly buckets: readonly Bucket[];
  readonly entries: readonly Entry[];
  readonly debits: readonly Part[];
  readonly leases: readonly Part[];
  readonly records: readonly Charged[];
}

function faultsOf({ buckets, entries, debits, leases, records }: Books): readonly string[] {
  const sums = sumsOf(entries, debits, leases);
  const faults: string[] = [];
  const equal = (what: string, says: bigint, should: bigint) => {
    if (says !== should) faults.push(`${what} is ${says}, should be ${should}`);
  };

  const recorded = recordedOf(records);
  const left = new Set(sums.keys());
  for (const { kind, owner, window_start, granted, used, held, unlimited, debt } of buckets) {
    const name = bucketName(kind, owner, window_start);
    const sum = sums.get(name) ?? nothing();
    left.delete(name);
    if (ENTERED.includes(kind)) equal(`${name}: granted`, granted, sum.granted);
    equal(`${name}: what its records charge`, recorded.get(name) ?? 0n, sum.used - sum.before);
    recorded.delete(name);
    equal(`${name}: used`, used, sum.used);
    equal(`${name}: held`, held, sum.held);
    equal(`${name}: debt`, debt, sum.debt);
    if (unlimited === 0n && granted < used + held) faults.push(`${name} is overdrawn`);
  }
  for (const name of left) faults.push(`${name} has entries, debits or leases, but no bucket`);
  for (const name of recorded.keys()) faults.push(`${name} was charged by records, but has no bucket`);

  return faults;
}

/** What the entries, the debits and the leases make of each bucket. */
function sumsOf(
  entries: readonly Entry[],
  debits: readonly Part[],
  leases: readonly Part[],
): ReadonlyMap<string, Sums> {
  const sums = new Map<string, Sums>();
  const sumOf = ({ kind, owner, window_start }: Pick<Part, 'kind' | 'owner' | 'window_start'>): Sums => {
    const name = bucketName(OWING[kind] ?? kind, owner, window_start);
    const sum = sums.get(name) ?? nothing();
    sums.set(name, sum);
    return sum;
  };
  for (const entry of entries) {
    const sum = sumOf(entry);
    if (entry.op === 'refund') sum.used -= entry.amount;
    else if (WINDOWS.includes(entry.kind)) {
      sum.used += entry.amount;
      sum.before += entry.amount;
    } else if (entry.kind in OWING) sum.debt += entry.amount;
    else sum.granted += entry.amount;
  }
  for (const debit of debits) sumOf(debit).used += debit.amount;
  for (const lease of leases) sumOf(lease).held += lease.amount;
  return sums;
}

/** What the records charge each bucket. */
function recordedOf(records: readonly Charged[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  const add = (name: string, amount: bigint) => sums.set(name, (sums.get(name) ?? 0n) + amount);
  for (const { account_id, key_id, charged, included, other } of records) {
    if (included === 0n) add(bucketName('account', account_id, 0n), charged);
    add(bucketName('key', key_id, 0n), charged);
    const { layers = [] } = JSON.parse(other) as { readonly layers?: readonly [string, number, number][] };
    for (const [kind, owner, window] of layers) {
      add(bucketName(kind, BigInt(owner), BigInt(window)), charged);
    }
  }
  return sums;
}

interface Sums {
  granted: bigint;
  used: bigint;
  held: bigint;
  debt: bigint;
  /** The part of `used` that no call here was charged. */
  before: bigint;
}
function nothing(): Sums {
  return { granted: 0n, used: 0n, held: 0n, debt: 0n, before: 0n };
}
function bucketName(kind: string, owner: bigint, windowStart: bigint): string {
  return windowStart === 0n ? `${kind} ${owner}` : `${kind} ${owner} from ${windowStart}`;
}
