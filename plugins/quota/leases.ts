/**
 * The leases of this process: calls are admitted inside them without a word to the store (escrow, O'Neil 1986). Amounts are micro-quota.
 *
 * Alone over its store, a process leases all that a bucket has left. One of several leases what its calls ask for, or what it spends of the
 * bucket in two seconds, as long as half of the bucket is left to the others; and before it refuses a call, it asks the others to give back
 * what they do not hold. Whoever takes something away has it recalled first. For a while after a recall each call leases just what it holds.
 */
import { type Clock, type Host, type Json, type Statement, StoreUnavailable } from '../../core/plugin.ts';
import { type Place, placeOf, THIS_BUCKET } from './buckets.ts';
import { Lease, type Share } from './lease.ts';
import { aliveStep, joinStep, LEASE_LOST } from './processes.ts';
import { Soon } from './soon.ts';
import { LARGEST_CALL } from './tables.ts';

/** How long nothing is leased in advance after a recall: longer than the list takes that it was for. */
const EXACT_MS = 2_000;
/** How long after a recall the others are not asked again: they lease exactly for longer, so that they have nothing to give back. */
const QUIET_MS = 100;
/** How long one of several processes believes that an account owes nothing which pays none of its calls. */
const BELIEVED_MS = 4_000;
/** A lease that no call was taken from for so long goes back; sooner where there are many, or others may want it. */
const IDLE_MS = 900_000;
const SHORT_IDLE_MS = 60_000;
const MANY = 10_000;
/** Leases that one list gives back. */
const BITE = 200;
/** What is leased of a bucket without a limit at a time: enough for the most expensive of calls. */
const UNLIMITED = LARGEST_CALL;
/** How often a lease is asked for while others change what there is. */
const TRIES = 5;

/** What processes ask each other: to give a bucket back; how much they have of some that no call holds. */
const RECALL = 'quota.recall';
const FREE = 'quota.free';

/** The leases. */
export interface Leases {
  /** Enters this process among those that lease, once. Nothing can be leased before. */
  join(): Promise<void>;
  /** The lease of a bucket; there is nothing in it until it is asked for. */
  of(place: Place): Lease;
  /** The same, where there is one. */
  find(place: Place): Lease | undefined;
  /**
   * Holds `amount` of every share that pays, where each has `room` left, or nothing. Undefined: it is held; else the name of the first
   * bucket that has too little. A promise where the store has to be asked: it rejects where that cannot answer.
   */
  hold(shares: readonly Share[], amount: bigint, room: bigint): string | undefined | Promise<string | undefined>;
  /**
   * Has every process give back what no call holds of a bucket: whoever takes something out of it asks for that first. Resolves with the epochs
   * of those that have, this one among them; one that does not answer is waited for two seconds. Rejects where this one cannot.
   */
  recall(place: Place): Promise<readonly string[]>;
  /** What the other processes have of each of some buckets that no call of theirs holds. */
  freeElsewhere(places: readonly Place[]): Promise<readonly bigint[]>;
  /** Gives back leases that were not used for a while. */
  returnIdle(): Promise<void>;
  /** Gives back all that no call holds. */
  returnAll(): Promise<void>;
  /** Rejects where this process was given up for dead and its leases taken over; from then on every call that needs one is refused with 503. */
  check(): Promise<void>;
}

interface BucketRow {
  readonly left: string;
  /** What is used or held of it. */
  readonly gone: string;
  readonly unlimited: number;
  readonly owes: number;
}

/** A bucket at one moment. */
interface Look {
  readonly row: BucketRow | undefined;
  /** What calls that share the look take out of it. */
  taken: bigint;
}

const READ = `SELECT CAST(granted - used - held AS TEXT) AS "left", CAST(used + held AS TEXT) AS gone, unlimited,
  CASE WHEN debt > 0 THEN 1 ELSE 0 END AS owes FROM bucket WHERE ${THIS_BUCKET}`;

/** Makes them, for the epoch `boot`. */
export function createLeases({
  store,
  clock,
  boot,
  peers,
  log,
}: Pick<Host, 'store' | 'boot' | 'peers' | 'log'> & { readonly clock: Clock }): Leases {
  const accounts = new Map<number, Lease>();
  const keys = new Map<number, Lease>();
  const others = new Map<string, Lease>();
  /** What is being asked for. */
  const filling = new Soon<Lease, void>();
  /** What is being looked up for calls that take exactly what they hold. */
  const looking = new Soon<Lease, Look>();
  /** What the other processes are being asked to give back. */
  const recalling = new Map<Lease, Promise<boolean>>();
  let joined: Promise<unknown> | undefined;
  /** This process was given up for dead. */
  let isLost = false;

  const isAlone = (): boolean => peers.count === 1;

  function find({ kind, owner, windowStart = 0 }: Place): Lease | undefined {
    if (kind === 'account') return accounts.get(owner);
    return kind === 'key' ? keys.get(owner) : others.get(`${kind} ${owner} ${windowStart}`);
  }

  function of(place: Place): Lease {
    const known = find(place);
    if (known !== undefined) return known;
    const lease = new Lease(place, boot);
    if (place.kind === 'account') accounts.set(place.owner, lease);
    else if (place.kind === 'key') keys.set(place.owner, lease);
    else others.set(`${lease.kind} ${lease.owner} ${lease.windowStart}`, lease);
    lease.usedMs = clock.mono();
    return lease;
  }

  function forget({ kind, owner, windowStart }: Lease): void {
    if (kind === 'account') accounts.delete(owner);
    else if (kind === 'key') keys.delete(owner);
    else others.delete(`${kind} ${owner} ${windowStart}`);
  }

  /** Takes `amount` out of the bucket, and holds `held` of it in the same turn; false where it has no `room`. */
  async function take(
    lease: Lease,
    amount: bigint,
    room: bigint,
    limit: bigint | undefined,
    held = 0n,
  ): Promise<boolean> {
    lease.moving += amount;
    try {
      const failed = await store.atomic(lease.taking(amount, room, limit));
      if (failed === LEASE_LOST) throw lost();
      if (failed !== undefined) return false;
    } finally {
      lease.moving -= amount;
    }
    lease.amount += amount;
    lease.taken += amount;
    lease.held += held;
    return true;
  }

  /** What this process leases was taken over: nothing more is admitted from it. */
  function lost(): StoreUnavailable {
    if (!isLost) log.error('this process was given up for dead, and its leases taken over: start it again');
    isLost = true;
    for (const lease of all()) lease.isOpen = false;
    return new StoreUnavailable('this process was given up for dead');
  }

  /** What is leased where so much is left; undefined: nothing in advance, each call takes just what it holds. */
  function sliceOf(lease: Lease, left: bigint): bigint | undefined {
    if (left < 0n) return undefined;
    if (isAlone()) return left;
    const lacking = lease.wanted - lease.free;
    if (left < lacking) return undefined;
    const ahead = least(lease.spentLately(clock.mono()) - lease.free, left / BigInt(2 * peers.count));
    const more = lacking > ahead ? lacking : ahead;
    return more > 0n ? more : 0n;
  }

  /** Leases what the bucket has left, or a slice of it. */
  async function fill(lease: Lease, limit: bigint | undefined): Promise<void> {
    if (limit !== lease.limit) await giveBack([lease]);
    for (let tries = 0; tries < TRIES && !isExact(lease); tries++) {
      // Another has asked for it in the same turn.
      if (!isAlone() && lease.limit === limit && lease.wanted > 0n && lease.covers(lease.wanted, lease.wanted)) return;
      const row = await read(lease);
      if (row === undefined && limit === undefined) return;
      if (row?.owes === 1) {
        lease.isOpen = false;
        return;
      }
      const isUnlimited = limit === undefined && row?.unlimited === 1;
      const left = leftOf(row, limit);
      // Where the limit was lowered, what calls give back is not there to be held again.
      const amount = isUnlimited ? UNLIMITED : sliceOf(lease, left);
      if (amount === undefined) return;
      if (amount > 0n && !(await take(lease, amount, amount, limit))) continue;
      lease.isUnlimited = isUnlimited;
      lease.limit = limit;
      lease.isOpen = !isLost;
      lease.openedMs = clock.mono();
      return;
    }
  }

  /** The row of a bucket. What calls have given back by now is on its way there: the row is read when that is written. */
  async function read(place: Place): Promise<BucketRow | undefined> {
    await store.atomic([]);
    return store.one<BucketRow>(READ, ...placeOf(place));
  }

  /** A `fill` that begins after this: what was put into the bucket until now is found. */
  const refill = (lease: Lease, limit: bigint | undefined): Promise<void> =>
    filling.ask(lease, () => fill(lease, limit));

  const isExact = (lease: Lease): boolean => clock.mono() < lease.exactUntilMs;

  function isCovered({ lease, limit, pays }: Share, amount: bigint, room: bigint): boolean {
    return lease.limit === limit && (pays ? lease.covers(amount, room) : isBelieved(lease));
  }

  /** Whether nothing is known against calls that the account does not pay. A message that it owes something may be lost. */
  function isBelieved({ isOpen, openedMs }: Lease): boolean {
    return isOpen && (isAlone() || clock.mono() - openedMs < BELIEVED_MS);
  }

  /** Holds what is free of the lease, which a call has left there that another bucket refused, and takes no more than the rest out of the bucket. */
  async function holdExactly({ lease, limit }: Share, amount: bigint, room: bigint): Promise<boolean> {
    const { free } = lease;
    const own = free < amount ? free : amount;
    const lacking = room > free ? room - free : 0n;
    lease.held += own;
    let isTaken = false;
    try {
      isTaken = await take(lease, amount - own, lacking, limit, amount - own);
    } finally {
      if (!isTaken) lease.held -= own;
    }
    return isTaken;
  }

  /** Holds `amount` of one bucket that was just asked for more, where it pays; false where it has too little, all processes taken together. */
  async function holdOf(share: Share, amount: bigint, room: bigint): Promise<boolean> {
    const { lease, pays } = share;
    if (!isExact(lease)) {
      if (isCovered(share, amount, room)) {
        if (pays) lease.held += amount;
        return true;
      }
      if (isAlone()) return false;
    }
    if (!pays) return holdExactly(share, 0n, 0n);
    return (await holdIfThere(share, amount, room)) || ((await callBack(lease)) && holdIfThere(share, amount, room));
  }

  /**
   * `holdExactly`. Of several calls at the end of a bucket, the lists of most would fail, one after the other: those that come while another
   * call takes from it share a look at what is left, and only as many take as there is for. The list decides in any case.
   */
  async function holdIfThere(share: Share, amount: bigint, room: bigint): Promise<boolean> {
    const { lease, limit } = share;
    if (lease.takers > 0 && lease.free < room) {
      const look = await looking.ask(lease, async () => ({ row: await read(lease), taken: 0n }));
      const { free } = lease;
      if (free < room && !hasRoom(look, limit, room - free)) return false;
      if (amount > free) look.taken += amount - free;
    }
    lease.takers++;
    try {
      return await holdExactly(share, amount, room);
    } finally {
      lease.takers--;
    }
  }

  /** Has what no call holds of a bucket given back by all; false where that was done a moment ago, or there is nobody else. */
  async function callBack(lease: Lease): Promise<boolean> {
    if (isAlone()) return false;
    const underWay = recalling.get(lease);
    if (underWay !== undefined) return underWay;
    if (clock.mono() < lease.recalledUntilMs) return false;
    const done = recall(lease)
      .then(() => {
        lease.recalledUntilMs = clock.mono() + QUIET_MS;
        return true;
      })
      .finally(() => recalling.delete(lease));
    recalling.set(lease, done);
    return done;
  }

  async function recall(place: Place): Promise<readonly string[]> {
    const asked = peers.ask(RECALL, [...placeOf(place)] as Json);
    await recallOwn(place);
    return [boot, ...((await asked) as readonly string[])];
  }

  async function recallOwn(place: Place): Promise<void> {
    const lease = of(place);
    // However long the store takes.
    lease.exactUntilMs = Number.POSITIVE_INFINITY;
    lease.isOpen = false;
    try {
      for (let fill = filling.last(lease); fill !== undefined; fill = filling.last(lease)) await fill.catch(() => {});
      await giveBack([lease]);
    } finally {
      lease.exactUntilMs = clock.mono() + EXACT_MS;
    }
  }

  async function holdSlowly(asked: readonly Share[], amount: bigint, room: bigint): Promise<string | undefined> {
    if (isLost) throw lost();
    // Where a call holds nothing of a bucket, the lease that it knows may have gone back, and another be in its place.
    const shares = asked.map((share) => (share.pays ? share : { ...share, lease: of(share.lease) }));
    const done: Lease[] = [];
    const undo = (): void => {
      for (const lease of done) lease.held -= amount;
    };
    const now = clock.mono();
    for (const { lease } of shares) lease.usedMs = now;
    try {
      await refillAll(shares, amount, room);
      for (const share of shares) {
        if (await holdOf(share, amount, room)) {
          if (share.pays) done.push(share.lease);
          continue;
        }
        undo();
        // Others may be waiting for what was taken in vain.
        if (!isAlone()) await giveBack(done.splice(0).filter(({ isOpen }) => !isOpen));
        return share.lease.name;
      }
    } catch (error) {
      undo();
      throw error;
    }
    return undefined;
  }

  /** Asks for more of the leases that do not cover their share. All at once: they are read, and written, together. */
  async function refillAll(shares: readonly Share[], amount: bigint, room: bigint): Promise<void> {
    const lacking = shares.filter((share) => !isExact(share.lease) && !isCovered(share, amount, room));
    const wantOf = ({ lease, pays }: Share): bigint => {
      if (!pays) return 0n;
      return lease.isUnlimited ? amount : room;
    };
    const wants = lacking.map(wantOf);
    for (const [i, { lease }] of lacking.entries()) lease.wanted += wants[i]!;
    try {
      await Promise.all(lacking.map(({ lease, limit }) => refill(lease, limit)));
    } finally {
      for (const [i, { lease }] of lacking.entries()) lease.wanted -= wants[i]!;
    }
  }

  /** Gives back what no call holds of some leases. */
  async function giveBack(leases: readonly Lease[]): Promise<void> {
    const returned: { lease: Lease; free: bigint }[] = [];
    const steps: Statement[] = [];
    for (const lease of leases) {
      const { free } = lease;
      lease.isOpen = false;
      if (free === 0n) continue;
      lease.amount -= free;
      lease.taken -= free;
      lease.moving += free;
      returned.push({ lease, free });
      steps.push(...lease.returning(free));
    }
    if (steps.length === 0) return;
    let isWritten = false;
    try {
      const failed = await store.atomic(steps);
      if (failed === LEASE_LOST) throw lost();
      if (failed !== undefined) throw new StoreUnavailable(`a lease could not be given back: ${failed}`);
      isWritten = true;
    } finally {
      for (const { lease, free } of returned) {
        lease.moving -= free;
        if (isWritten) continue;
        lease.amount += free;
        lease.taken += free;
      }
    }
  }

  const all = (): Lease[] => [...accounts.values(), ...keys.values(), ...others.values()];

  async function returnThose(leases: readonly Lease[], returned: (lease: Lease) => void): Promise<void> {
    for (let at = 0; at < leases.length; at += BITE) {
      const some = leases.slice(at, at + BITE);
      await giveBack(some);
      some.forEach(returned);
    }
  }

  peers.on(RECALL, async (message) => {
    await recallOwn(placeIn(message));
    // What calls have given back by now is there for others when it is written.
    await store.atomic([]);
    return boot;
  });
  peers.on(FREE, (message) =>
    (message as readonly Json[]).map((each) => {
      const lease = find(placeIn(each));
      return lease === undefined ? '0' : `${lease.free + lease.moving}`;
    }),
  );

  return {
    join() {
      joined ??= store.atomic([joinStep(boot, clock.now())]).catch((error) => {
        joined = undefined;
        throw error;
      });
      return joined.then(() => {});
    },

    of,
    find,
    recall,

    hold(shares, amount, room) {
      for (let i = 0; i < shares.length; i++) {
        if (!isCovered(shares[i]!, amount, room)) return holdSlowly(shares, amount, room);
      }
      const now = clock.mono();
      for (let i = 0; i < shares.length; i++) {
        const { lease, pays } = shares[i]!;
        if (pays) lease.held += amount;
        lease.usedMs = now;
      }
      return undefined;
    },

    async freeElsewhere(places) {
      const sums = places.map(() => 0n);
      if (places.length === 0) return sums;
      const answers = await peers.ask(FREE, places.map((place) => [...placeOf(place)]) as Json);
      for (const answer of answers as readonly (readonly string[])[]) {
        for (const [i, free] of answer.entries()) sums[i] = sums[i]! + BigInt(free);
      }
      return sums;
    },

    async returnIdle() {
      const leases = all();
      const before = clock.mono() - (leases.length > MANY || !isAlone() ? SHORT_IDLE_MS : IDLE_MS);
      const isIdle = (lease: Lease): boolean =>
        lease.usedMs < before &&
        lease.held === 0n &&
        lease.moving === 0n &&
        !isExact(lease) &&
        filling.last(lease) === undefined;
      // A call that has come since then has it in its hands, and not only what it holds of it.
      await returnThose(leases.filter(isIdle), (lease) => {
        if (isIdle(lease) && lease.amount === 0n) forget(lease);
      });
    },

    returnAll: () => returnThose(all(), () => {}),

    async check() {
      if (isLost || (await store.atomic([aliveStep(boot)])) !== undefined) throw lost();
    },
  };
}

/** What is left in the bucket of a row, where it has a limit. */
function leftOf(row: BucketRow | undefined, limit: bigint | undefined): bigint {
  return limit === undefined ? BigInt(row?.left ?? 0) : limit - BigInt(row?.gone ?? 0);
}

function hasRoom({ row, taken }: Look, limit: bigint | undefined, room: bigint): boolean {
  if (row?.owes === 1) return false;
  if (limit === undefined && row?.unlimited === 1) return true;
  return leftOf(row, limit) - taken >= room;
}

/** The place that a message of another process names. */
function placeIn(message: Json): Place {
  const [kind, owner, windowStart] = message as unknown as [Place['kind'], number, number];
  return { kind, owner, windowStart };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
