/**
 * The stage: what arrives in one turn of the event loop is worked on together, one phase for several calls before the next one, and sockets are written
 * to last. A call runs through more machine code than a processor's caches hold; in a row, only the first one meets it cold. A burst is worked on in
 * parts, so that no call waits for the work of all others before its request leaves. Measured: `scripts/bench/README.md`.
 *
 * Event handlers only queue. What has to wait for something else leaves its turn, and is queued again in the phase for which it is ready.
 */
import { holdClock, releaseClock } from './clock.ts';

/** The phases of a turn, in their order. */
const PHASES = ['settled', 'heads', 'bodies', 'targets', 'answers', 'books', 'store', 'writes'] as const;
/** Those whose queues are performed in parts. Books and the store get all of a turn at once, because each of their batches has a cost of its own. */
const IN_PARTS = PHASES.indexOf('books');
const WRITES = PHASES.indexOf('writes');
/** Items of each queue in one part: fewer leave the caches cold, more keep the first ones waiting. */
const PART = 8;

/** A queue of one phase; a phase may have several. */
export interface Queue<T> {
  /** Adds what is ready; it is performed in this turn, unless the phase is over. */
  add(item: T): void;
}

class PhaseQueue<T> implements Queue<T> {
  readonly #perform: (item: T) => void;
  #waiting: T[] = [];

  constructor(perform: (item: T) => void) {
    this.#perform = perform;
  }

  get length(): number {
    return this.#waiting.length;
  }

  add(item: T): void {
    this.#waiting.push(item);
    schedule();
  }

  /**
   * Performs what was added before, at most so many items. What an item throws is unexpected, and thrown again where nothing else is kept from its turn.
   */
  run(most: number): void {
    const waiting = this.#waiting;
    const items = waiting.length > most ? waiting.splice(0, most) : waiting;
    if (items === waiting) this.#waiting = [];
    holdClock();
    for (let i = 0; i < items.length; i++) {
      try {
        this.#perform(items[i]!);
      } catch (error) {
        setImmediate(() => {
          throw error;
        });
      }
    }
  }
}

const queues: (readonly Pick<PhaseQueue<unknown>, 'length' | 'run'>[])[] = PHASES.map(() => []);
let isScheduled = false;
let isRunning = false;

/** Creates a queue; `perform` must catch what its item throws. Queues of one phase run in the order of their creation. */
export function queueOf<T>(phase: (typeof PHASES)[number], perform: (item: T) => void): Queue<T> {
  const queue = new PhaseQueue(perform);
  const at = PHASES.indexOf(phase);
  queues[at] = [...queues[at]!, queue];
  return queue;
}

function schedule(): void {
  if (isScheduled || isRunning) return;
  isScheduled = true;
  // When everything that has arrived was read.
  setImmediate(turn);
}

function turn(): void {
  isScheduled = false;
  isRunning = true;
  // So many as what has arrived needs: what an item adds to an earlier phase waits for the next turn, so that no client can keep this one going.
  for (let parts = Math.ceil(longest() / PART); parts > 0; parts--) {
    run(0, IN_PARTS, PART);
    if (parts > 1) run(WRITES, PHASES.length);
  }
  run(IN_PARTS, PHASES.length);
  releaseClock();
  isRunning = false;
  // Something was added to a phase that was over, or was more than the parts took.
  if (queues.some((phase) => phase.some(({ length }) => length > 0))) schedule();
}

/** Items of the longest queue that is performed in parts. */
function longest(): number {
  let most = 0;
  for (let phase = 0; phase < IN_PARTS; phase++)
    for (const { length } of queues[phase]!) if (length > most) most = length;
  return most;
}

/** Performs phases from one to before another, of each queue at most so many items. */
function run(from: number, to: number, most = Number.POSITIVE_INFINITY): void {
  for (let phase = from; phase < to; phase++) for (const queue of queues[phase]!) if (queue.length > 0) queue.run(most);
}

/** Something to write to a socket. */
export interface Write {
  flush(): void;
}

/** Writes at the end of a part, and of the turn, in the order of their addition. */
export const writes: Queue<Write> = queueOf('writes', (each) => each.flush());
