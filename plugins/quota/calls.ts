/** Calls and the ledger: `admit` holds, checkpoints follow what is delivered, `settle` charges. Amounts are micro-quota. */
import type { Ledger } from '../../core/contracts/ledger.ts';
import {
  type Awaitable,
  type Exchange,
  GatewayError,
  type Host,
  type JsonObject,
  type Known,
  type Step,
} from '../../core/plugin.ts';
import { checkpointStep, closeSteps, growSteps, type Hold, holdSteps } from './holds.ts';
import { inQuota } from './in-quota.ts';
import { noteOfFixed, noteOfPrice } from './noted-price.ts';
import { type PriceRow, partOf } from './price.ts';
import { insufficient, layersOf, leftIn } from './refusals.ts';
import { LARGEST_CALL } from './tables.ts';
import type { Tariff } from './tariff.ts';
import type { Terms, TermsOf } from './terms.ts';
import { saneUsage } from './usage-sanity.ts';

/** What the ledger does with calls. */
export interface Calls {
  /** Sets aside the most the exchange can cost; refuses where a layer has less. */
  admit(x: Known): Promise<void>;
  /**
   * The most the exchange can cost on these terms: what `admit` sets aside. Refuses a model that is unknown (404) or has no price
   * (402).
   */
  most(x: Known, terms: Terms): bigint;
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
  /** Whether a subscription includes it: its account pays nothing. */
  isIncluded(x: Exchange): boolean;
}

/** What is remembered of an admitted exchange. */
interface Taking {
  readonly exchange: Exchange;
  /** Of the configuration that admitted it, which alone looks after it. */
  readonly tariff: Tariff;
  readonly terms: Terms;
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

/** `ledger` is asked where a call is refused or outgrows its hold, and for how much quota a currency unit is. */
export function createCalls(host: Host, tariff: Tariff, termsOf: TermsOf, ledger: () => Ledger): Calls {
  const { store, clock, log, boot } = host;
  /** What records say of a price, made once. */
  const noted = new WeakMap<PriceRow, JsonObject>();
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

  function most(x: Known, fixed: bigint | undefined, { factorPpm }: Terms): bigint {
    const amount = fixed === undefined ? tariff.most(x.call, x.startedMs, factorPpm) : partOf(fixed, factorPpm);
    return least(amount, LARGEST_CALL);
  }

  function dueOf({ exchange, fixed, terms }: Taking): bigint {
    return tariff.due(exchange, fixed, terms.factorPpm);
  }

  /** What every layer of a call has left, at the least; by the time it is read it may be less. */
  async function leftFor({ hold, terms }: Taking): Promise<bigint> {
    const layers = layersOf(hold!.accountId, hold!.keyId, terms);
    const asked = terms.fromAccount ? layers : layers.slice(1);
    const left = await Promise.all(asked.map((each) => leftIn(ledger(), each)));
    return left.reduce<bigint>((lowest, each) => (each === undefined ? lowest : least(lowest, each)), LARGEST_CALL);
  }

  /** The usage record tells how the charge came about, for prices change: a receipt is made of it. */
  function notePrice(x: Exchange, { tariff: charged, fixed, terms }: Taking, hold: Hold): void {
    const { factorPpm } = terms;
    x.note({
      ...(fixed === undefined ? noteOf(charged.rowOf(x)) : noteOfFixed(inQuota(fixed), ledger().perUnit)),
      ...(factorPpm !== undefined && { priceFactor: Number(factorPpm) / 1_000_000 }),
      held: inQuota(hold.amount),
    });
  }

  function noteOf(row: PriceRow | undefined): JsonObject | undefined {
    if (row === undefined) return undefined;
    let note = noted.get(row);
    if (note === undefined) {
      note = noteOfPrice(row, ledger().perUnit);
      noted.set(row, note);
    }
    return note;
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
      if (taking.charged > 0n) notePrice(x, taking, hold);
      noteAnomalies(x, due, hold);
    }
    if (taking.charged === 0n && taking.fixed === undefined && taking.tariff.isUnpriced(x)) x.note({ unpriced: true });
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
      const left = least(await leftFor(taking), wanted);
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
    isIncluded: (x) => takingOf(x)?.terms.fromAccount === false,

    most: (x, terms) => most(x, x.passage?.target(x).price, terms),

    async admit(x) {
      const found = termsOf(x.identity.account.id, x.startedMs);
      const terms = found instanceof Promise ? await found : found;
      const fixed = x.passage?.target(x).price;
      const amount = most(x, fixed, terms);
      if (amount > 0n && terms.refusal !== undefined) throw terms.refusal;
      const hold = amount === 0n ? undefined : holdFor(x, amount, terms, boot);
      const taking = {
        exchange: x,
        tariff,
        terms,
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
        if (refused !== undefined) {
          const layer = layersOf(hold.accountId, hold.keyId, terms).find(({ name }) => name === refused);
          if (layer === undefined) throw new Error(`no layer is called ${refused}`);
          throw await insufficient(ledger(), layer, amount);
        }
        begin(taking);
      }
      (x as Bearer)[TAKING] = taking;
    },

    settle(x) {
      const taking = takingOf(x);
      if (taking === undefined) return undefined;
      end(taking);
      const { hold, growing } = taking;
      if (hold === undefined) return close(taking, 0n);
      const due = dueOf(taking);
      // Mostly the hold covers it, and nothing is waited for.
      if (growing === undefined && (due <= hold.amount || !isGuess(x))) return close(taking, due);
      return (growing ?? Promise.resolve()).then(() => grow(taking, due)).then(() => close(taking, due));
    },

    async checkpoint() {
      const steps: Step[] = [];
      // A copy: whoever is cut off may leave the list at once.
      for (const taking of [...running]) {
        const { exchange: x } = taking;
        if (taking.tariff !== tariff || taking.hold === undefined || !x.delivered) continue;
        const due = dueOf(taking);
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

function holdFor(x: Known, amount: bigint, { fromAccount, extras }: Terms, boot: string): Hold {
  const { identity, call } = x;
  return {
    id: x.id,
    accountId: identity.account.id,
    keyId: identity.key.id,
    fromAccount,
    extras,
    amount,
    boot,
    style: call.style,
    model: call.model,
    stream: call.stream,
    ip: x.ip,
    createdMs: x.startedMs,
  };
}

/**
 * Whether the hold was a guess: nobody said how long the answer may get, how much an image or a file is, or what a vendor's tool
 * finds; or how long the vendor finds a recording to be.
 */
export function isGuess({ passage, call: { bounds } }: Exchange): boolean {
  const { outputTokens, media, open, seconds = 0 } = bounds;
  return passage === undefined && (outputTokens === undefined || media > 0 || seconds > 0 || open === true);
}

function outrun(hold: Hold): GatewayError {
  const message = `The answer was cut off: it costs more than the ${inQuota(hold.amount)} quota held for it, and there is no more to hold. Credit the account, or send max_tokens.`;
  return new GatewayError(403, 'QUOTA_HOLD_EXCEEDED', message, { headers: { 'x-should-retry': 'false' } });
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
