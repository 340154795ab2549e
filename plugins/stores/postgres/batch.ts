/**
 * Runs many lists in one transaction: each all or none, one commit for all of them. All statements are sent at once; where a list turns out to
 * have failed, what ran with it is undone and runs again without it.
 */
import type pg from 'pg';
import type { Step, Sum, Value } from '../../../core/plugin.ts';
import { statementOf } from '../../../core/plugin.ts';
import { addAmounts } from '../../../core/sdk.ts';
import { bound } from './connection.ts';
import { readText, type Text } from './dialect.ts';
import { kindOf, statementError } from './errors.ts';
import { type Ran, runStatements, type Statement } from './pipeline.ts';
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
interface Planned extends Statement {
  readonly isDefinition: boolean;
  readonly must: boolean;
  /** Whose it is, as a place in the batch; undefined: amounts of several lists, added up. */
  readonly list: number | undefined;
  readonly step: number;
}

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
  /** What goes ahead of the next statements. */
  let ahead: readonly Statement[] = [
    control('BEGIN ISOLATION LEVEL READ COMMITTED'),
    { sql: 'SELECT pg_advisory_xact_lock($1, $2)', params: LOCKS.writing },
    { sql: ENTER, params: [writer, number] },
  ];
  let hasEntered = false;

  /** Runs some lists, with a way back to before them. */
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
    // A commit releases by itself.
    if (ahead.includes(BACK)) await run(client, [BACK]);
    ran(results);
    committing();
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT') throw new Error('the server undid the transaction');
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

/** Throws unless the first statements of a batch have begun it: nobody else writes, and this process may. */
function entered({ changes, error }: Ran): void {
  if (changes.length < 3) throw notEntered(error);
  if (changes[2] === 0) throw new GivenUp('this process was given up for dead by the others');
}

/** Runs what goes ahead of a plan, and the plan. What became of the plan; `look` sees what became of both. Throws where it did not come to the plan. */
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

/** Statements some of which define tables, one after the other: a definition may be several, which cannot be prepared. */
async function define(client: pg.Client, plan: readonly Planned[]): Promise<Ran> {
  const changes: number[] = [];
  try {
    await client.query('SET LOCAL statement_timeout = 0');
    // While it waits for a reader of its table that takes long, such as a dump, no process could write.
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

/** Whatever keeps a batch from its turn is not about any list. */
function notEntered(error: unknown): unknown {
  if (kindOf(error) !== 'statement') return error;
  const reason = error instanceof Error ? error.message : String(error);
  return Object.assign(new Error(`another process keeps it from being written: ${reason}`), { code: '55P03' });
}

/** The lists that failed, and how; undefined among them: a sum of several. Throws where all of the transaction has. */
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
