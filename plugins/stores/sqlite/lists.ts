/** The lists that wait for the writing thread: collected for one turn of the event loop, sent together, answered one by one. */
import type { Step, Value } from '../../../core/plugin.ts';
import { StoreUnavailable } from '../../../core/plugin.ts';
import { checkedValue } from './values.ts';
import type { Answers, Parcel, StepError } from './wire.ts';

/** Beyond either, new lists are refused: whoever asks for more is better told so at once. */
const MOST_WAITING = 10_000;
const LONGEST_WAIT_MS = 2_000;
/** Texts the writing thread keeps prepared; later ones are sent and prepared each time. */
const MOST_TEXTS = 1_000;

export interface Lists {
  /** Rows changed by a list of one step. */
  run(step: Step): Promise<number>;
  /** The `must` that failed, or undefined. Rejects with the step's error, or with `StoreUnavailable`. */
  atomic(steps: readonly Step[], durable: boolean): Promise<string | undefined>;
  answer(answers: Answers): void;
  /** Rejects these lists. */
  reject(numbers: readonly number[], error: Error): void;
  /** Rejects all that wait and all that come, for good. */
  end(error: StoreUnavailable): void;
  /** Takes no more lists and resolves when those that wait are answered. */
  drain(): Promise<void>;
  pressure(): { readonly waiting: number; readonly oldestMs: number };
}

interface Waiting {
  readonly steps: readonly Step[];
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
  resolve(result < 0 ? steps[-1 - result]!.must : undefined);
}

/** Answered lists at the front that are worth copying the rest for. */
const COMPACT_FROM = 1_000;

/** `send` gets what came together in one turn; `mono` is a clock that only grows. */
export function createLists(send: (parcel: Parcel) => void, mono: () => number = () => performance.now()): Lists {
  /**
   * The list number `base` and all behind it, in their order; undefined where one has been answered. No `Map`, for the same
   * reason as the gateway's rolls (`core/roll.ts`).
   */
  let waiting: (Waiting | undefined)[] = [];
  let base = 0;
  /** The place of the oldest that waits, and how many do. */
  let oldest = 0;
  let size = 0;

  const known = new Map<string, number>();
  let texts: string[] = [];
  let lists: (Value | undefined)[] = [];
  let count = 0;

  let ended: StoreUnavailable | undefined;
  let drained: (() => void) | undefined;

  function flush(): void {
    const parcel = { texts, lists, count };
    texts = [];
    lists = [];
    count = 0;
    send(parcel);
  }

  function name(sql: string): number | string {
    const index = known.get(sql);
    if (index !== undefined) return index;
    if (known.size >= MOST_TEXTS) return sql;
    texts.push(sql);
    known.set(sql, known.size);
    return known.size - 1;
  }

  function oldestMs(nowMs: number): number {
    return size === 0 ? 0 : nowMs - waiting[oldest]!.sinceMs;
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
    const start = lists.length;
    try {
      lists.push(base + waiting.length, 0, durable ? 1 : 0);
      for (const { sql, params, must } of steps) {
        const length = params === undefined ? 0 : params.length;
        lists.push(name(sql), length * 2 + (must === undefined ? 0 : 1));
        for (let i = 0; i < length; i++) lists.push(checkedValue(params![i]!));
      }
    } catch (error) {
      lists.length = start;
      throw error;
    }
    lists[start + 1] = lists.length;
    if (count++ === 0) setImmediate(flush);
    waiting.push({ steps, sinceMs: nowMs, answered, resolve, reject });
    size++;
  }

  function take(number: number): Waiting | undefined {
    const list = waiting[number - base];
    if (list === undefined) return undefined;
    waiting[number - base] = undefined;
    size--;
    while (oldest < waiting.length && waiting[oldest] === undefined) oldest++;
    if (oldest === waiting.length || (oldest >= COMPACT_FROM && oldest * 2 >= waiting.length)) {
      waiting = waiting.slice(oldest);
      base += oldest;
      oldest = 0;
    }
    return list;
  }

  function settled(): void {
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
      settled();
    },
    reject(numbers, error) {
      for (const number of numbers) take(number)?.reject(error);
      settled();
    },
    end(error) {
      ended ??= error;
      while (size > 0) take(base + oldest)?.reject(error);
      settled();
    },
    drain() {
      ended ??= new StoreUnavailable('the store is closed');
      return new Promise((resolve) => {
        drained = resolve;
        settled();
      });
    },
    pressure: () => ({ waiting: size, oldestMs: oldestMs(mono()) }),
  };
}

/** What was wrong and in which statement; its parameters stay out of it. */
function statementError({ message, code, step }: StepError, steps: readonly Step[]): Error {
  return Object.assign(new Error(`${message}, in: ${steps[step]?.sql}`), { code });
}
