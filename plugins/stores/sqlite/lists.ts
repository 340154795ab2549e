/**
 * The lists that wait for the writing thread. One batch is under way at a time; what comes in the meantime is the next one, and what its
 * lists add to one row is added up before it goes.
 */
import type { Step, Sum, Value } from '../../../core/plugin.ts';
import { StoreUnavailable, statementOf } from '../../../core/plugin.ts';
import { addAmounts, checkedValue } from '../../../core/sdk.ts';
import { type Answers, type Batch, FOLDED, OF_FOLDS, type StepError } from './wire.ts';

/** Beyond either, new lists are refused: whoever asks for more is better told so at once. */
const MOST_WAITING = 10_000;
const LONGEST_WAIT_MS = 2_000;
/** As many lists as one commit takes along: more would only make the first of them wait. */
const MOST_IN_BATCH = 1_024;
/** Texts the writing thread keeps prepared; later ones are sent and prepared each time. */
const MOST_TEXTS = 1_000;

export interface Lists {
  /** Rows changed by a list of one step. */
  run(step: Step): Promise<number>;
  /** The `must` that failed, or undefined. Rejects with the step's error, or with `StoreUnavailable`. */
  atomic(steps: readonly Step[], durable: boolean): Promise<string | undefined>;
  /** What came of lists of the batch that is under way. */
  answer(answers: Answers): void;
  /** All of the batch has been answered: the next one may go. */
  done(): void;
  /** The batch left nothing behind, for one list in it went wrong: it goes again, and nothing in it is added up. */
  again(): void;
  /** None of what is left of the batch was written. */
  failed(error: Error): void;
  /** Rejects all that wait and all that come, for good. */
  end(error: StoreUnavailable): void;
  /** Takes no more lists and resolves when those that wait are answered. */
  drain(): Promise<void>;
  pressure(): { readonly waiting: number; readonly oldestMs: number };
}

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

/** `send` gets a batch when the one before has been answered; `mono` is a clock that only grows. */
export function createLists(send: (batch: Batch) => void, mono: () => number = () => performance.now()): Lists {
  /** Lists that were not sent yet, in their order. */
  let coming: Waiting[] = [];
  /** Those under way; undefined where one has been answered. */
  let sent: (Waiting | undefined)[] = [];
  /** The first under way that has not been answered, and how many have not, of all. */
  let first = 0;
  let size = 0;
  let isUnderWay = false;
  let isScheduled = false;

  const known = new Map<string, number>();
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
    // What comes together in one turn of the event loop goes together.
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    if (isUnderWay || coming.length === 0) return;
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

  function done(): void {
    isUnderWay = false;
    sent = [];
    first = 0;
    flush();
    if (size === 0) drained?.();
  }

  return {
    run: (step) =>
      new Promise<number>((resolve, reject) => add([step], true, tellChanges, resolve as Waiting['resolve'], reject)),
    atomic: (steps, durable) =>
      new Promise<string | undefined>((resolve, reject) =>
        add(steps, durable, tellRefusal, resolve as Waiting['resolve'], reject),
      ),
    answer(answers) {
      for (let i = 0; i < answers.length; i += 2) {
        const list = take(answers[i] as number);
        const result = answers[i + 1]!;
        if (list === undefined) continue;
        if (typeof result === 'number') list.answered(list, result);
        else list.reject(statementError(result, list.steps));
      }
    },
    done,
    again: () => send(encode(sent, known, false)),
    failed(error) {
      rejectSent(error);
      done();
    },
    end(error) {
      ended ??= error;
      rejectSent(error);
      for (const list of coming.splice(0)) {
        size--;
        list.reject(error);
      }
      if (size === 0) drained?.();
    },
    drain() {
      ended ??= new StoreUnavailable('the store is closed');
      return new Promise((resolve) => {
        drained = resolve;
        if (size === 0) resolve();
      });
    },
    pressure: () => ({ waiting: size, oldestMs: oldestMs(mono()) }),
  };
}

/** What the writing thread reads; `known` are the texts that it was told. Where `fold` is set, additions to one row are added up. */
function encode(waiting: readonly (Waiting | undefined)[], known: Map<string, number>, fold: boolean): Batch {
  const texts: string[] = [];
  const lists: (Value | undefined)[] = [];
  const sums = new Map<Sum, (bigint | number)[]>();

  function push(sql: string, must: string | undefined, ...params: readonly (readonly Value[])[]): void {
    let name = known.get(sql);
    if (name === undefined && known.size < MOST_TEXTS) {
      name = known.size;
      texts.push(sql);
      known.set(sql, name);
    }
    const at = lists.push(name ?? sql, 0);
    for (const some of params) for (let i = 0; i < some.length; i++) lists.push(checkedValue(some[i]!));
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
    // It may read or change what the lists before it have added.
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

/** Throws where a value cannot be stored: it is told to who handed the list in, and the lists of others go on. */
function checked(steps: readonly Step[]): readonly Step[] {
  for (const step of steps) {
    const values = 'to' in step ? step.adds : (step.params ?? []);
    for (let i = 0; i < values.length; i++) checkedValue(values[i]!);
    if ('to' in step) for (const value of step.to.params) checkedValue(value);
  }
  return steps;
}

/** What was wrong and in which statement; its parameters stay out of it. */
function statementError({ message, code, step: index }: StepError, steps: readonly Step[]): Error {
  return Object.assign(new Error(`${message}, in: ${statementOf(steps[index]!).sql}`), { code });
}
