/** Calls and the ledger: `admit` holds, checkpoints follow what is delivered, `settle` charges. Amounts are micro-quota. */

import { inQuota } from '../../core/contracts/ledger.ts';
import { type EstimateOptions, partOf, type Tariff } from '../../core/contracts/prices.ts';
import {
  type Awaitable,
  type Call,
  type Exchange,
  type GatewayError,
  type Host,
  type Json,
  type Known,
  type Step,
  StoreUnavailable,
  slot,
  type Usage,
} from '../../core/plugin.ts';
import { errors } from './errors.ts';
import { Hold, noteOfLayers } from './holds.ts';
import type { Leases } from './leases.ts';
import type { OwnLedger } from './ledger.ts';
import { aliveStep } from './processes.ts';
import { type Balances, insufficient, layersOf, leftInEach } from './refusals.ts';
import { type Reservation, reservations } from './reservation.ts';
import { LARGEST_CALL } from './tables.ts';
import type { Terms, TermsOf } from './terms.ts';
import type { Unsettled } from './unsettled.ts';

/** What the ledger does with calls. */
export interface Calls {
  /**
   * Sets aside the most the exchange can cost. Where a layer has less, what an answer that is limited to it can cost; refuses where not
   * even a short one can be paid.
   */
  admit(x: Known): Awaitable<void>;
  /**
   * What `admit` would set aside on these terms, the most first; none where the exchange costs nothing. Refuses a model that is
   * unknown (404) or has no price (402).
   */
  reservations(x: Known, terms: Terms): Iterable<Reservation>;
  /** Holds what the answer costs before its last bytes leave; refuses (403) where there is not so much. */
  pay(x: Exchange): Awaitable<void>;
  /** Charges what was used: never more than is held. */
  settle(x: Exchange): Awaitable<readonly Step[] | undefined>;
  /** What was settled could not be written down: it is held again, and charged later what it had delivered. */
  unsettled(x: Exchange): void;
  /** Writes down what running calls have delivered. */
  checkpoint(): Promise<void>;
  /** What an exchange was charged; 0n until it is settled. */
  charged(x: Exchange): bigint;
  /** Whether a subscription includes it: its account pays nothing. */
  isIncluded(x: Exchange): boolean;
}

/** What is remembered of an admitted exchange. */
interface Taking {
  readonly exchange: Exchange;
  /** As the client made it, whatever vendors are told. */
  readonly call: Call;
  /** Of the configuration that admitted it, which alone looks after it. */
  readonly tariff: Tariff;
  readonly terms: Terms;
  /** Undefined where nothing can be charged. */
  readonly hold: Hold | undefined;
  /** What was held before the vendor was asked. */
  readonly first: bigint;
  /** While more is being held. */
  growing: Promise<void> | undefined;
  /** The price of a passage; undefined for a call. */
  readonly fixed: bigint | undefined;
  /** Characters of its stream up to which nothing has to be looked at. */
  lookAgainAt: number;
  /** As much is held as could be. */
  isFull: boolean;
  /** What the answer costs that was withheld, since it could not be paid. */
  withheld: bigint | undefined;
  charged: bigint;
  sane: SaneUsage | undefined;
  /** Where it stands among those that run; -1 where it does not. */
  place: number;
}

/** A usage made believable, and what it was made of. */
interface SaneUsage extends ReturnType<Tariff['sane']> {
  readonly of: Usage;
}

/** No call is begun while the oldest list waits longer for the store: what is behind it may be refused. */
const LONGEST_WAIT_MS = 2_000;

/** A stream is looked at anew after so many characters: about as many as are counted for 64 tokens. */
const LOOK_EACH = 256;

/**
 * In a slot of the call, and those that run in a list: measured, a WeakMap and a Map that change with every call moved three times as
 * much of each call to the old generation.
 */
const takings = slot<Taking>('quota.taking');

/** `ledger` is asked where a call is refused or outgrows its hold, and for how much quota a currency unit is. */
export function createCalls(
  host: Host,
  {
    tariff,
    termsOf,
    options,
    leases,
    unsettled,
  }: {
    readonly tariff: Tariff;
    readonly termsOf: TermsOf;
    readonly options: EstimateOptions;
    readonly leases: Leases;
    readonly unsettled: Unsettled;
  },
  ledger: () => OwnLedger,
): Calls {
  const { store, clock, log, boot } = host;
  // Calls of an older configuration that still run are running, too.
  const running = host.lasting<Taking[]>({ name: 'quota.running', version: 1, make: () => [] });

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

  function* reservationsOf(x: Known, { factorPpm }: Terms): IterableIterator<Reservation> {
    const { call } = x;
    const fixed = x.passage?.target(x).price;
    if (fixed !== undefined) {
      const amount = partOf(fixed, factorPpm);
      if (amount > 0n) yield { amount, room: amount, care: 'strict', output: undefined, limit: undefined };
      return;
    }
    const all = reservations({
      bounds: call.bounds,
      options,
      longest: () => tariff.longest(call),
      most: (care, output) => least(tariff.most(call, x.startedMs, factorPpm, care, output), LARGEST_CALL),
    });
    for (const each of all) {
      // Neither its input nor its output costs anything.
      if (each.amount === 0n) return;
      yield each;
    }
  }

  /**
   * The most that a call costs whose vendor keeps to the client's limit; undefined where there is no such amount: no limit was set for its
   * output, or nothing tells how much an image, a file or a recording is, or what a tool of the vendor's finds.
   */
  function ceilingOf({ exchange, call, terms, fixed }: Taking): bigint | undefined {
    if (fixed !== undefined) return partOf(fixed, terms.factorPpm);
    return isGuess(call) ? undefined : tariff.most(call, exchange.startedMs, terms.factorPpm, 'strict');
  }

  /** What it used so far, made believable; undefined where that is nothing. Asked several times at its end, it is looked at once. */
  function saneOf(taking: Taking): SaneUsage | undefined {
    const { usage } = taking.exchange;
    if (usage === undefined) return undefined;
    if (taking.sane?.of !== usage) taking.sane = { of: usage, ...tariff.sane(usage) };
    return taking.sane;
  }

  /** What it costs so far. Counts that no call can have say nothing of it: then it costs at most what was foreseen. */
  function dueOf(taking: Taking): bigint {
    const { exchange, fixed, terms } = taking;
    const due = tariff.due(exchange, saneOf(taking)?.usage, fixed, terms.factorPpm);
    if (exchange.usage === undefined || tariff.isPossible(exchange.usage)) return due;
    return least(due, ceilingOf(taking) ?? taking.first);
  }

  /** As far as this process knows: where a call is refused, the others have given back what they do not hold. */
  const stored: Balances = {
    balance: (layer) => ledger().stored(layer),
    debt: (accountId) => ledger().debt(accountId),
  };

  /** What every layer of a call has left, at the least; by the time it is read it may be less. */
  async function leftFor({ identity: { account, key } }: Known, terms: Terms): Promise<bigint> {
    const left = await leftInEach(stored, account.id, key.id, terms);
    return left.reduce<bigint>((lowest, [, each]) => (each === undefined ? lowest : least(lowest, each)), LARGEST_CALL);
  }

  /** Holds the first that every layer has room for: mostly without a word to the store. Rejects with the refusal where none has. */
  function reserve(
    hold: Hold,
    x: Known,
    first: Reservation,
    rest: Iterable<Reservation>,
    terms: Terms,
  ): Awaitable<void> {
    const refused = hold.grow(first.amount, first.room);
    if (refused === undefined) return;
    if (!(refused instanceof Promise)) return reserveLess(hold, x, refused, first, rest, terms);
    return refused.then((name) => (name === undefined ? undefined : reserveLess(hold, x, name, first, rest, terms)));
  }

  /** `refused`: the layer that has no room for the first. */
  async function reserveLess(
    hold: Hold,
    x: Known,
    refused: string,
    first: Reservation,
    rest: Iterable<Reservation>,
    terms: Terms,
  ): Promise<void> {
    const { account, key } = x.identity;
    const others = [...rest];
    const smallest = others.reduce((amount, each) => least(amount, each.amount), first.amount);
    const left = await leftInEach(stored, account.id, key.id, terms);
    const lacking = left.find(([, each]) => each !== undefined && each < smallest)?.[0];
    const owes = (await ledger().debt(account.id)) > 0n;
    let last = refused;
    if (lacking === undefined && !owes) {
      const most = await leftFor(x, terms);
      for (const { amount, room, limit } of others) {
        if (room > most) continue;
        const name = await hold.grow(amount, room);
        if (name === undefined) {
          if (limit !== undefined) x.limitOutput(limit);
          return;
        }
        last = name;
      }
    }
    const layer = lacking ?? layersOf(account.id, key.id, terms).find(({ name }) => name === last);
    if (layer === undefined) throw new Error(`no layer is called ${last}`);
    throw await insufficient(stored, layer, smallest);
  }

  /** The usage record tells how the charge came about, for prices change: a receipt is made of it. */
  function notePrice(x: Exchange, { tariff: charged, fixed, terms }: Taking, hold: Hold): void {
    const { factorPpm, extras } = terms;
    const note: Record<string, Json> = {
      ...charged.note(x, fixed),
      held: inQuota(hold.amount),
    };
    if (factorPpm !== undefined) note.priceFactor = Number(factorPpm) / 1_000_000;
    if (extras.length > 0) Object.assign(note, noteOfLayers(extras));
    x.note(note);
  }

  /** The log and the usage record tell what was odd about a call. */
  function noteAnomalies(x: Exchange, due: bigint, taking: Taking, hold: Hold): void {
    const anomalies = [...(saneOf(taking)?.anomalies ?? [])];
    const ceiling = due > taking.first ? ceilingOf(taking) : undefined;
    if (ceiling !== undefined && due > ceiling)
      anomalies.push(`it costs ${inQuota(due)} quota, by the limits of the request at most ${inQuota(ceiling)}`);
    if (due > hold.amount) anomalies.push(`it costs ${inQuota(due)} quota, ${inQuota(hold.amount)} were held`);
    if (anomalies.length === 0) return;
    log.warn('usage anomaly', { exchange: x.id, model: taking.call.model, channel: x.served?.channel.name, anomalies });
    x.note({ usageAnomalies: anomalies });
  }

  /** Ends the hold with what is due of it. */
  function close(taking: Taking, due: bigint): readonly Step[] | undefined {
    const { exchange: x, hold } = taking;
    if (hold !== undefined) {
      taking.charged = least(due, hold.amount);
      if (taking.charged > 0n) notePrice(x, taking, hold);
      noteAnomalies(x, due, taking, hold);
    }
    if (taking.charged === 0n && taking.fixed === undefined && taking.tariff.isUnpriced(x)) x.note({ unpriced: true });
    if (x.outcome === 'served' || taking.withheld !== undefined) x.header('x-turnpike-cost', inQuota(taking.charged));
    return hold?.close(taking.charged, clock.now());
  }

  /** Holds up to `amount` in all: as much of it as there is. Never rejects; what cannot be held is not charged. */
  function grow(taking: Taking, amount: bigint): Awaitable<void> {
    const hold = taking.hold!;
    const wanted = least(amount, LARGEST_CALL) - hold.amount;
    if (wanted <= 0n) return;
    const refused = hold.grow(wanted);
    if (refused === undefined) return;
    return growSlowly(taking, hold, refused, wanted);
  }

  async function growSlowly(taking: Taking, hold: Hold, refused: Awaitable<string | undefined>, wanted: bigint) {
    try {
      if ((await refused) === undefined) return;
      const left = least(await leftFor(taking.exchange as Known, taking.terms), wanted);
      if (left > 0n) await hold.grow(left);
    } catch (error) {
      log.warn('a reservation could not be increased', { exchange: hold.id, error });
    }
  }

  /** Holds more before a stream needs it; what cannot be paid does not leave. */
  function look(taking: Taking, textLength: number): Promise<void> | undefined {
    if (textLength < taking.lookAgainAt) return undefined;
    taking.lookAgainAt = textLength + LOOK_EACH;
    const due = dueOf(taking);
    const { amount } = taking.hold!;
    if (due > amount) return growOrCut(taking, due);
    if (due * 4n > amount * 3n && taking.growing === undefined && !taking.isFull) {
      const growing = grow(taking, least(due * 2n, ceilingOf(taking) ?? due * 2n));
      const grown = (): void => {
        taking.growing = undefined;
        taking.isFull = taking.hold!.amount === amount;
      };
      if (growing instanceof Promise) taking.growing = growing.then(grown);
      else grown();
    }
    return undefined;
  }

  async function growOrCut(taking: Taking, due: bigint): Promise<void> {
    await taking.growing;
    await grow(taking, due);
    if (taking.hold!.amount >= due) return;
    taking.withheld = due;
    throw outrun(taking.hold!);
  }

  function admitOn(x: Known, terms: Terms): Awaitable<void> {
    const all = reservationsOf(x, terms);
    const first: Reservation | undefined = all.next().value;
    if (first === undefined) return begun(x, terms, undefined);
    if (terms.refusal !== undefined) throw terms.refusal;
    // A hold asks nothing of the store, but the vendor is paid for an answer that could not be charged.
    if (store.pressure().oldestMs > LONGEST_WAIT_MS) {
      throw new StoreUnavailable('the store cannot be written now, or is far behind');
    }
    const hold = new Hold(leases, x, terms);
    const reserving = reserve(hold, x, first, all, terms);
    if (reserving instanceof Promise) return reserving.then(() => begun(x, terms, hold));
    return begun(x, terms, hold);
  }

  /** It is admitted. */
  function begun(x: Known, terms: Terms, hold: Hold | undefined): void {
    const taking: Taking = {
      exchange: x,
      call: x.call,
      tariff,
      terms,
      hold,
      first: hold?.amount ?? 0n,
      growing: undefined,
      fixed: x.passage?.target(x).price,
      lookAgainAt: 0,
      isFull: false,
      withheld: undefined,
      charged: 0n,
      sane: undefined,
      place: -1,
    };
    if (hold !== undefined) {
      begin(taking);
      if (x.call.stream) x.watch((textLength) => look(taking, textLength));
    }
    takings.set(x, taking);
  }

  return {
    charged: (x) => takings.get(x)?.charged ?? 0n,
    isIncluded: (x) => takings.get(x)?.terms.fromAccount === false,

    reservations: reservationsOf,

    admit(x) {
      const terms = termsOf(x.identity.account.id, x.startedMs);
      if (terms instanceof Promise) return terms.then((found) => admitOn(x, sharedTerms(found, x.share)));
      return admitOn(x, sharedTerms(terms, x.share));
    },

    pay(x) {
      const taking = takings.get(x);
      if (taking?.hold === undefined) return;
      // What is being held more is waited for, for it is a part of what `settle` closes.
      end(taking);
      const due = dueOf(taking);
      if (taking.growing === undefined && due <= taking.hold.amount) return;
      return growOrCut(taking, due);
    },

    settle(x) {
      const taking = takings.get(x);
      if (taking === undefined) return undefined;
      end(taking);
      const { hold, growing, withheld } = taking;
      if (hold === undefined) return close(taking, 0n);
      if (withheld !== undefined) return close(taking, withheld);
      const due = dueOf(taking);
      // Mostly the hold covers it, and nothing is waited for.
      if (growing === undefined && due <= hold.amount) return close(taking, due);
      return (growing ?? Promise.resolve()).then(() => grow(taking, due)).then(() => close(taking, due));
    },

    unsettled(x) {
      const taking = takings.get(x);
      if (taking?.hold === undefined) return;
      unsettled.add(x as Known, taking.hold, taking.terms);
      // Its lease may be another's by now. Where that cannot be asked the store is away, and admits no calls either.
      leases.check().catch(() => {});
    },

    async checkpoint() {
      const steps: Step[] = [];
      for (const taking of running) {
        const { exchange: x } = taking;
        if (taking.tariff !== tariff || taking.hold === undefined || !x.delivered) continue;
        steps.push(...(taking.hold.checkpoint(least(dueOf(taking), taking.hold.amount), boot) ?? []));
      }
      if (steps.length === 0) return;
      if ((await store.atomic([...steps, aliveStep(boot)], 'ran')) !== undefined) await leases.check();
    },
  };
}

/** The terms of a call of which only `share` millionths of the price are charged. */
function sharedTerms(terms: Terms, share: number | undefined): Terms {
  if (share === undefined) return terms;
  return { ...terms, factorPpm: partOf(BigInt(share), terms.factorPpm) };
}

/**
 * Whether nobody can tell what a call costs at the most: it does not say how long the answer may get, or nothing tells how much an image
 * or a file is, or what a vendor's tool finds; or how long the vendor finds a recording to be.
 */
export function isGuess({ bounds }: Call): boolean {
  const { outputTokens, media, seconds = 0 } = bounds;
  return outputTokens === undefined || media > 0 || seconds > 0 || bounds.open?.() === true;
}

function outrun(hold: Hold): GatewayError {
  const message = `The answer was cut off: it costs more than the ${inQuota(hold.amount)} quota that could be reserved for it. Credit the account, or request fewer output tokens.`;
  return errors.QUOTA_HOLD_EXCEEDED(message);
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
