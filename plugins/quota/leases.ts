/**
 * The leases of this process: calls are admitted inside them without a word to the store (escrow, O'Neil 1986). Amounts are micro-quota.
 *
 * Alone over its store, a process leases all that a bucket has left. Whoever takes something away has it recalled first, and for a while
 * afterwards each call leases just what it holds.
 */
import { type Clock, type Host, type Statement, StoreUnavailable } from '../../core/plugin.ts';
import { type Place, placeOf, THIS_BUCKET } from './buckets.ts';
import { Lease, type Share } from './lease.ts';
import { LARGEST_CALL } from './tables.ts';

/** How long nothing is leased in advance after a recall: longer than the list takes that it was for. */
const EXACT_MS = 2_000;
/** A lease that no call was taken from for so long goes back; sooner where there are many. */
const IDLE_MS = 900_000;
const IDLE_OF_MANY_MS = 60_000;
const MANY = 10_000;
/** Leases that one list gives back. */
const BITE = 200;
/** What is leased of a bucket without a limit at a time: enough for the most expensive of calls. */
const UNLIMITED = LARGEST_CALL;
/** How often a lease is asked for while others change what there is. */
const TRIES = 5;

/** The leases. */
export interface Leases {
  /** The lease of a bucket; there is nothing in it until it is asked for. */
  of(place: Place): Lease;
  /** The same, where there is one. */
  find(place: Place): Lease | undefined;
  /**
   * Holds `amount` of every share that pays, where each has `room` left, or nothing. Undefined: it is held; else the name of the first
   * bucket that has too little. A promise where the store has to be asked: it rejects where that cannot answer.
   */
  hold(shares: readonly Share[], amount: bigint, room: bigint): string | undefined | Promise<string | undefined>;
  /** Gives back what no call holds of a bucket: whoever takes something out of it asks for that first. Rejects where it cannot be written. */
  recall(place: Place): Promise<void>;
  /** Gives back leases that were not used for a while. */
  returnIdle(): Promise<void>;
  /** Gives back all that no call holds. */
  returnAll(): Promise<void>;
}

interface BucketRow {
  readonly left: string;
  /** What is used or held of it. */
  readonly gone: string;
  readonly unlimited: number;
  readonly owes: number;
}

const READ = `SELECT CAST(granted - used - held AS TEXT) AS "left", CAST(used + held AS TEXT) AS gone, unlimited,
  CASE WHEN debt > 0 THEN 1 ELSE 0 END AS owes FROM bucket WHERE ${THIS_BUCKET}`;

/** Makes them; `boot` is their epoch. */
export function createLeases({ store, clock, boot }: Pick<Host, 'store' | 'boot'> & { readonly clock: Clock }): Leases {
  const accounts = new Map<number, Lease>();
  const keys = new Map<number, Lease>();
  const others = new Map<string, Lease>();
  /** What is being asked for, and what will be behind that. */
  const filling = new Map<Lease, { now: Promise<void>; next: Promise<void> | undefined }>();

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
      if ((await store.atomic(lease.taking(amount, room, limit))) !== undefined) return false;
    } finally {
      lease.moving -= amount;
    }
    lease.amount += amount;
    lease.held += held;
    return true;
  }

  /** Leases all that the bucket has left. */
  async function fill(lease: Lease, limit: bigint | undefined): Promise<void> {
    if (limit !== lease.limit) await giveBack([lease]);
    for (let tries = 0; tries < TRIES && !isExact(lease); tries++) {
      // What calls have given back by now is on its way to the bucket: it is read when that is written.
      await store.atomic([]);
      const row = await store.one<BucketRow>(READ, ...placeOf(lease));
      if (row === undefined && limit === undefined) return;
      if (row?.owes === 1) {
        lease.isOpen = false;
        return;
      }
      const isUnlimited = limit === undefined && row?.unlimited === 1;
      const left = limit === undefined ? BigInt(row!.left) : limit - BigInt(row?.gone ?? 0);
      const amount = isUnlimited ? UNLIMITED : left;
      // The limit was lowered: what calls give back is not there to be held again.
      if (amount < 0n) return;
      if (amount > 0n && !(await take(lease, amount, amount, limit))) continue;
      lease.isUnlimited = isUnlimited;
      lease.limit = limit;
      lease.isOpen = true;
      return;
    }
  }

  /** A `fill` that begins after this: what was put into the bucket until now is found. */
  function refill(lease: Lease, limit: bigint | undefined): Promise<void> {
    const begin = (): Promise<void> => {
      const now = fill(lease, limit).finally(() => {
        if (filling.get(lease) === state && state.next === undefined) filling.delete(lease);
      });
      const state = { now, next: undefined };
      filling.set(lease, state);
      return now;
    };
    const state = filling.get(lease);
    if (state === undefined) return begin();
    state.next ??= state.now.then(begin, begin);
    return state.next;
  }

  const isExact = (lease: Lease): boolean => clock.mono() < lease.exactUntilMs;

  function isCovered({ lease, limit, pays }: Share, amount: bigint, room: bigint): boolean {
    return lease.limit === limit && (pays ? lease.covers(amount, room) : lease.isOpen);
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

  /** Holds `amount` of one bucket that was just asked for more, where it pays; false where it has too little. */
  async function holdOf(share: Share, amount: bigint, room: bigint): Promise<boolean> {
    const { lease, pays } = share;
    if (isExact(lease)) return pays ? holdExactly(share, amount, room) : holdExactly(share, 0n, 0n);
    const isHeld = isCovered(share, amount, room);
    if (isHeld && pays) lease.held += amount;
    return isHeld;
  }

  async function holdSlowly(asked: readonly Share[], amount: bigint, room: bigint): Promise<string | undefined> {
    // Where a call holds nothing of a bucket, the lease that it knows may have gone back, and another be in its place.
    const shares = asked.map((share) => (share.pays ? share : { ...share, lease: of(share.lease) }));
    const done: Share[] = [];
    const undo = (): void => {
      for (const { lease, pays } of done) if (pays) lease.held -= amount;
    };
    const now = clock.mono();
    for (const { lease } of shares) lease.usedMs = now;
    try {
      // All at once: they are read, and written, together.
      await Promise.all(
        shares.map((share) => {
          const { lease, limit } = share;
          return isExact(lease) || isCovered(share, amount, room) ? undefined : refill(lease, limit);
        }),
      );
      for (const share of shares) {
        if (!(await holdOf(share, amount, room))) {
          undo();
          return share.lease.name;
        }
        done.push(share);
      }
    } catch (error) {
      undo();
      throw error;
    }
    return undefined;
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
      lease.moving += free;
      returned.push({ lease, free });
      steps.push(...lease.returning(free));
    }
    if (steps.length === 0) return;
    let isWritten = false;
    try {
      const failed = await store.atomic(steps);
      if (failed !== undefined) throw new StoreUnavailable(`a lease could not be given back: ${failed}`);
      isWritten = true;
    } finally {
      for (const { lease, free } of returned) {
        lease.moving -= free;
        if (!isWritten) lease.amount += free;
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

  return {
    of,
    find,

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

    async recall(place) {
      const lease = of(place);
      // However long the store takes.
      lease.exactUntilMs = Number.POSITIVE_INFINITY;
      lease.isOpen = false;
      try {
        for (let state = filling.get(lease); state !== undefined; state = filling.get(lease)) {
          await (state.next ?? state.now).catch(() => {});
        }
        await giveBack([lease]);
      } finally {
        lease.exactUntilMs = clock.mono() + EXACT_MS;
      }
    },

    async returnIdle() {
      const leases = all();
      const before = clock.mono() - (leases.length > MANY ? IDLE_OF_MANY_MS : IDLE_MS);
      const isIdle = (lease: Lease): boolean =>
        lease.usedMs < before && lease.held === 0n && lease.moving === 0n && !isExact(lease) && !filling.has(lease);
      // A call that has come since then has it in its hands, and not only what it holds of it.
      await returnThose(leases.filter(isIdle), (lease) => {
        if (isIdle(lease) && lease.amount === 0n) forget(lease);
      });
    },

    returnAll: () => returnThose(all(), () => {}),
  };
}
