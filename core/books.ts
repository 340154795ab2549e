/** The end of an exchange in the books: written down once, durable before the last byte leaves. */
import { toGatewayError } from './answers.ts';
import type { Clock } from './clock.ts';
import type { Outcome } from './contracts/call.ts';
import type { GatewayError } from './errors.ts';
import type { LiveExchange } from './exchange.ts';
import type { Log } from './log.ts';
import type { Pipeline } from './pipeline.ts';
import { type Known, type Store, StoreUnavailable } from './plugin.ts';

/** How long an ending may wait for a store that cannot write. */
const SETTLE_MS = 5_000;
const SETTLE_AGAIN_MS = 200;

/**
 * Ends an exchange in the books, once: what was taken for its time is given back, what was used is written down. Rejects where
 * that could not be made durable, and with a `GatewayError` where the answer cannot be paid: then no good ending may reach the client.
 */
export async function endExchange(x: LiveExchange, outcome: Outcome, pipeline: Pipeline, books: Books): Promise<void> {
  if (x.ending) return;
  x.ending = true;
  const withheld = outcome === 'served' && x.identity !== undefined ? await unpaid(x as Paying, pipeline) : undefined;
  x.outcome = withheld === undefined ? outcome : x.delivered ? 'failed' : 'refused';
  if (withheld !== undefined) {
    x.status = withheld.status;
    x.note({ code: withheld.code });
  }
  await settle(x, pipeline, books);
  if (withheld !== undefined) throw withheld;
}

type Paying = LiveExchange & Known;

/** Why the answer is withheld; undefined where it may leave. Mostly nothing is waited for. */
async function unpaid(x: Paying, pipeline: Pipeline): Promise<GatewayError | undefined> {
  try {
    const paying = pipeline.pay(x);
    if (paying instanceof Promise) await paying;
    return undefined;
  } catch (error) {
    return toGatewayError(error);
  }
}

async function settle(x: LiveExchange, pipeline: Pipeline, books: Books): Promise<void> {
  const releasing = x.release((error) => books.log.error('a release failed', { exchange: x.id, error }));
  if (releasing !== undefined) await releasing;
  const settling = pipeline.settle(x);
  const steps =
    settling instanceof Promise ? await settling.catch((error) => unsettled(x, error, pipeline, books)) : settling;
  if (steps.length === 0) return;
  const giveUpAt = books.clock.mono() + SETTLE_MS;
  for (;;) {
    let refused: string | undefined;
    try {
      refused = await books.store.atomic(steps);
    } catch (error) {
      // Where no vendor was asked there is nothing to charge, and no reason to keep the client waiting for its refusal.
      const canWait = error instanceof StoreUnavailable && x.attempts.length > 0;
      if (!canWait || books.clock.mono() >= giveUpAt) return unsettled(x, error, pipeline, books);
      await new Promise<void>((resolve) => books.clock.after(SETTLE_AGAIN_MS, resolve));
      continue;
    }
    if (refused === undefined) return;
    // Its hold is not there: it was lost with a commit that failed. Trying again would not bring it back.
    unsettled(x, new StoreUnavailable(`the store refused to settle: ${refused}`), pipeline, books);
  }
}

function unsettled(x: LiveExchange, error: unknown, pipeline: Pipeline, books: Books): never {
  books.log.error('an exchange could not be settled', { exchange: x.id, error });
  pipeline.unsettled(x);
  throw error;
}

/** Where exchanges are written down. */
export interface Books {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}
