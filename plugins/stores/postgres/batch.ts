/**
 * Runs many lists in one transaction: each is atomic, and one commit serves all. All statements are sent at once. If a list fails, the
 * lists that ran with it are rolled back and run again without it.
 */
import type pg from 'pg';
import { type Step, type Sum, statementOf, type Value } from '../../../core/plugin.ts';
import { addAmounts } from '../../../core/sdk.ts';
import { bound } from './connection.ts';
import { perStatement, readText } from './dialect.ts';
import { kindOf, statementError } from './errors.ts';
import { type Ran, runStatements, type Statement } from './pipeline.ts';
import { LOCKS } from './tables.ts';

/** How long a change of a table waits for its readers. */
const DEFINITION_WAIT_MS = 1_000;

/** The lists, as the caller passed them. */
export interface List {
  readonly steps: readonly Step[];
  /** The list is answered after the commit. */
  readonly durable: boolean;
}

/** Rows changed by the last step, or `-1 - step` of the failed `must`, or the error of a statement; a failed list leaves no trace. */
export type Result = number | Error;

/** The other processes removed this process (this opening of the store): it may not write any more. */
export class GivenUp extends Error {}

/** Events of a running batch. */
export interface Progress {
  /** The lists have run, and nothing is durable yet. */
  ran(results: readonly Result[]): void;
  /** The commit is about to be sent: if the connection is lost from now on, its outcome is unknown. */
  committing(): void;
}

/** A statement of a part. */
interface Planned extends Statement {
  readonly isDefinition: boolean;
  readonly must: boolean;
  /** The index of its list in the batch; undefined: added-up amounts of several lists. */
  readonly list: number | undefined;
  readonly step: number;
}

/**
 * Runs the lists and commits. `writer` names the row that allows this process to write, `number` is the row's new value. Throws `GivenUp`,
 * or an error of the connection or the server; then nothing was written, unless the commit was sent.
 */
export async function runBatch(
  client: pg.Client,
  lists: readonly List[],
  { writer, number }: { readonly writer: string; readonly number: number },
  { ran, committing }: Progress,
): Promise<readonly Result[]> {
  const results: Result[] = new Array(lists.length).fill(0);
  /** Statements to be sent before the next ones. */
  let ahead: readonly Statement[] = [
    control('BEGIN ISOLATION LEVEL READ COMMITTED'),
    { sql: 'SELECT pg_advisory_xact_lock($1, $2)', params: LOCKS.writing },
    { sql: ENTER, params: [writer, number] },
  ];
  let hasEntered = false;

  /** Runs lists after a savepoint. */
  async function attempt(part: readonly number[], isFolded: boolean): Promise<void> {
    const plan = planOf(lists, part, isFolded);
    const before = [...ahead, SAVE];
    const ran = await runPlan(client, before, plan, hasEntered ? () => {} : entered);
    hasEntered = true;
    const failures = failuresOf(plan, ran, lists);
    if (failures.size === 0) {
      plan.forEach(({ list }, i) => {
        if (list !== undefined) results[list] = ran.changes[i]!;
      });
      ahead = [RELEASE];
      return;
    }
    ahead = [BACK, RELEASE];
    // A sum does not show which of its lists failed.
    if (failures.has(undefined)) return attempt(part, false);
    if (part.length === 1) {
      results[part[0]!] = failures.get(part[0]!)!;
      return;
    }
    for (const piece of split(part, failures)) await attempt(piece, isFolded);
  }

  try {
    await attempt([...lists.keys()], true);
    // A commit releases savepoints.
    if (ahead.includes(BACK)) await run(client, [BACK]);
    ran(results);
    committing();
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT') throw new Error('the server rolled back the transaction');
    return results;
  } catch (error) {
    if (error instanceof GivenUp || kindOf(error) !== 'lost') await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

const control = (sql: string): Statement => ({ sql, params: [] });
const SAVE = control('SAVEPOINT part');
const BACK = control('ROLLBACK TO part');
const RELEASE = control('RELEASE part');

const ENTER = 'UPDATE store_writer SET batch = $2, at_ms = store_now() WHERE name = $1';

/** Throws unless the first statements of a batch succeeded: they take the write lock, and check that this process may write. */
function entered({ changes, error }: Ran): void {
  if (changes.length < 3) throw notEntered(error);
  if (changes[2] === 0)
    throw new GivenUp('the other processes removed this process, because it did not renew its lease in time');
}

/**
 * Runs the pending statements, then the plan; returns the results of the plan, and passes all results to `look`. Throws if the pending
 * statements fail.
 */
async function runPlan(
  client: pg.Client,
  before: readonly Statement[],
  plan: readonly Planned[],
  look: (ran: Ran) => void,
): Promise<Ran> {
  const isDefinition = plan.some((planned) => planned.isDefinition);
  const ran = await runStatements(client, isDefinition ? before : [...before, ...plan]);
  look(ran);
  if (ran.changes.length < before.length) throw ran.error;
  if (isDefinition) return define(client, plan);
  return { changes: ran.changes.slice(before.length), error: ran.error };
}

/** Runs statements one after the other if some define tables: a definition may be several statements, which cannot be prepared together. */
async function define(client: pg.Client, plan: readonly Planned[]): Promise<Ran> {
  const changes: number[] = [];
  try {
    await client.query('SET LOCAL statement_timeout = 0');
    // While it waits for a long read of its table, such as a dump, no process can write.
    await client.query(`SET LOCAL lock_timeout = ${DEFINITION_WAIT_MS}`);
    for (const { sql, isDefinition, params } of plan) {
      const { rowCount } = await client.query(isDefinition ? sql : { text: sql, values: params.map(bound) });
      changes.push(rowCount ?? 0);
    }
    return { changes, error: undefined };
  } catch (error) {
    return { changes, error };
  }
}

async function run(client: pg.Client, statements: readonly Statement[]): Promise<void> {
  const { error } = await runStatements(client, statements);
  if (error !== undefined) throw error;
}

/** If an error prevented the batch from starting, it concerns no list. */
function notEntered(error: unknown): unknown {
  if (kindOf(error) !== 'statement') return error;
  const reason = error instanceof Error ? error.message : String(error);
  return Object.assign(new Error(`another process prevents writing: ${reason}`), { code: '55P03' });
}

/** The failed lists and their errors; undefined stands for a sum of several lists. Throws if the whole transaction failed. */
function failuresOf(
  plan: readonly Planned[],
  { changes, error }: Ran,
  lists: readonly List[],
): Map<number | undefined, Result> {
  const failures = new Map<number | undefined, Result>();
  for (let i = 0; i < changes.length; i++) {
    const { list, step, must } = plan[i]!;
    if (must && changes[i] === 0 && !failures.has(list)) failures.set(list, -1 - step);
  }
  if (error === undefined) return failures;
  const failed = plan[changes.length];
  if (kindOf(error) !== 'statement' || failed === undefined) throw error;
  const { list, step } = failed;
  const sql = list === undefined ? failed.sql : statementOf(lists[list]!.steps[step]!).sql;
  if (!failures.has(list)) failures.set(list, statementError(error, sql));
  return failures;
}

/** Runs each failed list alone, and those between them together. */
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

/** The statements of lists, in order. With folds, additions to one row are added up and moved before the next list without additions. */
function planOf(lists: readonly List[], part: readonly number[], isFolded: boolean): readonly Planned[] {
  const plan: Planned[] = [];
  const sums = new Map<Sum, (bigint | number)[]>();
  const pushSums = (): void => {
    for (const [{ sql, params, must }, adds] of sums) {
      plan.push(planned(sql, [...adds, ...params], must, undefined, 0));
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
      plan.push(planned(sql, params, must, list, step));
    }
  }
  pushSums();
  return plan;
}

/** Parses a statement. Throws for statements that a list may not contain. */
export const textOf = perStatement(readText);

function planned(
  text: string,
  params: readonly Value[],
  must: string | undefined,
  list: number | undefined,
  step: number,
): Planned {
  const { sql, isDefinition } = textOf(text);
  return { sql, isDefinition, params, must: must !== undefined, list, step };
}
