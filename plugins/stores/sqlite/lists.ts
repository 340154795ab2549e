/**
 * The lists that wait for the writing thread. One batch runs at a time; lists that arrive in the meantime form the next one, and their additions to
 * the same row are added up before it is sent.
 */
import { type Step, StoreUnavailable, type Sum, statementOf, type Value } from '../../../core/plugin.ts';
import { addAmounts, checkedValue, type Queue, queueOf } from '../../../core/sdk.ts';
import { type Answers, type Batch, FOLDED, OF_FOLDS, type StepError } from './wire.ts';

/** Beyond either, new lists are refused, so that callers learn of the overload at once. */
const MOST_WAITING = 10_000;
const LONGEST_WAIT_MS = 2_000;
/** A batch of this many lists of one turn waits for those of the next one, unless it has enough: they share a commit. */
const BUSY = 8;
const ENOUGH = 64;
/** Lists per commit; more would only delay the first ones. */
const MOST_IN_BATCH = 1_024;
/** Statements that the writing thread keeps prepared; further ones are sent and prepared each time. */
const MOST_TEXTS = 1_000;

interface Waiting {
  readonly steps: readonly Step[];
  readonly durable: boolean;
  readonly sinceMs: number;
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

  const statements = new Map<string, number>();
  let ended: StoreUnavailable | undefined;
  let drained: (() => void) | undefined;

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
    if (size >= MOST_WAITING || oldestMs(nowMs) > LONGEST_WAIT_MS) {
      throw new StoreUnavailable(`the store is behind: ${size} lists wait`);
    }
    coming.push({ steps: checked(steps), durable, sinceMs: nowMs, answered, resolve, reject });
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
    send(encode(sent, statements, true));
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

  function done(): void {
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
    done,
    /** A list in the batch failed and everything was rolled back: sends it again without folds. */
    again: (): void => send(encode(sent, statements, false)),
    /** No unanswered list of the batch was written. */
    failed(error: Error): void {
      rejectSent(error);
      done();
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

/** Encodes a batch for the writing thread; `known` are the statements it already has. With `fold`, additions to one row are added up. */
function encode(waiting: readonly (Waiting | undefined)[], statements: Map<string, number>, fold: boolean): Batch {
  const texts: string[] = [];
  const lists: (Value | undefined)[] = [];
  const sums = new Map<Sum, (bigint | number)[]>();

  function push(sql: string, must: string | undefined, ...params: readonly (readonly Value[])[]): void {
    let name = statements.get(sql);
    if (name === undefined && statements.size < MOST_TEXTS) {
      name = statements.size;
      texts.push(sql);
      statements.set(sql, name);
    }
    const at = lists.push(name ?? sql, 0);
    for (const column of params) {
      for (let i = 0; i < column.length; i++) {
        const value = column[i]!;
        // They were checked when they were added; only a view has to be copied.
        lists.push(typeof value === 'object' ? checkedValue(value) : value);
      }
    }
    lists[at - 1] = (lists.length - at) * 2 + (must === undefined ? 0 : 1);
  }

  function pushSums(): void {
    if (sums.size === 0) return;
    const start = lists.push(OF_FOLDS, 0, 0) - 3;
    for (const [{ sql, params, must }, adds] of sums) push(sql, must, adds, params);
    lists[start + 1] = lists.length;
    sums.clear();
  }

  waiting.forEach((list, number) => {
    if (list === undefined) return;
    const { steps, durable } = list;
    const isFolded = fold && steps.some((step) => 'to' in step);
    // This step may read or change what earlier lists have added.
    if (!isFolded) pushSums();
    const start = lists.push(number, 0, (durable ? 1 : 0) + (isFolded ? FOLDED : 0)) - 3;
    for (const step of steps) {
      if (isFolded && 'to' in step) {
        addUp(sums, step.to, step.adds);
        continue;
      }
      const { sql, must, params = [] } = statementOf(step);
      push(sql, must, params);
    }
    lists[start + 1] = lists.length;
  });
  pushSums();
  return { texts, lists, count: waiting.length };
}

function addUp(sums: Map<Sum, (bigint | number)[]>, to: Sum, adds: readonly (bigint | number)[]): void {
  const sum = sums.get(to);
  if (sum === undefined) {
    sums.set(to, [...adds]);
    return;
  }
  addAmounts(sum, adds);
}

/** Throws for a value that cannot be stored: the list's caller gets the error, and other lists are not affected. */
function checked(steps: readonly Step[]): readonly Step[] {
  for (const step of steps) {
    const values = 'to' in step ? step.adds : (step.params ?? []);
    for (let i = 0; i < values.length; i++) checkedValue(values[i]!);
    if ('to' in step) for (const value of step.to.params) checkedValue(value);
  }
  return steps;
}

/** The error and its statement, without parameters. */
function statementError({ message, code, step: index }: StepError, steps: readonly Step[]): Error {
  return Object.assign(new Error(`${message}, in: ${statementOf(steps[index]!).sql}`), { code });
}
