/** Budgets for bytes of bodies in memory and on disk, in total and per account. */
import type { Budget, Where } from '../config/core-sections.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';

/** The owner: an account id; before authentication, an address. */
export type Sender = number | string;

/** The bytes of one request; they grow and are released together. */
export interface Holding {
  /** Counts more bytes; refuses with 429 if the owner exceeds its limit, with 503 if the total is exceeded. */
  take(bytes: number): void;
  giveBack(): void;
}

/** The bytes of all requests in one storage. It survives a reload, whose new limits apply from then on. */
export interface Intake {
  begin(where: Where, sender: Sender, budget: Budget): Holding;
}

/** Creates an empty one. */
export function createIntake(): Intake {
  const pools = { memory: new Pool('memory'), disk: new Pool('disk') };
  return { begin: (where, sender, budget) => new Held(pools[where], sender, budget) };
}

class Pool {
  readonly where: Where;
  /** In total. */
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
    // If the total is exceeded, only owners that would use more than an equal share are refused.
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
    `The bodies of this account's running requests may have ${perAccount} bytes in total ` +
      `(listen.body.inFlight.${where}.perAccount). Try again when one has ended.`,
  );
}

function overloaded(where: Where): GatewayError {
  return coreErrors.overloaded(
    `Running requests use all memory allowed for bodies (listen.body.inFlight.${where}.total).`,
  );
}
