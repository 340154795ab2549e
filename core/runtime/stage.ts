/**
 * The stage: what arrives in one turn of the event loop is worked on together, one phase for all calls before the next one, and sockets are written
 * to last. A call runs through more machine code than a processor's caches hold; in a row, only the first call of a turn meets it cold.
 * Measured: `scripts/bench/README.md`.
 *
 * Event handlers only queue. What has to wait for something else leaves its turn, and is queued again in the phase for which it is ready.
 */
import { holdClock, releaseClock } from '../clock.ts';

/** The phases of a turn, in their order. */
const PHASES = ['settled', 'heads', 'bodies', 'targets', 'answers', 'books', 'store', 'writes'] as const;

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

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(item: T): void {
    this.#waiting.push(item);
    schedule();
  }

  /** Performs everything that was added before. What an item throws is unexpected, and thrown again where nothing else is kept from its turn. */
  run(): void {
    const items = this.#waiting;
    this.#waiting = [];
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

const queues: (readonly Pick<PhaseQueue<unknown>, 'isEmpty' | 'run'>[])[] = PHASES.map(() => []);
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
  for (const phase of queues) for (const queue of phase) if (!queue.isEmpty) queue.run();
  releaseClock();
  isRunning = false;
  // Something was added to a phase that was over.
  if (queues.some((phase) => phase.some(({ isEmpty }) => !isEmpty))) schedule();
}

/** Something to write to a socket. */
export interface Write {
  flush(): void;
}

/** Writes at the end of the turn, in the order of their addition. */
export const writes: Queue<Write> = queueOf('writes', (each) => each.flush());
