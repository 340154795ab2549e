/**
 * The lists that wait for the writing thread. One batch runs at a time; lists that arrive in the meantime form the next one, and their additions to
 * the same row are added up before it is sent.
 */
import {
  type Statement,
  type Step,
  StoreUnavailable,
  type Sum,
  statementOf,
  type Value,
} from '../../../core/plugin.ts';
import { addAmounts, checkedValue, type Queue, queueOf } from '../../../core/sdk.ts';
import { type Answers, type Batch, FOLDED, OF_FOLDS, QUERY, type StepError } from './wire.ts';

/** Beyond either, new lists are refused, so that callers learn of the overload at once. */
const MOST_WAITING = 10_000;
const LONGEST_WAIT_MS = 2_000;
/** A batch of this many lists of one turn waits for those of the next one, unless it has enough: they share a commit. */
const BUSY = 8;
const ENOUGH = 64;
/** Lists per commit; more would only delay the first ones. */
const MOST_IN_BATCH = 1_024;
/** Sums that the writing thread keeps; then it forgets all of them. */
const MOST_SUMS = 20_000;
/** Statements that the writing thread keeps prepared; further ones are sent and prepared each time. */
const MOST_TEXTS = 1_000;

interface Waiting {
  readonly steps: readonly Step[];
  readonly durable: boolean;
  readonly sinceMs: number;
  /** It is the text of a query. */
  readonly isQuery: boolean;
  /** `result`: rows changed by the last step, or `-1 - step` of the failed `must`. */
  readonly answered: (list: Waiting, result: number) => void;
  resolve(answer: number | string | undefined): void;
  reject(error: Error): void;
}

function tellChanges({ resolve }: Waiting, result: number): void {
  resolve(result);
}

function tellRefusal({ steps, resolve }: Waiting, result: number): void {
  resolve(result < 0 ? statementOf(steps[-1 - result]!).must : undefined);
}

const batches: Queue<() => void> = queueOf('store', (flush) => flush());

/** `send` is called with a batch after the previous one was answered; `mono` is a monotonic clock. */
export function createLists(send: (batch: Batch) => void, mono: () => number = () => performance.now()) {
  /** Lists that were not sent yet, in order. */
  let coming: Waiting[] = [];
  /** Lists of the running batch; undefined once answered. */
  let sent: (Waiting | undefined)[] = [];
  /** The first unanswered list of the running batch, and the number of unanswered ones. */
  let first = 0;
  let size = 0;
  let isUnderWay = false;
  let isScheduled = false;
  /** The next batch has waited for one turn. */
  let hasWaited = false;

  const known: Known = { statements: new Map(), sums: new Map(), targets: new Set(), harmless: new Set() };
  let ended: StoreUnavailable | undefined;
  let drained: (() => void) | undefined;

  /** Of the text of a query that is made afterwards. Before the next batch, which may add to a table that it reads. */
  function tellQuery({ steps, resolve }: Waiting, result: number): void {
    if (result === 0) {
      if (known.harmless.size >= MOST_TEXTS) known.harmless.clear();
      known.harmless.add(statementOf(steps[0]!).sql);
    }
    resolve(result);
  }

  function oldestMs(nowMs: number): number {
    const oldest = first < sent.length ? sent[first] : coming[0];
    return oldest === undefined ? 0 : nowMs - oldest.sinceMs;
  }

  function add(
    steps: readonly Step[],
    durable: boolean,
    answered: Waiting['answered'],
    resolve: Waiting['resolve'],
    reject: Waiting['reject'],
  ): void {
    if (ended) throw ended;
    const nowMs = mono();
    const isQuery = answered === tellQuery;
    // A query without it would see less than lists that were answered.
    if (!isQuery && (size >= MOST_WAITING || oldestMs(nowMs) > LONGEST_WAIT_MS)) {
      throw new StoreUnavailable(`the store is behind: ${size} lists wait`);
    }
    coming.push({
      steps: checked(steps, known),
      durable,
      sinceMs: nowMs,
      isQuery,
      answered,
      resolve,
      reject,
    });
    size++;
    if (isUnderWay || isScheduled) return;
    isScheduled = true;
    // Lists of one turn of the event loop go into one batch.
    batches.add(flush);
  }

  function flush(): void {
    isScheduled = false;
    if (isUnderWay || coming.length === 0) return;
    if (!hasWaited && coming.length >= BUSY && coming.length < ENOUGH) {
      hasWaited = true;
      isScheduled = true;
      batches.add(flush);
      return;
    }
    hasWaited = false;
    sent = coming.length <= MOST_IN_BATCH ? coming : coming.slice(0, MOST_IN_BATCH);
    coming = coming.length <= MOST_IN_BATCH ? [] : coming.slice(MOST_IN_BATCH);
    first = 0;
    isUnderWay = true;
    send(encode(sent, known, true));
  }

  function take(number: number): Waiting | undefined {
    const list = sent[number];
    if (list === undefined) return undefined;
    sent[number] = undefined;
    size--;
    while (first < sent.length && sent[first] === undefined) first++;
    return list;
  }

  function rejectSent(error: Error): void {
    for (let number = 0; number < sent.length; number++) take(number)?.reject(error);
  }

  function next(): void {
    isUnderWay = false;
    sent = [];
    first = 0;
    flush();
    if (size === 0) drained?.();
  }

  return {
    /** Runs a list of one step; returns the changed rows. */
    run: (step: Step): Promise<number> =>
      new Promise<number>((resolve, reject) => add([step], true, tellChanges, resolve as Waiting['resolve'], reject)),
    /** Runs a list; returns the `must` that failed, or undefined. Rejects with the step's error, or with `StoreUnavailable`. */
    atomic: (steps: readonly Step[], durable: boolean): Promise<string | undefined> =>
      new Promise<string | undefined>((resolve, reject) =>
        add(steps, durable, tellRefusal, resolve as Waiting['resolve'], reject),
      ),
    /** Whether a query is known to read nothing that lists add to. */
    isHarmless: (query: string): boolean => known.harmless.has(query),
    /** Resolves when a query sees what all lists that were answered have added. */
    before: (query: string): Promise<unknown> =>
      new Promise((resolve, reject) => add([{ sql: query }], true, tellQuery, resolve, reject)),
    /** Handles results of the running batch. */
    answer(answers: Answers): void {
      for (let i = 0; i < answers.length; i += 2) {
        const list = take(answers[i] as number);
        const result = answers[i + 1]!;
        if (list === undefined) continue;
        if (typeof result === 'number') list.answered(list, result);
        else list.reject(statementError(result, list.steps));
      }
    },
    /** All lists of the batch were answered: sends the next batch. */
    done: next,
    /** A list in the batch failed and everything was rolled back: sends it again without folds. */
    again: (): void => send(encode(sent, known, false)),
    /** No unanswered list of the batch was written. */
    failed(error: Error): void {
      rejectSent(error);
      next();
    },
    /** Permanently rejects waiting and new lists. */
    end(error: StoreUnavailable): void {
      ended ??= error;
      rejectSent(error);
      for (const list of coming.splice(0)) {
        size--;
        list.reject(error);
      }
      if (size === 0) drained?.();
    },
    /** Rejects new lists, and resolves when waiting ones are answered. */
    drain(): Promise<void> {
      ended ??= new StoreUnavailable('the store is closed');
      return new Promise((resolve) => {
        drained = resolve;
        if (size === 0) resolve();
      });
    },
    pressure: (): { readonly waiting: number; readonly oldestMs: number } => ({
      waiting: size,
      oldestMs: oldestMs(mono()),
    }),
  };
}

/** What the writing thread already has. */
interface Known {
  /** The indexes of statements. */
  readonly statements: Map<string, number>;
  /** The indexes of sums. */
  readonly sums: Map<Sum, number>;
  /** The texts of sums. */
  readonly targets: Set<string>;
  /** Queries that read no table that sums are added to. */
  readonly harmless: Set<string>;
}

/** Encodes a batch for the writing thread. With `fold`, additions to one row are added up. */
function encode(waiting: readonly (Waiting | undefined)[], known: Known, fold: boolean): Batch {
  const { statements, sums, targets, harmless } = known;
  const texts: string[] = [];
  const newSums: (Value | undefined)[][] = [];
  const lists: (Value | undefined)[] = [];
  const added = new Map<Sum, (bigint | number)[]>();
  const forget = sums.size >= MOST_SUMS;
  if (forget) sums.clear();

  function nameOf(sql: string): number | string {
    let name = statements.get(sql);
    // It may make a view of a table that sums are added to.
    if (name === undefined && /\bview\b/i.test(sql)) harmless.clear();
    if (name === undefined && statements.size < MOST_TEXTS) {
      name = statements.size;
      texts.push(sql);
      statements.set(sql, name);
    }
    return name ?? sql;
  }

  function push({ sql, must, params = [] }: Statement): void {
    lists.push(nameOf(sql), params.length * 2 + (must === undefined ? 0 : 1));
    for (let i = 0; i < params.length; i++) {
      const value = params[i]!;
      // They were checked when they were added; only a view has to be copied.
      lists.push(typeof value === 'object' ? checkedValue(value) : value);
    }
  }

  function numberOf(sum: Sum): number {
    let number = sums.get(sum);
    if (number === undefined) {
      number = sums.size;
      sums.set(sum, number);
      if (!targets.has(sum.sql)) {
        targets.add(sum.sql);
        harmless.clear();
      }
      newSums.push([
        nameOf(sum.sql),
        sum.must === undefined ? 0 : sum.isFence ? 2 : 1,
        ...sum.params.map(checkedValue),
      ]);
    }
    return number;
  }

  function pushSums(): void {
    if (added.size === 0) return;
    const start = lists.push(OF_FOLDS, 0, 0) - 3;
    for (const [sum, adds] of added) {
      lists.push(numberOf(sum), adds.length);
      for (let i = 0; i < adds.length; i++) lists.push(adds[i]);
    }
    lists[start + 1] = lists.length;
    added.clear();
  }

  waiting.forEach((list, number) => {
    if (list === undefined) return;
    const { steps, durable, isQuery } = list;
    const isFolded = fold && (steps.length === 0 || hasAdditions(steps));
    // This step may read or change what earlier lists have added.
    if (!isFolded) pushSums();
    const start = lists.push(number, 0, (durable ? 1 : 0) + (isFolded ? FOLDED : 0) + (isQuery ? QUERY : 0)) - 3;
    if (isQuery) lists.push(statementOf(steps[0]!).sql);
    else
      for (const step of steps) {
        if (isFolded && 'to' in step) addUp(added, step.to, step.adds);
        else push(statementOf(step));
      }
    lists[start + 1] = lists.length;
  });
  pushSums();
  return { texts, sums: newSums, forget, lists, count: waiting.length };
}

function hasAdditions(steps: readonly Step[]): boolean {
  for (let i = 0; i < steps.length; i++) if ('to' in steps[i]!) return true;
  return false;
}

function addUp(sums: Map<Sum, (bigint | number)[]>, to: Sum, adds: readonly (bigint | number)[]): void {
  const sum = sums.get(to);
  if (sum === undefined) sums.set(to, [...adds]);
  else addAmounts(sum, adds);
}

/** Throws for a value that cannot be stored: the list's caller gets the error, and other lists are not affected. */
function checked(steps: readonly Step[], { sums }: Known): readonly Step[] {
  for (const step of steps) {
    const values = 'to' in step ? step.adds : (step.params ?? []);
    for (let i = 0; i < values.length; i++) checkedValue(values[i]!);
    if (!('to' in step)) continue;
    // They are summed up, which only integers can be exactly.
    for (const amount of step.adds) {
      if (typeof amount === 'number' && !Number.isSafeInteger(amount)) throw new TypeError(`${amount} cannot be added`);
    }
    if (!sums.has(step.to)) for (const value of step.to.params) checkedValue(value);
  }
  return steps;
}

/** The error and its statement, without parameters. */
function statementError({ message, code, step: index }: StepError, steps: readonly Step[]): Error {
  return Object.assign(new Error(`${message}, in: ${statementOf(steps[index]!).sql}`), { code });
}
