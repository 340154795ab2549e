/** The end of a request: settled once, durable before the last byte is sent. */
import { toGatewayError } from './answers.ts';
import type { Clock } from './clock.ts';
import type { Outcome } from './contracts/call.ts';
import type { GatewayError } from './errors.ts';
import type { LiveExchange } from './exchange.ts';
import type { Log } from './log.ts';
import type { Pipeline, Settlement } from './pipeline.ts';
import { type Known, type Store, StoreUnavailable } from './plugin.ts';

/** How long an end may wait for a store that cannot write. */
const SETTLE_MS = 5_000;
const SETTLE_AGAIN_MS = 200;

/**
 * Ends a request once: runs its deferred releases and settles it. Rejects if the settlement could not be made durable,
 * and with a `GatewayError` if the answer cannot be paid: then the client must not get a successful end. Usually it
 * waits only for the store, with a single promise.
 */
export function endExchange(x: LiveExchange, outcome: Outcome, books: Books): Promise<void> {
  if (x.ending) return Promise.resolve();
  x.ending = true;
  if (outcome !== 'served' || x.identity === undefined) return conclude(x, outcome, undefined, books);
  const paying = books.pipeline.pay(x as LiveExchange & Known);
  if (paying === undefined) return conclude(x, outcome, undefined, books);
  return (paying as Promise<void>).then(
    () => conclude(x, outcome, undefined, books),
    (error) => conclude(x, outcome, toGatewayError(error), books),
  );
}

/** `withheld`: why an answer that was served cannot be paid. */
function conclude(x: LiveExchange, outcome: Outcome, withheld: GatewayError | undefined, books: Books): Promise<void> {
  if (withheld === undefined) {
    x.outcome = outcome;
    return settle(x, books);
  }
  x.outcome = x.delivered ? 'failed' : 'refused';
  x.status = withheld.status;
  x.note({ code: withheld.code });
  return settle(x, books).then(() => Promise.reject(withheld));
}

function settle(x: LiveExchange, books: Books): Promise<void> {
  const releasing = x.release((error) => books.log.error('a release callback failed', { exchange: x.id, error }));
  if (releasing !== undefined) return releasing.then(() => collect(x, books));
  return collect(x, books);
}

function collect(x: LiveExchange, books: Books): Promise<void> {
  const settling = books.pipeline.settle(x);
  if (!(settling instanceof Promise)) return write(x, settling, books);
  return settling.then(
    (settlement) => write(x, settlement, books),
    (error) => unsettled(x, error, books),
  );
}

function write(x: LiveExchange, settlement: Settlement, books: Books): Promise<void> {
  const { steps } = settlement;
  if (steps.length === 0) return Promise.resolve();
  return books.store.atomic(steps).then(
    (refused) => {
      // A retry would not help: the row to change does not exist, such as a reservation that was lost with a failed
      // commit.
      if (refused !== undefined) return writeRest(x, settlement, refusal(refused), books);
    },
    (error) =>
      error instanceof StoreUnavailable
        ? writeAgain(x, settlement, error, books)
        : writeRest(x, settlement, error, books),
  );
}

/** After the list was refused with `error`: retries without the causing plugin's steps, if that is possible. */
async function writeRest(x: LiveExchange, settlement: Settlement, error: unknown, books: Books): Promise<void> {
  for (let tried = 0; ; tried++) {
    const rest = books.pipeline.without(settlement, tried);
    if (rest === undefined) return unsettled(x, error, books);
    try {
      if ((await books.store.atomic(rest.steps)) !== undefined) continue;
    } catch (failure) {
      if (failure instanceof StoreUnavailable) return unsettled(x, failure, books);
      continue;
    }
    books.pipeline.blame(rest, error, x);
    return;
  }
}

/** After `error`: retries until the time limit for an unwritable store. */
async function writeAgain(
  x: LiveExchange,
  settlement: Settlement,
  error: StoreUnavailable,
  books: Books,
): Promise<void> {
  const giveUpAt = books.clock.mono() + SETTLE_MS;
  for (let last = error; ; ) {
    // Without an upstream attempt there is nothing to charge, so the client need not wait for its refusal.
    if (x.attempts.length === 0 || books.clock.mono() >= giveUpAt) return unsettled(x, last, books);
    await new Promise<void>((resolve) => books.clock.after(SETTLE_AGAIN_MS, resolve));
    try {
      const refused = await books.store.atomic(settlement.steps);
      return refused === undefined ? undefined : writeRest(x, settlement, refusal(refused), books);
    } catch (failure) {
      if (!(failure instanceof StoreUnavailable)) return writeRest(x, settlement, failure, books);
      last = failure;
    }
  }
}

function refusal(must: string): StoreUnavailable {
  return new StoreUnavailable(`the store refused to settle: ${must}`);
}

function unsettled(x: LiveExchange, error: unknown, books: Books): never {
  books.log.error('a request could not be settled', { exchange: x.id, error });
  books.pipeline.unsettled(x);
  throw error;
}

/** Where and how requests are settled. */
export interface Books {
  readonly store: Store;
  readonly pipeline: Pipeline;
  readonly clock: Clock;
  readonly log: Log;
}
