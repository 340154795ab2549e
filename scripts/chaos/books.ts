/** Holds what clients and vendors have seen against what the database says. */
import type BetterSqlite3 from 'better-sqlite3';
import { Database } from '../../plugins/stores/sqlite/binding.ts';
import { answerOf, type Call, priceOf } from './calls.ts';
import type { Customer } from './customers.ts';

/** What can be wrong, as the columns of the table. */
export type Kind =
  | 'unbilled'
  | 'wrong amount'
  | 'double'
  | 'overcharged'
  | 'hold left'
  | 'reconcile'
  | 'ledger'
  | 'process';

/** Something that must not be. */
export interface Violation {
  readonly kind: Kind;
  readonly text: string;
}

interface Row {
  readonly id: string;
  readonly account_id: bigint;
  readonly outcome: string;
  readonly input: bigint | null;
  readonly output: bigint | null;
  readonly charged: bigint;
  readonly other: string;
}
interface Debit {
  readonly ref: string;
  readonly kind: string;
  readonly amount: bigint;
}

/** How many holds are open. */
export function openHolds(file: string): number {
  return reading(file, (db) => db.prepare('SELECT COUNT(*) FROM hold').pluck().get() as number);
}

/** How many usage records there are. */
export function usageRecords(file: string): number {
  return reading(file, (db) => db.prepare('SELECT COUNT(*) FROM usage_record').pluck().get() as number);
}

/** How many holds were closed by a later run of the gateway. */
export function recoveredHolds(file: string): { readonly all: number; readonly charged: number } {
  const sql = `SELECT COUNT(*) AS "all", COUNT(*) FILTER (WHERE charged > 0) AS charged FROM usage_record WHERE outcome = 'recovered'`;
  return reading(file, (db) => db.prepare(sql).get() as { all: number; charged: number });
}

/** Everything that is wrong with these calls in the books. */
export function compare(file: string, calls: readonly Call[], customers: readonly Customer[]): readonly Violation[] {
  return reading(file, (db) => {
    db.defaultSafeIntegers(true);
    const rows = db
      .prepare<[], Row>('SELECT id, account_id, outcome, input, output, charged, other FROM usage_record')
      .all();
    const debits = db.prepare<[], Debit>(`SELECT ref, kind, amount FROM entry WHERE op = 'debit'`).all();
    return [
      ...doubles(rows, calls),
      ...calls.filter(({ complete }) => complete).flatMap(billing(rows, debits, customers)),
      ...overcharges(rows, calls),
      ...customers.flatMap(({ accountId, credited }) => {
        const granted = BigInt(credited) * 1_000_000n;
        const says = db
          .prepare(`SELECT granted FROM bucket WHERE kind = 'account' AND owner = ?`)
          .pluck()
          .get(accountId);
        const text = `account ${accountId} was credited ${granted}, its bucket says ${says}`;
        return says === granted ? [] : [{ kind: 'ledger', text } as const];
      }),
    ];
  });
}

/** An answer that somebody has seen is in the books exactly once, with what it said and what that costs. */
function billing(
  rows: readonly Row[],
  debits: readonly Debit[],
  customers: readonly Customer[],
): (call: Call) => readonly Violation[] {
  const recordOf = new Map(rows.map((row) => [row.id, row]));
  const debitsOf = new Map<string, Debit[]>();
  for (const debit of debits) debitsOf.set(debit.ref, [...(debitsOf.get(debit.ref) ?? []), debit]);

  return (call) => {
    const what = `call ${call.number} (${call.model}, status ${call.status}, ${call.id})`;
    const row = recordOf.get(call.id!);
    if (row === undefined) {
      // Of calls that are refused alike within a minute only the first has one.
      const isRefusedAgain = call.status === 403 && !debitsOf.has(call.id!);
      return isRefusedAgain ? [] : [{ kind: 'unbilled', text: `${what} has no usage record` }];
    }
    if (row.outcome === 'recovered') {
      return [{ kind: 'unbilled', text: `${what} was seen whole, but its hold was left open: ${row.charged} charged` }];
    }
    const found: Violation[] = [];
    const wrong = (text: string): void => void found.push({ kind: 'wrong amount', text: `${what} ${text}` });
    const taken = debitsOf.get(row.id) ?? [];
    const served = call.status === 200;
    const { usage } = answerOf(call);
    const price = served ? priceOf(usage) : 0n;

    if ((row.outcome === 'served') !== served) wrong(`ended as ${row.outcome}`);
    if (row.charged !== price) wrong(`was charged ${row.charged}, should be ${price}`);
    if (served && (row.input !== BigInt(usage.prompt) || row.output !== BigInt(usage.completion))) {
      wrong(`is recorded with ${row.input} + ${row.output} tokens, should be ${usage.prompt} + ${usage.completion}`);
    }
    const shows = call.shown;
    if (shows !== undefined && (shows.prompt !== usage.prompt || shows.completion !== usage.completion)) {
      wrong(`showed its client ${shows.prompt} + ${shows.completion} tokens`);
    }
    if (served && !call.stream && call.cost !== inQuota(price)) wrong(`said that it costs ${call.cost}`);
    const layers = taken
      .map(({ kind }) => kind)
      .sort()
      .join();
    if (layers !== (price > 0n ? customers[call.customer]!.layers.join() : ''))
      wrong(`was taken from: ${layers || 'nobody'}`);
    for (const { kind, amount } of taken) if (amount !== price) wrong(`took ${amount} from the ${kind}`);
    if (served && shows === undefined && (call.asksUsage || !call.stream)) wrong('showed no usage');
    return found;
  };
}

/** No id has two records, no call two of them, no two answers one id. */
function doubles(rows: readonly Row[], calls: readonly Call[]): readonly Violation[] {
  const twice = (what: string, names: readonly string[]): readonly Violation[] => {
    const seen = new Set<string>();
    return names
      .filter((name) => seen.size === seen.add(name).size)
      .map((name) => ({ kind: 'double', text: `${name} is the ${what} twice` }));
  };
  return [
    ...twice(
      'id of a record',
      rows.map(({ id }) => id),
    ),
    ...twice(
      'call of a record',
      rows.flatMap((row) => clientIdOf(row) ?? []),
    ),
    ...twice(
      'id of an answer',
      calls.flatMap(({ id }) => id ?? []),
    ),
  ];
}

/** A client that leaves before anything was answered pays the input that had gone out. */
function isUnansweredInput({ outcome, input, output, charged }: Row): boolean {
  return outcome === 'aborted' && output === 0n && charged === priceOf({ prompt: Number(input), completion: 0 });
}

/** Nobody pays for more than a vendor has sent. */
function overcharges(rows: readonly Row[], calls: readonly Call[]): readonly Violation[] {
  const byNumber = new Map(calls.map((call) => [`call-${call.number}`, call]));
  // A recovered record has forgotten which call it was; the client has seen its id, for something was delivered.
  const byId = new Map(calls.flatMap((call) => (call.id === undefined ? [] : [[call.id, call] as const])));
  return rows.flatMap((row) => {
    if (row.charged === 0n) return [];
    const call = byId.get(row.id) ?? byNumber.get(clientIdOf(row) ?? '');
    if (call === undefined) {
      return [
        { kind: 'overcharged', text: `record ${row.id} (${row.outcome}) charges for a call nobody made` } as const,
      ];
    }
    if (row.charged <= call.most || isUnansweredInput(row)) return [];
    const text = `call ${call.number} (${call.model}, ${row.outcome}, ${row.id}) was charged ${row.charged}, its vendor sent ${call.most}`;
    return [{ kind: 'overcharged', text } as const];
  });
}

function clientIdOf({ other }: Row): string | undefined {
  return (JSON.parse(other) as { readonly clientRequestId?: string }).clientRequestId;
}

/** Micro-quota as the header says it. */
function inQuota(micro: bigint): string {
  return String(Number(micro) / 1_000_000);
}

function reading<T>(file: string, read: (db: BetterSqlite3.Database) => T): T {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}
