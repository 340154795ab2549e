/** How many bytes of bodies the gateway holds at a time: in memory and on disk, over all and for each sender. */
import { coreErrors } from './contracts/errors.ts';
import type { GatewayError } from './errors.ts';

/** Bytes that may be held at a time. */
export interface Budget {
  readonly total: number;
  readonly perAccount: number;
}

/** Where the bytes are. */
export type Where = 'memory' | 'disk';

/** Whose they are: an account by its id; where there is none, an address. */
export type Sender = number | string;

/** What one request holds; it grows, and is given back as a whole. */
export interface Holding {
  /** Counts so many bytes more; refuses with 429 where the sender holds too much, with 503 where all do. */
  take(bytes: number): void;
  giveBack(): void;
}

/** What all requests hold, in one place. It outlives a reload, whose budgets count from then on. */
export interface Intake {
  begin(where: Where, sender: Sender, budget: Budget): Holding;
}

/** Makes one in which nothing is held. */
export function createIntake(): Intake {
  const pools = { memory: new Pool('memory'), disk: new Pool('disk') };
  return { begin: (where, sender, budget) => new Held(pools[where], sender, budget) };
}

class Pool {
  readonly where: Where;
  /** Of everybody. */
  held = 0;
  readonly bySender = new Map<Sender, number>();

  constructor(where: Where) {
    this.where = where;
  }
}

class Held implements Holding {
  readonly #pool: Pool;
  readonly #sender: Sender;
  readonly #budget: Budget;
  #bytes = 0;

  constructor(pool: Pool, sender: Sender, budget: Budget) {
    this.#pool = pool;
    this.#sender = sender;
    this.#budget = budget;
  }

  take(bytes: number): void {
    const { where, held, bySender } = this.#pool;
    const { total, perAccount } = this.#budget;
    const before = bySender.get(this.#sender);
    const own = (before ?? 0) + bytes;
    if (own > perAccount) throw tooMuch(where, perAccount);
    // Where all together hold too much, only those are refused who would hold more than an equal share of it.
    const senders = bySender.size + (before === undefined ? 1 : 0);
    if (held + bytes > total && own > total / senders) throw overloaded(where);
    this.#pool.held = held + bytes;
    bySender.set(this.#sender, own);
    this.#bytes += bytes;
  }

  giveBack(): void {
    if (this.#bytes === 0) return;
    const { bySender } = this.#pool;
    const left = bySender.get(this.#sender)! - this.#bytes;
    if (left === 0) bySender.delete(this.#sender);
    else bySender.set(this.#sender, left);
    this.#pool.held -= this.#bytes;
    this.#bytes = 0;
  }
}

function tooMuch(where: Where, perAccount: number): GatewayError {
  return coreErrors.concurrency_limit_exceeded(
    `The bodies of this account's running requests may be ${perAccount} bytes together ` +
      `(listen.body.inFlight.${where}.perAccount). Try again when one has ended.`,
  );
}

function overloaded(where: Where): GatewayError {
  return coreErrors.overloaded(
    `The gateway has as many bodies to hold as it may at the moment (listen.body.inFlight.${where}.total).`,
  );
}
