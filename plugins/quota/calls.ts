/** Calls and the ledger: `admit` reserves, checkpoints record what is delivered, `settle` charges. Amounts are micro-quota. */

import { inQuota } from '../../core/contracts/ledger.ts';
import { type EstimateOptions, partOf, productOfFactors, type Tariff } from '../../core/contracts/prices.ts';
import {
  type Awaitable,
  type Call,
  type Exchange,
  GatewayError,
  type Host,
  type Json,
  type Known,
  refuse,
  type Screening,
  type Step,
  StoreUnavailable,
  slot,
  type Usage,
} from '../../core/plugin.ts';
import { decimalText } from '../../core/sdk.ts';
import { least } from './buckets.ts';
import { errors } from './errors.ts';
import type { Leases } from './leases.ts';
import type { OwnLedger } from './ledger.ts';
import { aliveStep } from './processes.ts';
import { type Balances, insufficient, layersOf, leastOf, leftInEach } from './refusals.ts';
import { noteOfLayers, Reservation } from './reservation.ts';
import { type Costs, firstSize, type ReservationSize, reservationSizes } from './sizes.ts';
import { LARGEST_CALL } from './tables.ts';
import { millionths, type Terms, type TermsOf } from './terms.ts';
import type { Unsettled } from './unsettled.ts';

/** The ledger's handling of calls. */
export interface Calls {
  /**
   * Reserves the maximum cost of the call. If a bucket has less, limits the answer to what can be paid; refuses if not even a short answer can be
   * paid.
   */
  admit(x: Known): Awaitable<void>;
  /** Refuses a call whose shortest answer, at the size it was sent in, cannot be paid: before its content is inspected. Reserves nothing. */
  screen(x: Known, about: Screening): Awaitable<void>;
  /**
   * The sizes that `admit` would try to reserve on these terms, largest first; none if the call costs nothing. Refuses a model that is unknown
   * (404) or has no price (402).
   */
  sizes(x: Known, terms: Terms): Iterable<ReservationSize>;
  /** Reserves the cost of the answer before its last bytes are sent; refuses (403) if a bucket has too little left. */
  pay(x: Exchange): Awaitable<void>;
  /** Charges the actual usage, at most the reserved amount. */
  settle(x: Exchange): Awaitable<readonly Step[] | undefined>;
  /** The steps of `settle` could not be written: the cost of the delivered part stays reserved, and is charged later. */
  unsettled(x: Exchange): void;
  /** Records what running calls have delivered. */
  checkpoint(): Promise<void>;
  /** The charge of a request; 0n until it is settled. */
  charged(x: Exchange): bigint;
  /** Whether a subscription includes it: its account is not charged. */
  isIncluded(x: Exchange): boolean;
}

/** The state of an admitted call. */
interface MeteredCall {
  readonly exchange: Exchange;
  /** As the client made it, without the limits that were added for vendors. */
  readonly call: Call;
  /** The tariff of the configuration that admitted the call; only the plugin of that configuration writes its checkpoints. */
  readonly tariff: Tariff;
  readonly terms: Terms;
  /** Undefined if nothing can be charged. */
  readonly reservation: Reservation | undefined;
  /** The amount reserved before the request was sent. */
  readonly first: bigint;
  /** Set while more is being reserved. */
  growing: Promise<void> | undefined;
  /** The price of a passthrough request; undefined for a call. */
  readonly fixed: bigint | undefined;
  /** The number of characters of its stream at which its cost is computed again. */
  checkAt: number;
  /** No more can be reserved. */
  isFull: boolean;
  /** Set if the answer was withheld because it could not be paid: its cost. */
  withheld: bigint | undefined;
  charged: bigint;
  sane: SaneUsage | undefined;
  /** The cost of a reported usage, unless the call has failed. */
  due: { readonly of: Usage; readonly amount: bigint } | undefined;
  /** Its index among the running calls; -1: it is not one of them. */
  index: number;
}

/** A corrected usage, and the reported one. */
interface SaneUsage extends ReturnType<Tariff['sane']> {
  readonly of: Usage;
}

/** Calls are refused while the oldest list has waited longer for the store, because lists behind it may be refused. */
const LONGEST_WAIT_MS = 2_000;

/** An answer without a limit of the client is hardly ever longer, in tokens. */
export const WHOLE_ANSWER = 8_192;

/** The cost of a stream is computed again after this many characters, which count as about 64 tokens. */
const CHECK_EACH = 256;

/** A request of at least this many bytes is counted only for accounts that could make the call. */
const LARGE_COUNT = 64 * 1_024;

/** A slot, and a list of the running calls, because a WeakMap and a Map moved three times as much of each call to the old generation (measured). */
const meteredCalls = slot<MeteredCall>('quota.call');

/** `ledger` is used only if a call is refused or outgrows its reservation. */
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
  // Shared by all configurations, because calls of an older one may still be running.
  const running = host.lasting<MeteredCall[]>({ name: 'quota.running', version: 1, make: () => [] });

  function begin(metered: MeteredCall): void {
    metered.index = running.length;
    running.push(metered);
  }

  function end(metered: MeteredCall): void {
    const { index } = metered;
    if (index < 0) return;
    metered.index = -1;
    const last = running.pop()!;
    if (last === metered) return;
    running[index] = last;
    last.index = index;
  }

  /** The tariff of the channels that may serve a call. */
  const tariffFor = ({ channels }: Terms) => (channels === undefined ? tariff : tariff.within(channels));

  function costsOf(x: Known, terms: Terms): Costs {
    const { call } = x;
    const own = tariffFor(terms);
    return {
      bounds: call.bounds,
      options,
      longest: () => own.longest(call),
      most: (care, output) => least(own.most(call, x.startedMs, terms.factor, care, output), LARGEST_CALL),
    };
  }

  /** The first of `sizesOf`, which nearly every call gets; undefined if the call costs nothing. */
  function firstOf(x: Known, terms: Terms): ReservationSize | undefined {
    if (x.passthrough?.target(x).price !== undefined) return sizesOf(x, terms).next().value;
    const size = firstSize(costsOf(x, terms));
    return size.amount === 0n ? undefined : size;
  }

  /** The others. */
  function* othersOf(x: Known, terms: Terms): IterableIterator<ReservationSize> {
    const sizes = sizesOf(x, terms);
    sizes.next();
    yield* sizes;
  }

  function* sizesOf(x: Known, terms: Terms): IterableIterator<ReservationSize> {
    const fixed = x.passthrough?.target(x).price;
    if (fixed !== undefined) {
      const amount = partOf(fixed, terms.factor);
      if (amount > 0n) yield { amount, room: amount, care: 'strict', output: undefined, limit: undefined };
      return;
    }
    for (const size of reservationSizes(costsOf(x, terms))) {
      // Neither its input nor its output costs anything.
      if (size.amount === 0n) return;
      yield size;
    }
  }

  /**
   * The maximum cost of a call if the vendor respects the client's limits; undefined if that is not known, because the output has no limit, or
   * because of images, files, recordings or vendor-side tools.
   */
  function ceilingOf({ exchange, call, terms, fixed }: MeteredCall): bigint | undefined {
    if (fixed !== undefined) return partOf(fixed, terms.factor);
    return isGuess(call) ? undefined : tariffFor(terms).most(call, exchange.startedMs, terms.factor, 'strict');
  }

  /** The corrected usage so far, computed once for each reported usage; undefined if none was reported. */
  function saneOf(metered: MeteredCall): SaneUsage | undefined {
    const reported = reportedBy(metered.exchange);
    if (reported === undefined) return undefined;
    if (metered.sane?.of !== reported) metered.sane = { of: reported, ...tariff.sane(reported) };
    return metered.sane;
  }

  /** The cost so far: computed once for a usage, for `pay` and for `settle`. */
  function dueOf(metered: MeteredCall): bigint {
    const { exchange, fixed, due } = metered;
    const reported = reportedBy(exchange);
    // What has failed, or has a fixed price, may cost something else once it has ended.
    const isFinal = fixed === undefined && (exchange.outcome === undefined || exchange.outcome === 'served');
    if (reported === undefined || !isFinal) return computeDue(metered);
    if (due?.of === reported) return due.amount;
    const amount = computeDue(metered);
    metered.due = { of: reported, amount };
    return amount;
  }

  /** If the reported usage is impossible, the call costs at most its maximum. */
  function computeDue(metered: MeteredCall): bigint {
    const { exchange, fixed, terms } = metered;
    const due = tariff.due(exchange, saneOf(metered)?.usage, fixed, terms.factor);
    const reported = reportedBy(exchange);
    if (reported === undefined || tariff.isPossible(reported)) return due;
    return least(due, ceilingOf(metered) ?? metered.first);
  }

  /** As this process sees them: before a call is refused, the other processes have returned the unreserved part of their leases. */
  const stored: Balances = {
    balance: (layer) => ledger().stored(layer),
    debt: (accountId) => ledger().debt(accountId),
  };

  /** The smallest amount that any bucket of a call has left; other calls may use it in the meantime. */
  async function leftFor({ x: { identity }, terms }: Reservation): Promise<bigint> {
    const layers = await leftInEach(stored, identity.account.id, identity.key.id, terms);
    return leastOf(
      layers.map(([, left]) => left),
      LARGEST_CALL,
    );
  }

  /** Reserves the first size that every bucket has room for, in most cases without the store. Rejects with the refusal if there is none. */
  function reserve(
    reservation: Reservation,
    first: ReservationSize,
    rest: () => Iterable<ReservationSize>,
  ): Awaitable<void> {
    const refused = reservation.grow(first.amount, first.room);
    if (refused === undefined) return;
    if (!(refused instanceof Promise)) return reserveLess(reservation, refused, first, rest);
    return refused.then((name) => (name === undefined ? undefined : reserveLess(reservation, name, first, rest)));
  }

  /** `refused`: the bucket that has no room for the first size. */
  async function reserveLess(
    reservation: Reservation,
    refused: string,
    first: ReservationSize,
    rest: () => Iterable<ReservationSize>,
  ): Promise<void> {
    const { x, terms } = reservation;
    const { account, key } = x.identity;
    // What calls returned since a debt was made pays it first.
    if (await ledger().payDebts(account.id, key.id)) {
      if ((await reservation.grow(first.amount, first.room)) === undefined) return;
    }
    const others = [...rest()];
    const smallest = leastOf(
      others.map(({ amount }) => amount),
      first.amount,
    );
    const left = await leftInEach(stored, account.id, key.id, terms);
    const lacking = left.find(([, each]) => each !== undefined && each < smallest)?.[0];
    const owes = (await ledger().debt(account.id)) > 0n;
    let last = refused;
    if (lacking === undefined && !owes) {
      const most = await leftFor(reservation);
      for (const { amount, room, limit } of others) {
        if (room > most) continue;
        const name = await reservation.grow(amount, room);
        if (name === undefined) {
          if (limit !== undefined) x.limitOutput(limit);
          return;
        }
        last = name;
      }
    }
    const layer = lacking ?? layersOf(account.id, key.id, terms).find(({ name }) => name === last);
    if (layer === undefined) throw new Error(`the call has no bucket ${last}`);
    throw await insufficient(stored, layer, smallest);
  }

  /** Adds the prices to the usage record, because a receipt needs them later, when they may have changed. */
  function notePrice(x: Exchange, { tariff: charged, fixed, terms }: MeteredCall, reservation: Reservation): void {
    const { factor, group, limits } = terms;
    // Adding to a copy is much faster than a literal with a spread and one more member.
    const note: Record<string, Json> = Object.assign({}, charged.note(x, fixed));
    note.held = inQuota(reservation.amount);
    if (group !== undefined) note.group = group;
    if (factor !== undefined) note.priceFactor = Number(decimalText(factor));
    if (limits.length > 0) Object.assign(note, noteOfLayers(limits));
    x.note(note);
  }

  /** Reports an implausible usage in the log and the usage record. */
  function noteAnomalies(x: Exchange, due: bigint, metered: MeteredCall, reservation: Reservation): void {
    const anomalies = [...(saneOf(metered)?.anomalies ?? [])];
    const ceiling = due > metered.first ? ceilingOf(metered) : undefined;
    if (ceiling !== undefined && due > ceiling)
      anomalies.push(`it costs ${inQuota(due)} quota, by the limits of the request at most ${inQuota(ceiling)}`);
    if (due > reservation.amount)
      anomalies.push(`it costs ${inQuota(due)} quota, ${inQuota(reservation.amount)} were reserved`);
    if (anomalies.length === 0) return;
    log.warn('usage anomaly', {
      exchange: x.id,
      model: metered.call.model,
      channel: x.served?.channel.name,
      anomalies,
    });
    x.note({ usageAnomalies: anomalies });
  }

  /** Closes the reservation and charges `due`, at most what is reserved. */
  function close(metered: MeteredCall, due: bigint): readonly Step[] | undefined {
    const { exchange: x, reservation } = metered;
    if (reservation !== undefined) {
      metered.charged = least(due, reservation.amount);
      if (metered.charged > 0n) notePrice(x, metered, reservation);
      noteAnomalies(x, due, metered, reservation);
    }
    if (metered.charged === 0n && metered.fixed === undefined && metered.tariff.isUnpriced(x))
      x.note({ unpriced: true });
    if (x.outcome === 'served' || metered.withheld !== undefined) x.header('x-turnpike-cost', inQuota(metered.charged));
    return reservation?.close(metered.charged, clock.now());
  }

  /** Raises the reservation to `amount`, or as far as possible. Never rejects; an amount that cannot be reserved is not charged. */
  function grow(metered: MeteredCall, amount: bigint): Awaitable<void> {
    const reservation = metered.reservation!;
    const wanted = least(amount, LARGEST_CALL) - reservation.amount;
    if (wanted <= 0n) return;
    const refused = reservation.grow(wanted);
    if (refused === undefined) return;
    return growSlowly(reservation, refused, wanted);
  }

  async function growSlowly(
    reservation: Reservation,
    refused: Awaitable<string | undefined>,
    wanted: bigint,
  ): Promise<void> {
    try {
      if ((await refused) === undefined) return;
      const left = least(await leftFor(reservation), wanted);
      if (left > 0n) await reservation.grow(left);
    } catch (error) {
      log.warn('a reservation could not be increased', { exchange: reservation.x.id, error });
    }
  }

  /** Reserves more before a stream needs it; a piece that cannot be paid is not sent. */
  function check(metered: MeteredCall, textLength: number): Promise<void> | undefined {
    if (textLength < metered.checkAt) return undefined;
    metered.checkAt = textLength + CHECK_EACH;
    const due = dueOf(metered);
    const { amount } = metered.reservation!;
    if (due > amount) return growOrCut(metered, due);
    if (due * 4n > amount * 3n && metered.growing === undefined && !metered.isFull) {
      const growing = grow(metered, least(due * 2n, ceilingOf(metered) ?? due * 2n));
      const grown = (): void => {
        metered.growing = undefined;
        metered.isFull = metered.reservation!.amount === amount;
      };
      if (growing instanceof Promise) metered.growing = growing.then(grown);
      else grown();
    }
    return undefined;
  }

  async function growOrCut(metered: MeteredCall, due: bigint): Promise<void> {
    await metered.growing;
    await grow(metered, due);
    if (metered.reservation!.amount >= due) return;
    metered.withheld = due;
    throw exceeded(metered.reservation!);
  }

  /** Admits a call on these terms. */
  function admitOn(x: Known, terms: Terms): Awaitable<void> {
    const first = firstOf(x, terms);
    if (first === undefined) return admitted(x, terms, undefined);
    if (terms.refusal !== undefined) throw terms.refusal;
    // A reservation does not need the store. But if an answer cannot be charged, the operator still pays the vendor for
    // it.
    if (store.pressure().oldestMs > LONGEST_WAIT_MS) {
      throw new StoreUnavailable('the store cannot be written now, or is far behind');
    }
    const reservation = new Reservation(leases, x, terms);
    if (terms.beyond !== undefined) return admitWithin(x, terms, terms.beyond, reservation);
    const reserving = reserve(reservation, first, () => othersOf(x, terms));
    if (reserving instanceof Promise) return reserving.then(() => admitted(x, terms, reservation));
    return admitted(x, terms, reservation);
  }

  /**
   * Admits a call that a subscription includes if its windows have room for the whole answer; otherwise the account pays, and if it cannot, the
   * subscription includes a shorter answer.
   */
  async function admitWithin(x: Known, terms: Terms, beyond: Terms, reservation: Reservation): Promise<void> {
    const [first, ...rest] = sizesOf(x, terms);
    for (const { amount, room, limit } of [first!, ...rest]) {
      if (limit !== undefined && limit < WHOLE_ANSWER) break;
      if ((await reservation.grow(amount, room)) !== undefined) continue;
      if (limit !== undefined) x.limitOutput(limit);
      return admitted(x, terms, reservation);
    }
    try {
      return await admitOn(x, beyond);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // The refusal is that of the account: crediting it helps.
      await Promise.resolve(reserve(reservation, first!, () => rest)).catch(() => refuse(error));
      admitted(x, terms, reservation);
    }
  }

  /** `screenOn` of a call that its account pays if the windows of a subscription have too little left. */
  async function screenWithin(x: Known, { beyond, ...terms }: Terms): Promise<void> {
    try {
      await screenOn(x, terms);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      await screenOn(x, beyond!);
    }
  }

  /** Whether the least that can be reserved for a call can be reserved now. */
  function screenOn(x: Known, terms: Terms): Awaitable<void> {
    if (terms.beyond !== undefined) return screenWithin(x, terms);
    const first = firstOf(x, terms);
    if (first === undefined) return;
    if (terms.refusal !== undefined) throw terms.refusal;
    const reservation = new Reservation(leases, x, terms);
    if (reservation.covers(first.amount, first.room)) return;
    const smallest = leastOf(
      Array.from(othersOf(x, terms), ({ amount }) => amount),
      first.amount,
    );
    if (reservation.covers(smallest, smallest)) return;
    return screenSlowly(reservation, smallest);
  }

  /** Reserves the amount as `admit` would, which asks the store and the other processes, and gives it back. */
  async function screenSlowly(reservation: Reservation, amount: bigint): Promise<void> {
    const { x, terms } = reservation;
    const { account, key } = x.identity;
    const refused = await reservation.grow(amount, amount);
    if (refused === undefined) {
      const steps = reservation.close(0n, clock.now());
      if (steps.length > 0) await store.atomic(steps);
      return;
    }
    const layer = layersOf(account.id, key.id, terms).find(({ name }) => name === refused);
    if (layer === undefined) throw new Error(`the call has no bucket ${refused}`);
    throw await insufficient(stored, layer, amount);
  }

  function admitted(x: Known, terms: Terms, reservation: Reservation | undefined): void {
    if (x.passthrough === undefined) {
      const unpaid = tariffFor(terms).unpaid(x.call, x.startedMs);
      if (unpaid.length > 0) x.leaveOut(unpaid);
    }
    const metered: MeteredCall = {
      exchange: x,
      call: x.call,
      tariff,
      terms,
      reservation,
      first: reservation?.amount ?? 0n,
      growing: undefined,
      fixed: x.passthrough?.target(x).price,
      checkAt: 0,
      isFull: false,
      withheld: undefined,
      charged: 0n,
      sane: undefined,
      due: undefined,
      index: -1,
    };
    if (reservation !== undefined) {
      begin(metered);
      if (x.call.stream) x.watch((textLength) => check(metered, textLength));
    }
    meteredCalls.set(x, metered);
  }

  return {
    charged: (x) => meteredCalls.get(x)?.charged ?? 0n,
    isIncluded: (x) => meteredCalls.get(x)?.terms.fromAccount === false,

    sizes: sizesOf,

    screen(x, { purpose, isInspected }) {
      // Counting is free, but what takes long to read must be affordable.
      const isFree = !isInspected || (purpose === 'count' && x.call.body.bytes.length < LARGE_COUNT);
      if (isFree || x.passthrough !== undefined) return;
      const terms = termsOf(x);
      return terms instanceof Promise ? terms.then((found) => screenOn(x, found)) : screenOn(x, terms);
    },

    admit(x) {
      const terms = termsOf(x);
      if (terms instanceof Promise) return terms.then((found) => admitOn(x, sharedTerms(found, x.share)));
      return admitOn(x, sharedTerms(terms, x.share));
    },

    pay(x) {
      const metered = meteredCalls.get(x);
      if (metered?.reservation === undefined) return;
      end(metered);
      const due = dueOf(metered);
      // Waits for a reservation that is being raised, because `settle` closes all of it.
      if (metered.growing === undefined && due <= metered.reservation.amount) return;
      return growOrCut(metered, due);
    },

    settle(x) {
      const metered = meteredCalls.get(x);
      if (metered === undefined) return undefined;
      end(metered);
      const { reservation, growing, withheld } = metered;
      if (reservation === undefined) return close(metered, 0n);
      if (withheld !== undefined) return close(metered, withheld);
      const due = dueOf(metered);
      if (growing === undefined && due <= reservation.amount) return close(metered, due);
      return (growing ?? Promise.resolve()).then(() => grow(metered, due)).then(() => close(metered, due));
    },

    unsettled(x) {
      const metered = meteredCalls.get(x);
      if (metered?.reservation === undefined) return;
      unsettled.add(metered.reservation);
      // Another process may have taken over the lease. If the check fails, the store is unavailable and no call is admitted anyway.
      leases.check().catch(() => {});
    },

    async checkpoint() {
      const steps: Step[] = [];
      for (const metered of running) {
        const { exchange: x } = metered;
        if (metered.tariff !== tariff || metered.reservation === undefined || !x.delivered) continue;
        steps.push(...(metered.reservation.checkpoint(least(dueOf(metered), metered.reservation.amount), boot) ?? []));
      }
      if (steps.length === 0) return;
      if ((await store.atomic([...steps, aliveStep(boot)], 'ran')) !== undefined) await leases.check();
    },
  };
}

/** The usage before it was corrected. */
function reportedBy(x: Exchange): Usage | undefined {
  return x.reported ?? x.usage;
}

/** The terms of a call of which only `share` millionths of the price are charged. */
function sharedTerms(terms: Terms, share: number | undefined): Terms {
  if (share === undefined) return terms;
  const { beyond } = terms;
  return {
    ...terms,
    factor: productOfFactors([terms.factor, millionths(share)]),
    ...(beyond !== undefined && { beyond: sharedTerms(beyond, share) }),
  };
}

/** Whether the maximum cost of a call is not known: its output has no limit, or it has media, recordings or vendor-side tools. */
export function isGuess({ bounds }: Call): boolean {
  const { outputTokens, media, seconds = 0 } = bounds;
  return outputTokens === undefined || media > 0 || seconds > 0 || bounds.open?.() === true;
}

function exceeded({ amount }: Reservation): GatewayError {
  const message = `The answer was cut off: it costs more than the ${inQuota(amount)} quota that could be reserved for it. Credit the account, or request fewer output tokens.`;
  return errors.QUOTA_HOLD_EXCEEDED(message);
}
