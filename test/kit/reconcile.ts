/** Counts the money of a store again, from the outside: own queries over the file, none of the gateway's invariants. */
import type BetterSqlite3 from 'better-sqlite3';
import { Database } from '../../plugins/stores/sqlite/binding.ts';

interface Bucket {
  readonly kind: string;
  readonly owner: bigint;
  readonly window_start: bigint;
  readonly granted: bigint;
  readonly used: bigint;
  readonly held: bigint;
  readonly unlimited: bigint;
}
interface Entry {
  readonly ref: string;
  readonly op: 'debit' | 'credit' | 'refund' | 'adjust';
  readonly kind: string;
  readonly owner: bigint;
  readonly window_start: bigint;
  readonly amount: bigint;
}
interface Hold {
  readonly id: string;
  readonly account_id: bigint;
  readonly key_id: bigint;
  readonly amount: bigint;
  readonly from_account: bigint;
}
interface HoldLayer {
  readonly hold_id: string;
  readonly kind: string;
  readonly owner: bigint;
  readonly window_start: bigint;
}
interface Charged {
  readonly id: string;
  readonly charged: bigint;
}

/** Kinds whose `granted` is made of entries; the others follow a plan or a budget. */
const ENTERED = ['account', 'key', 'debt'];
/** Kinds that may pay in the place of the account. */
const WINDOWS = ['day', 'week', 'month'];

/** What is wrong with the ledger in this SQLite file, one line each; empty where all adds up. The gateway may be running. */
export function ledgerFaults(file: string): readonly string[] {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    db.defaultSafeIntegers(true);
    return db.transaction(() => faultsOf(db))();
  } finally {
    db.close();
  }
}

function faultsOf(db: BetterSqlite3.Database): readonly string[] {
  const buckets = db.prepare<[], Bucket>('SELECT * FROM bucket').all();
  const entries = db.prepare<[], Entry>('SELECT * FROM entry').all();
  const holds = db.prepare<[], Hold>('SELECT * FROM hold').all();
  const holdLayers = db.prepare<[], HoldLayer>('SELECT * FROM hold_layer').all();
  const records = db.prepare<[], Charged>('SELECT id, charged FROM usage_record').all();
  const faults: string[] = [];
  const equal = (what: string, says: bigint, should: bigint) => {
    if (says !== should) faults.push(`${what} is ${says}, should be ${should}`);
  };

  const open = new Set(holds.map(({ id }) => id));
  for (const { hold_id, kind } of holdLayers) {
    if (!open.has(hold_id)) faults.push(`call ${hold_id} holds nothing, but has a layer of the kind ${kind}`);
  }
  const sums = sumsOf(entries, holds, holdLayers);
  for (const bucket of buckets) {
    const name = bucketName(bucket.kind, bucket.owner, bucket.window_start);
    const sum = sums.get(name) ?? nothing();
    sums.delete(name);
    if (ENTERED.includes(bucket.kind)) equal(`${name}: granted`, bucket.granted, sum.granted);
    equal(`${name}: used`, bucket.used, sum.used);
    equal(`${name}: held`, bucket.held, sum.held);
    if (bucket.unlimited === 0n && bucket.granted < bucket.used + bucket.held) faults.push(`${name} is overdrawn`);
  }
  for (const name of sums.keys()) faults.push(`${name} has entries or holds, but no bucket`);

  const debits = new Map<string, Entry[]>();
  for (const entry of entries) {
    if (entry.op === 'debit') debits.set(entry.ref, [...(debits.get(entry.ref) ?? []), entry]);
  }
  for (const { id, charged } of records) {
    const taken = debits.get(id) ?? [];
    debits.delete(id);
    if (taken.length === 0) equal(`call ${id}: charged without debits`, charged, 0n);
    for (const { kind, amount } of taken) equal(`call ${id}: debit of the ${kind}`, amount, charged);
    const kinds = new Set(taken.map(({ kind }) => kind));
    for (const payers of [['account', ...WINDOWS], ['key']]) {
      if (taken.length > 0 && !payers.some((kind) => kinds.has(kind))) {
        faults.push(`call ${id}: nothing was taken from the ${payers[0]}`);
      }
    }
  }
  for (const ref of debits.keys()) faults.push(`call ${ref} was debited, but has no usage record`);

  const integrity = db.pragma('integrity_check', { simple: true });
  if (integrity !== 'ok') faults.push(`integrity_check: ${integrity}`);
  const orphans = db.pragma('foreign_key_check') as readonly unknown[];
  if (orphans.length > 0) faults.push(`foreign_key_check: ${orphans.length} rows`);
  return faults;
}

/** What the entries and the holds make of each bucket. */
function sumsOf(
  entries: readonly Entry[],
  holds: readonly Hold[],
  holdLayers: readonly HoldLayer[],
): Map<string, Sums> {
  const sums = new Map<string, Sums>();
  const sumOf = (name: string): Sums => {
    const sum = sums.get(name) ?? nothing();
    sums.set(name, sum);
    return sum;
  };
  for (const { op, kind, owner, window_start, amount } of entries) {
    const sum = sumOf(bucketName(kind, owner, window_start));
    if (op === 'debit') sum.used += amount;
    else if (op === 'refund') sum.used -= amount;
    else sum.granted += amount;
  }
  const amounts = new Map(holds.map(({ id, amount }) => [id, amount]));
  for (const { account_id, key_id, amount, from_account } of holds) {
    if (from_account === 1n) sumOf(bucketName('account', account_id, 0n)).held += amount;
    sumOf(bucketName('key', key_id, 0n)).held += amount;
  }
  for (const { hold_id, kind, owner, window_start } of holdLayers) {
    sumOf(bucketName(kind, owner, window_start)).held += amounts.get(hold_id) ?? 0n;
  }
  return sums;
}

interface Sums {
  granted: bigint;
  used: bigint;
  held: bigint;
}
function nothing(): Sums {
  return { granted: 0n, used: 0n, held: 0n };
}
function bucketName(kind: string, owner: bigint, windowStart: bigint): string {
  return windowStart === 0n ? `${kind} ${owner}` : `${kind} ${owner} from ${windowStart}`;
}
