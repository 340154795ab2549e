/** Calls and the ledger: `admit` holds, checkpoints follow what is delivered, `settle` charges. Amounts are micro-quota. */
import { type Awaitable, type Exchange, GatewayError, type Host, type Known, type Step } from '../../core/plugin.ts';
import {
  checkpointStep,
  closeSteps,
  growSteps,
  type Hold,
  holdSteps,
  inQuota,
  insufficient,
  leftFor,
} from './ledger.ts';
import { LARGEST_CALL } from './tables.ts';
import type { Tariff } from './tariff.ts';
import { saneUsage } from './usage-sanity.ts';

export interface Calls {
  /** Sets aside the most the exchange can cost; refuses where a layer has less. */
  admit(x: Known): Promise<void>;
  /** Charges what was used: never more than was held and, where that was a guess, than could be held in the end. */
  settle(x: Exchange): Awaitable<readonly Step[] | undefined>;
  /**
   * Writes down what running calls have delivered. Holds more for those that come near a hold that was a guess, and cuts off
   * those that outrun theirs.
   */
  checkpoint(): Promise<void>;
  /** Whether a call with this id has not come to its end. */
  isRunning(id: string): boolean;
  /** What an exchange was charged; 0n until it is settled. */
  charged(x: Exchange): bigint;
}

/** What is remembered of an admitted exchange. */
interface Taking {
  readonly exchange: Exchange;
  /** Of the configuration that admitted it, which alone looks after it. */
  readonly tariff: Tariff;
  /** Undefined where nothing can be charged. */
  hold: Hold | undefined;
  /** While more is being held. */
  growing: Promise<void> | undefined;
  /** The price of a passage; undefined for a call. */
  readonly fixed: bigint | undefined;
  /** At the last checkpoint. */
  delivered: bigint;
  outran: boolean;
  charged: bigint;
  /** Where it stands among those that run; -1 where it does not. */
  place: number;
}

/**
 * An exchange bears its taking itself, and those that run stand in a list: measured, a WeakMap and a Map that change with every
 * call moved three times as much of each call to the old generation.
 */
const TAKING = Symbol('taking');
type Bearer = Exchange & { [TAKING]?: Taking };

function takingOf(x: Bearer): Taking | undefined {
  return x[TAKING];
}

export function createCalls(host: Host, tariff: Tariff): Calls {
  const { store, clock, log, boot } = host;
  // Calls of an older configuration that still run are running, too.
  const running = host.lasting<Taking[]>('quota.running', () => []);

  function begin(taking: Taking): void {
    taking.place = running.length;
    running.push(taking);
  }

  function end(taking: Taking): void {
    const { place } = taking;
    if (place < 0) return;
    taking.place = -1;
    // The last one takes its place.
    const last = running.pop()!;
    if (last === taking) return;
    running[place] = last;
    last.place = place;
  }

  /** The log and the usage record tell what was odd about a call. */
  function noteAnomalies(x: Exchange, due: bigint, hold: Hold): void {
    const anomalies = x.usage === undefined ? [] : saneUsage(x.usage).anomalies;
    if (due > hold.amount) anomalies.push(`it costs ${inQuota(due)} quota, ${inQuota(hold.amount)} were held`);
    if (anomalies.length === 0) return;
    log.warn('usage anomaly', { exchange: x.id, model: hold.model, channel: x.served?.channel.name, anomalies });
    x.note({ usageAnomalies: anomalies });
  }

  /** Ends the hold with what is due of it. */
  function close(taking: Taking, due: bigint): readonly Step[] | undefined {
    const { exchange: x, hold } = taking;
    if (hold !== undefined) {
      taking.charged = least(due, hold.amount);
      noteAnomalies(x, due, hold);
    }
    if (x.outcome === 'served') x.header('x-turnpike-cost', inQuota(taking.charged));
    return hold && closeSteps(hold, taking.charged, clock.now(), 'call');
  }

  /** Holds up to `amount` in all: as much of it as there is. Never rejects; what cannot be held is not charged. */
  async function grow(taking: Taking, amount: bigint): Promise<void> {
    const hold = taking.hold!;
    const wanted = least(amount, LARGEST_CALL) - hold.amount;
    try {
      if (wanted <= 0n) return;
      if (await growBy(taking, wanted)) return;
      const left = least(await leftFor(store, hold), wanted);
      if (left > 0n) await growBy(taking, left);
    } catch (error) {
      log.warn('a hold could not grow', { exchange: hold.id, error });
    }
  }

  async function growBy(taking: Taking, more: bigint): Promise<boolean> {
    const hold = taking.hold!;
    if ((await store.atomic(growSteps(hold, more), 'ran')) !== undefined) return false;
    taking.hold = { ...hold, amount: hold.amount + more };
    return true;
  }

  return {
    isRunning: (id) => running.some(({ exchange }) => exchange.id === id),
    charged: (x) => takingOf(x)?.charged ?? 0n,

    async admit(x) {
      const fixed = x.passage?.target(x).price;
      const amount = least(fixed ?? tariff.most(x.call, x.startedMs), LARGEST_CALL);
      const hold = amount === 0n ? undefined : holdFor(x, amount, boot);
      const taking = {
        exchange: x,
        tariff,
        hold,
        growing: undefined,
        fixed,
        delivered: 0n,
        outran: false,
        charged: 0n,
        place: -1,
      };
      if (hold !== undefined) {
        // A crash may forget a hold: nothing has gone out for it that could be charged.
        const refused = await store.atomic(holdSteps(hold), 'ran');
        if (refused !== undefined) throw insufficient(refused, amount);
        begin(taking);
      }
      (x as Bearer)[TAKING] = taking;
    },

    settle(x) {
      const taking = takingOf(x);
      if (taking === undefined) return undefined;
      end(taking);
      const { hold, fixed, growing } = taking;
      if (hold === undefined) return close(taking, 0n);
      const due = tariff.due(x, fixed);
      // Mostly the hold covers it, and nothing is waited for.
      if (growing === undefined && (due <= hold.amount || !isGuess(x))) return close(taking, due);
      return (growing ?? Promise.resolve()).then(() => grow(taking, due)).then(() => close(taking, due));
    },

    async checkpoint() {
      const steps: Step[] = [];
      // A copy: whoever is cut off may leave the list at once.
      for (const taking of [...running]) {
        const { exchange: x, fixed } = taking;
        if (taking.tariff !== tariff || taking.hold === undefined || !x.delivered) continue;
        const due = tariff.due(x, fixed);
        if (due * 4n > taking.hold.amount * 3n && isGuess(x) && taking.place >= 0) {
          taking.growing = grow(taking, due * 2n);
          await taking.growing;
          taking.growing = undefined;
        }
        const { hold } = taking;
        const delivered = least(due, hold.amount);
        if (delivered > taking.delivered) {
          taking.delivered = delivered;
          steps.push(checkpointStep(hold.id, delivered));
        }
        if (due > hold.amount && !taking.outran) {
          taking.outran = true;
          x.cut(outrun(hold));
        }
      }
      if (steps.length > 0) await store.atomic(steps, 'ran');
    },
  };
}

function holdFor(x: Known, amount: bigint, boot: string): Hold {
  const { identity, call } = x;
  return {
    id: x.id,
    accountId: identity.account.id,
    keyId: identity.key.id,
    amount,
    boot,
    style: call.style,
    model: call.model,
    stream: call.stream,
    ip: x.ip,
    createdMs: x.startedMs,
  };
}

/** Whether the hold was a guess: nobody said how long the answer may get, or how much an image or a file is. */
function isGuess({ passage, call }: Exchange): boolean {
  return passage === undefined && (call.bounds.outputTokens === undefined || call.bounds.media > 0);
}

function outrun(hold: Hold): GatewayError {
  const message = `The answer was cut off: it costs more than the ${inQuota(hold.amount)} quota held for it, and there is no more to hold. Credit the account, or send max_tokens.`;
  return new GatewayError(403, 'QUOTA_HOLD_EXCEEDED', message, { headers: { 'x-should-retry': 'false' } });
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
