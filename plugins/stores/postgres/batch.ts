/**
 * Runs many lists in one transaction: each all or none, one commit for all of them. Statements are sent without waiting for answers; where
 * a list turns out to have failed, what ran with it is undone and runs again without it.
 */
import type pg from 'pg';
import type { Step, Sum, Value } from '../../../core/plugin.ts';
import { addAmounts, statementOf } from '../../../core/plugin.ts';
import { query } from './connection.ts';
import { readText, type Text } from './dialect.ts';
import { kindOf, statementError } from './errors.ts';
import { LOCKS } from './tables.ts';

/** How long a change of a table waits for those who read it. */
const DEFINITION_WAIT_MS = 1_000;

/** Lists as they were handed in. */
export interface List {
  readonly steps: readonly Step[];
  /** It is answered after the commit. */
  readonly durable: boolean;
}

/** Rows changed by its last step, or `-1 - step` of the `must` that failed, or what was wrong with a statement; then it has left no trace. */
export type Result = number | Error;

/** This process, or rather this opening of the store, was given up for dead: nothing it writes counts any more. */
export class GivenUp extends Error {}

/** What a batch tells while it runs. */
export interface Progress {
  /** The lists have run, and nothing is durable yet. */
  ran(results: readonly Result[]): void;
  /** The commit is about to be sent: from now on a lost connection leaves open whether it was made. */
  committing(): void;
}

/** One statement of a part. */
interface Planned {
  readonly text: Text;
  readonly params: readonly Value[];
  readonly must: boolean;
  /** Whose it is, as a place in the batch; undefined: amounts of several lists, added up. */
  readonly list: number | undefined;
  readonly step: number;
}

type Outcome = { readonly changes: number } | { readonly error: unknown };

/**
 * Runs the lists and commits. `writer` is the row that says that this process may write, and `number` what that row says afterwards. Throws
 * `GivenUp`, or what is wrong with the connection or the server; then nothing was written, unless the commit was sent.
 */
export async function runBatch(
  client: pg.Client,
  lists: readonly List[],
  { writer, number }: { readonly writer: string; readonly number: number },
  { ran, committing }: Progress,
): Promise<readonly Result[]> {
  const results: Result[] = new Array(lists.length).fill(0);

  /** What was sent and not looked at. Its errors are those of the transaction, which the next answer that is looked at has, too. */
  const send = (sql: string): void => void client.query(sql).catch(() => {});

  const entered = enter(client, writer, number);

  /** Runs some lists, with a way back to before them. */
  async function attempt(part: readonly number[], isFolded: boolean): Promise<void> {
    const plan = planOf(lists, part, isFolded);
    send('SAVEPOINT part');
    if (plan.some(({ text }) => text.isDefinition)) {
      send('SET LOCAL statement_timeout = 0');
      // While it waits for a reader of its table that takes long, such as a dump, no process could write.
      send(`SET LOCAL lock_timeout = ${DEFINITION_WAIT_MS}`);
    }
    const [, ...outcomes] = await Promise.all([entered, ...plan.map((planned) => outcomeOf(client, planned))]);
    const failures = failuresOf(plan, outcomes, lists);
    if (failures.size === 0) {
      plan.forEach(({ list }, i) => {
        if (list !== undefined) results[list] = (outcomes[i] as { changes: number }).changes;
      });
      send('RELEASE part');
      return;
    }
    send('ROLLBACK TO part');
    send('RELEASE part');
    // Which of the lists that were added up did not fit cannot be told from the sum.
    if (failures.has(undefined)) return attempt(part, false);
    if (part.length === 1) {
      results[part[0]!] = failures.get(part[0]!)!;
      return;
    }
    for (const piece of split(part, failures)) await attempt(piece, isFolded);
  }

  try {
    await attempt([...lists.keys()], true);
    ran(results);
    committing();
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT') throw new Error('the server undid the transaction');
    return results;
  } catch (error) {
    send('ROLLBACK');
    throw error;
  }
}

/** Begins the transaction, waits for its turn, and makes sure that this process may write. */
async function enter(client: pg.Client, writer: string, number: number): Promise<void> {
  const [, , own] = await Promise.all([
    client.query('BEGIN ISOLATION LEVEL READ COMMITTED'),
    client.query(query('SELECT pg_advisory_xact_lock($1, $2)', LOCKS.writing)),
    client.query(query('UPDATE store_writer SET batch = $2, at_ms = store_now() WHERE name = $1', [writer, number])),
  ]).catch((error: unknown) => {
    throw notEntered(error);
  });
  if (own.rowCount === 0) throw new GivenUp('this process was given up for dead by the others');
}

/** Whatever keeps a batch from its turn is not about any list. */
function notEntered(error: unknown): unknown {
  if (kindOf(error) !== 'statement') return error;
  const reason = error instanceof Error ? error.message : String(error);
  return Object.assign(new Error(`another process keeps it from being written: ${reason}`), { code: '55P03' });
}

function outcomeOf(client: pg.Client, { text, params }: Planned): Promise<Outcome> {
  // Definitions may be several statements, which cannot be prepared.
  return client.query(text.isDefinition ? { text: text.sql } : query(text.sql, params)).then(
    ({ rowCount }) => ({ changes: rowCount ?? 0 }),
    (error: unknown) => ({ error }),
  );
}

/** The lists that failed, and how; undefined among them: a sum of several. Throws where all of the transaction has. */
function failuresOf(
  plan: readonly Planned[],
  outcomes: readonly Outcome[],
  lists: readonly List[],
): Map<number | undefined, Result> {
  const failures = new Map<number | undefined, Result>();
  for (const [i, outcome] of outcomes.entries()) {
    const { list, step, must, text } = plan[i]!;
    if ('error' in outcome) {
      if (kindOf(outcome.error) !== 'statement') throw outcome.error;
      const sql = list === undefined ? text.sql : statementOf(lists[list]!.steps[step]!).sql;
      if (!failures.has(list)) failures.set(list, statementError(outcome.error, sql));
      // What came behind it was not tried.
      return failures;
    }
    if (must && outcome.changes === 0 && !failures.has(list)) failures.set(list, -1 - step);
  }
  return failures;
}

/** Each list that failed alone, and those between them together. */
function split(part: readonly number[], failures: ReadonlyMap<number | undefined, Result>): number[][] {
  const pieces: number[][] = [];
  let isOpen = false;
  for (const list of part) {
    const alone = failures.has(list);
    if (!alone && isOpen) pieces.at(-1)!.push(list);
    else pieces.push([list]);
    isOpen = !alone;
  }
  return pieces;
}

/** The statements of some lists, in order. Folded, what they add to one row is added up, and stands in front of the next list that adds nothing. */
function planOf(lists: readonly List[], part: readonly number[], isFolded: boolean): readonly Planned[] {
  const plan: Planned[] = [];
  const sums = new Map<Sum, (bigint | number)[]>();
  const pushSums = (): void => {
    for (const [{ sql, params, must }, adds] of sums) {
      plan.push({ ...planned(sql, [...adds, ...params], must), list: undefined, step: 0 });
    }
    sums.clear();
  };
  for (const list of part) {
    const { steps } = lists[list]!;
    if (!steps.some((step) => 'to' in step)) pushSums();
    for (const [step, each] of steps.entries()) {
      if (isFolded && 'to' in each) {
        const sum = sums.get(each.to);
        if (sum === undefined) sums.set(each.to, [...each.adds]);
        else addAmounts(sum, each.adds);
        continue;
      }
      const { sql, params = [], must } = statementOf(each);
      plan.push({ ...planned(sql, params, must), list, step });
    }
  }
  pushSums();
  return plan;
}

/** Texts that were understood; beyond, they start over. */
const KEPT = 2_000;
const texts = new Map<string, Text>();

/** A statement as the server reads it. Throws for what may not be in a list. */
export function textOf(sql: string): Text {
  const known = texts.get(sql);
  if (known !== undefined) return known;
  if (texts.size >= KEPT) texts.clear();
  const text = readText(sql);
  texts.set(sql, text);
  return text;
}

function planned(sql: string, params: readonly Value[], must: string | undefined): Omit<Planned, 'list' | 'step'> {
  return { text: textOf(sql), params, must: must !== undefined };
}
