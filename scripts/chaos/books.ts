/** Compares what clients and vendors have seen with the database. */
import { readRows, type Row as StoredRow } from '../../test/kit/gateway/rows.ts';
import { answerOf, type Call, priceOf } from './calls.ts';
import type { Customer } from './customers.ts';

/** The kinds of violations, which are the columns of the table. */
export type Kind =
  | 'unbilled'
  | 'wrong amount'
  | 'double'
  | 'overcharged'
  | 'hold left'
  | 'reconcile'
  | 'ledger'
  | 'process';

/** A violation. */
export interface Violation {
  readonly kind: Kind;
  readonly text: string;
}

/** A usage record. */
export interface Row {
  readonly id: string;
  readonly account_id: bigint;
  readonly key_id: bigint;
  readonly included: bigint;
  readonly outcome: string;
  readonly input: bigint | null;
  readonly output: bigint | null;
  readonly charged: bigint;
  readonly other: string;
}

interface Debit {
  readonly kind: string;
  readonly owner: bigint;
  readonly window_start: bigint;
  readonly amount: bigint;
}

/** Number of running calls recorded in the database. */
export function runningCalls(store: string): number {
  return countOf(store, 'SELECT COUNT(*) AS n FROM running');
}

/** Number of usage records. */
export function usageRecords(store: string): number {
  return countOf(store, 'SELECT COUNT(*) AS n FROM usage_record');
}

/** Number of calls that were recovered by a later run or another gateway. */
export function recoveredCalls(store: string): { readonly all: number; readonly charged: number } {
  const recovered = `SELECT COUNT(*) AS n FROM usage_record WHERE outcome = 'recovered'`;
  return { all: countOf(store, recovered), charged: countOf(store, `${recovered} AND charged > 0`) };
}

function countOf(store: string, sql: string): number {
  return Number(readRows(store, sql)[0]![0]!.n);
}

const text = (column: string): string => `CAST(${column} AS TEXT) AS ${column}`;
const RECORDS = `SELECT id, outcome, other, ${['account_id', 'key_id', 'included', 'input', 'output', 'charged'].map(text).join(', ')}
  FROM usage_record`;

/** The usage records of a store (see `readRows`). */
export function recordsIn(store: string): readonly Row[] {
  return readRows(store, RECORDS)[0]!.map((row) => exact(row) as unknown as Row);
}

/**
 * All violations of these calls. `mayLack`: calls refused while nothing could be written, which need no usage record.
 */
export function compare(
  store: string,
  calls: readonly Call[],
  customers: readonly Customer[],
  mayLack: (call: Call) => boolean = () => false,
): readonly Violation[] {
  const [rows = [], debits = [], granted = []] = readRows(
    store,
    RECORDS,
    `SELECT kind, ${['owner', 'window_start'].map(text).join(', ')}, CAST(SUM(amount) AS TEXT) AS amount FROM debit
      GROUP BY kind, owner, window_start`,
    `SELECT ${['owner', 'granted'].map(text).join(', ')} FROM bucket WHERE kind = 'account'`,
  ).map((found) => found.map(exact));
  const records = rows as unknown as readonly Row[];
  return [
    ...doubles(records, calls),
    ...calls.filter(({ complete }) => complete).flatMap(billing(records, customers, mayLack)),
    ...overcharges(records, calls),
    ...unlikeDebits(debits as unknown as readonly Debit[], records),
    ...customers.flatMap(({ accountId, credited }) => {
      const should = BigInt(credited) * 1_000_000n;
      const says = granted.find(({ owner }) => owner === BigInt(accountId))?.granted;
      const text = `account ${accountId} was credited ${should}, its bucket says ${says}`;
      return says === should ? [] : [{ kind: 'ledger', text } as const];
    }),
  ];
}

/** Integer columns as bigints. */
function exact(row: StoredRow): Readonly<Record<string, unknown>> {
  const words = ['id', 'kind', 'outcome', 'other'];
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, words.includes(name) || value === null ? value : BigInt(value)]),
  );
}

/** An answer that a client has seen has exactly one record, with its usage and its price. */
function billing(
  rows: readonly Row[],
  customers: readonly Customer[],
  mayLack: (call: Call) => boolean,
): (call: Call) => readonly Violation[] {
  const recordOf = new Map(rows.map((row) => [row.id, row]));

  return (call) => {
    const what = `call ${call.number} (${call.model}, status ${call.status}, ${call.id})`;
    const row = recordOf.get(call.id!);
    if (row === undefined) {
      // Of identical refusals within a minute only the first has a record.
      return call.status === 403 || mayLack(call) ? [] : [{ kind: 'unbilled', text: `${what} has no usage record` }];
    }
    if (row.outcome === 'recovered') {
      if (row.charged === 0n && mayLack(call)) return [];
      return [{ kind: 'unbilled', text: `${what} was seen whole, but its hold was left open: ${row.charged} charged` }];
    }
    const found: Violation[] = [];
    const wrong = (text: string): void => void found.push({ kind: 'wrong amount', text: `${what} ${text}` });
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
    const layers = layersOf(row)
      .map(([kind]) => kind)
      .sort()
      .join();
    if (price > 0n && layers !== customers[call.customer]!.layers.join()) wrong(`was taken from: ${layers}`);
    if (served && shows === undefined && (call.asksUsage || !call.stream)) wrong('showed no usage');
    return found;
  };
}

/** The debits of a call, according to its record: kind, owner, window. */
export function layersOf({
  account_id,
  key_id,
  included,
  other,
}: Row): readonly (readonly [string, bigint | number, number])[] {
  const { layers = [] } = JSON.parse(other) as { readonly layers?: readonly [string, number, number][] };
  return [...(included === 0n ? [['account', account_id, 0] as const] : []), ['key', key_id, 0], ...layers];
}

/** The debits of each bucket equal the charges of its records. */
function unlikeDebits(debits: readonly Debit[], rows: readonly Row[]): readonly Violation[] {
  const charged = new Map<string, bigint>();
  for (const row of rows) {
    if (row.charged === 0n) continue;
    for (const layer of layersOf(row)) {
      const name = layer.join(' ');
      charged.set(name, (charged.get(name) ?? 0n) + row.charged);
    }
  }
  const found: Violation[] = [];
  for (const { kind, owner, window_start, amount } of debits) {
    const name = `${kind} ${owner} ${window_start}`;
    const says = charged.get(name) ?? 0n;
    charged.delete(name);
    if (says !== amount) found.push({ kind: 'ledger', text: `${name} was debited ${amount}, its records say ${says}` });
  }
  for (const [name, says] of charged)
    found.push({ kind: 'ledger', text: `${name} was not debited, its records say ${says}` });
  return found;
}

/** Ids of records, calls of records and ids of answers are unique. */
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

/** A client that disconnects before the answer pays the input that was sent. */
function isUnansweredInput({ outcome, input, output, charged }: Row): boolean {
  return outcome === 'aborted' && output === 0n && charged === priceOf({ prompt: Number(input), completion: 0 });
}

/** No call is charged more than its vendor has sent. */
function overcharges(rows: readonly Row[], calls: readonly Call[]): readonly Violation[] {
  const byNumber = new Map(calls.map((call) => [`call-${call.number}`, call]));
  // A recovered record does not name its call. The client knows the id, unless the kill came between the checkpoint and
  // the delivery: then it belongs to one of the calls without an answer and without another record.
  const byId = new Map(calls.flatMap((call) => (call.id === undefined ? [] : [[call.id, call] as const])));
  const recorded = new Set(rows.map((row) => clientIdOf(row)));
  const unanswered = calls.filter(({ id, number }) => id === undefined && !recorded.has(`call-${number}`));
  const unansweredOf = (row: Row): Call | undefined => {
    if (row.outcome !== 'recovered') return undefined;
    const at = unanswered.findIndex(({ most }) => most >= row.charged);
    return at < 0 ? undefined : unanswered.splice(at, 1)[0];
  };
  return rows.flatMap((row) => {
    if (row.charged === 0n) return [];
    const call = byId.get(row.id) ?? byNumber.get(clientIdOf(row) ?? '') ?? unansweredOf(row);
    if (call === undefined) {
      return [
        {
          kind: 'overcharged',
          text: `record ${row.id} (${row.outcome}) charges for a call that was not made`,
        } as const,
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

/** Micro-quota from the header. */
function inQuota(micro: bigint): string {
  return String(Number(micro) / 1_000_000);
}
