/** The end of a request: settled once, durable before the last byte is sent. */

import type { Outcome } from '../contracts/formats/call.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import { toGatewayError } from '../http/responses.ts';
import { type Known, type Store, StoreUnavailable } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';
import { type Queue, queueOf } from '../runtime/stage.ts';
import type { LiveExchange } from './live-exchange.ts';
import type { Pipeline, Settlement } from './phases.ts';

/** How long an end may wait for a store that cannot write. */
const SETTLE_MS = 5_000;
const SETTLE_AGAIN_MS = 200;

/** Where and how requests are settled. */
export interface Books {
  readonly store: Store;
  readonly pipeline: Pipeline;
  readonly clock: Clock;
  readonly log: Log;
}

/** Is told how the end of a request went. */
export interface EndListener {
  /** It is settled, and durable. */
  settled(): void;
  /** It could not be made durable, or, with a `GatewayError`, the answer cannot be paid: the client must not get a successful end. */
  unsettled(error: unknown): void;
}

/** Ends a request once: runs its deferred releases and settles it. Of a request that is ending, `listener` is told at once. */
export function endExchange(x: LiveExchange, outcome: Outcome, books: Books, listener: EndListener): void {
  if (x.ending) {
    listener.settled();
    return;
  }
  x.ending = true;
  ends.add(new Ending(x, outcome, books, listener));
}

/** The same with a promise, which rejects with what `unsettled` is told. */
export function endedExchange(x: LiveExchange, outcome: Outcome, books: Books): Promise<void> {
  return new Promise((settled, unsettled) => endExchange(x, outcome, books, { settled, unsettled }));
}

/** The requests that end in this turn. */
const ends: Queue<Ending> = queueOf('books', (ending) => ending.begin());
/** Those whose list the store has written. */
const answered: Queue<Ending> = queueOf('settled', (ending) => ending.end());

/** The end of one request. */
class Ending {
  readonly #x: LiveExchange;
  readonly #outcome: Outcome;
  readonly #books: Books;
  readonly #listener: EndListener;
  #settlement!: Settlement;
  /** Why an answer that was served cannot be paid. */
  #withheld: GatewayError | undefined;
  #failure: unknown;
  #hasFailed = false;
  #isOver = false;

  constructor(x: LiveExchange, outcome: Outcome, books: Books, listener: EndListener) {
    this.#x = x;
    this.#outcome = outcome;
    this.#books = books;
    this.#listener = listener;
  }

  begin(): void {
    try {
      this.#pay();
    } catch (error) {
      this.#fail(error);
    }
  }

  #pay(): void {
    const x = this.#x;
    const isServed = this.#outcome === 'served' && x.identity !== undefined;
    const paying = isServed ? this.#books.pipeline.pay(x as LiveExchange & Known) : undefined;
    if (paying === undefined) this.#conclude();
    else {
      paying
        .catch((error: unknown) => {
          this.#withheld = toGatewayError(error);
        })
        .then(() => this.#conclude())
        .catch((error: unknown) => this.#fail(error));
    }
  }

  #conclude(): void {
    const x = this.#x;
    if (this.#withheld === undefined) x.outcome = this.#outcome;
    else {
      x.outcome = x.delivered ? 'failed' : 'refused';
      x.status = this.#withheld.status;
      x.note({ code: this.#withheld.code });
    }
    const { log } = this.#books;
    const releasing = x.release((error) => log.error('a release callback failed', { exchange: x.id, error }));
    if (releasing === undefined) this.#collect();
    else releasing.then(() => this.#collect()).catch((error: unknown) => this.#fail(error));
  }

  #collect(): void {
    const settling = this.#books.pipeline.settle(this.#x);
    if (!(settling instanceof Promise)) this.#write(settling);
    else {
      settling
        .then(
          (settlement) => this.#write(settlement),
          (error) => this.#unsettled(error),
        )
        .catch((error: unknown) => this.#fail(error));
    }
  }

  #write(settlement: Settlement): void {
    this.#settlement = settlement;
    if (settlement.steps.length === 0) {
      this.end();
      return;
    }
    this.#books.store.atomic(settlement.steps).then(
      (refused) => this.#written(refused),
      (error) => this.#refused(error),
    );
  }

  #written(refused: string | undefined): void {
    // A retry would not help: the row to change does not exist, such as a reservation that was lost with a failed
    // commit.
    if (refused !== undefined) this.#writeRest(refusal(refused));
    else answered.add(this);
  }

  #refused(error: unknown): void {
    if (error instanceof StoreUnavailable) void this.#writeAgain(error);
    else this.#writeRest(error);
  }

  /** After the list was refused with `error`: retries without the causing plugin's steps, if that is possible. */
  #writeRest(error: unknown): void {
    writtenRest(this.#x, this.#settlement, error, this.#books).then(
      (isWritten) => (isWritten ? answered.add(this) : this.#unsettled(error)),
      (failure) => this.#unsettled(failure),
    );
  }

  /** After `error`: retries until the time limit for an unwritable store. */
  async #writeAgain(error: StoreUnavailable): Promise<void> {
    const { clock, store } = this.#books;
    const giveUpAt = clock.mono() + SETTLE_MS;
    for (let last = error; ; ) {
      // Without an upstream attempt there is nothing to charge, so the client need not wait for its refusal.
      if (this.#x.attempts.length === 0 || clock.mono() >= giveUpAt) {
        this.#unsettled(last);
        return;
      }
      await new Promise<void>((resolve) => clock.after(SETTLE_AGAIN_MS, resolve));
      try {
        this.#written(await store.atomic(this.#settlement.steps));
        return;
      } catch (failure) {
        if (!(failure instanceof StoreUnavailable)) {
          this.#writeRest(failure);
          return;
        }
        last = failure;
      }
    }
  }

  #unsettled(error: unknown): void {
    this.#books.log.error('a request could not be settled', { exchange: this.#x.id, error });
    this.#books.pipeline.unsettled(this.#x);
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#failure = error;
    this.end();
  }

  /** Tells the listener, once. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#hasFailed) this.#listener.unsettled(this.#failure);
    else if (this.#withheld !== undefined) this.#listener.unsettled(this.#withheld);
    else this.#listener.settled();
  }
}

/** Whether the list could be written without the steps of one plugin. Rejects if the store is away. */
async function writtenRest(x: LiveExchange, settlement: Settlement, error: unknown, books: Books): Promise<boolean> {
  for (let tried = 0; ; tried++) {
    const rest = books.pipeline.without(settlement, tried);
    if (rest === undefined) return false;
    try {
      if ((await books.store.atomic(rest.steps)) !== undefined) continue;
    } catch (failure) {
      if (failure instanceof StoreUnavailable) throw failure;
      continue;
    }
    books.pipeline.blame(rest, error, x);
    return true;
  }
}

function refusal(must: string): StoreUnavailable {
  return new StoreUnavailable(`the store refused to settle: ${must}`);
}
