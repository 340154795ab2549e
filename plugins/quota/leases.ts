/**
 * The leases of this process: calls are admitted inside them without the store (escrow, O'Neil 1986). Amounts are micro-quota.
 *
 * A process that has the store to itself leases everything a bucket has left. If several processes share the store, each leases the amount that its
 * calls need, or the amount that it spends of the bucket in two seconds, and leaves at least half of the bucket to the others. Before a process
 * refuses a call, it recalls the bucket: all processes return the part of their lease that no call has reserved. Operations that remove money from a
 * bucket also recall it first. For two seconds after a recall, each call leases exactly the amount it reserves.
 */
import { COUNTED, type Layer } from '../../core/contracts/ledger.ts';
import {
  type Awaitable,
  type Clock,
  type Host,
  type Json,
  type Statement,
  StoreUnavailable,
} from '../../core/plugin.ts';
import { bucketParams, least, THIS_BUCKET } from './buckets.ts';
import { Coalescer } from './coalescer.ts';
import { Lease, type Share } from './lease.ts';
import { aliveStep, joinStep, LEASE_LOST } from './processes.ts';
import { LARGEST_CALL } from './tables.ts';

/** After a recall, nothing is leased in advance for this long, so that the list that needed the recall can be written. */
const EXACT_MS = 2_000;
/** A bucket is not recalled again for this long: the other processes still lease exact amounts, and have nothing to return. */
const QUIET_MS = 100;
/** If several processes share the store: how long a process assumes that an account without charges has no debt. */
const NO_DEBT_MS = 4_000;
/** A lease that no call has used for this long is returned; sooner if there are many leases, or other processes may need it. */
const IDLE_MS = 900_000;
const SHORT_IDLE_MS = 60_000;
const MANY = 10_000;
/** Leases that one list returns. */
const BATCH = 200;
/** The amount leased at a time from a bucket without a limit: enough for the most expensive call. */
const UNLIMITED = LARGEST_CALL;
/** How often a lease is tried while other processes change the bucket. */
const TRIES = 5;

/** Messages between processes: return the unreserved part of a lease; report the unreserved part of some leases. */
const RECALL = 'quota.recall';
const FREE = 'quota.free';

interface BucketRow {
  readonly left: string;
  /** The used and held amounts. */
  readonly taken: string;
  readonly unlimited: number;
  readonly owes: number;
}

/** A bucket at one moment. */
interface Snapshot {
  readonly row: BucketRow | undefined;
  /** The amount that calls sharing the snapshot have taken out of the bucket. */
  taken: bigint;
}

const READ = `SELECT CAST(granted - used - held AS TEXT) AS "left", CAST(used + held AS TEXT) AS taken, unlimited,
  CASE WHEN debt > 0 THEN 1 ELSE 0 END AS owes FROM bucket WHERE ${THIS_BUCKET}`;

/** Makes the leases of the epoch `boot`. */
export function createLeases({
  store,
  clock,
  boot,
  peers,
  log,
}: Pick<Host, 'store' | 'boot' | 'peers' | 'log'> & { readonly clock: Clock }) {
  const accounts = new Map<number, Lease>();
  const keys = new Map<number, Lease>();
  const others = new Map<string, Lease>();
  const filling = new Coalescer<Lease, void>();
  /** Snapshots for calls that lease their exact amount. */
  const reading = new Coalescer<Lease, Snapshot>();
  /** Leases whose buckets are being recalled. */
  const recalling = new Map<Lease, Promise<boolean>>();
  let joined: Promise<unknown> | undefined;
  /** This process was presumed dead, and its leases taken over. */
  let isLost = false;

  const isAlone = (): boolean => peers.count === 1;

  function find({ kind, owner, windowStart = 0 }: Layer): Lease | undefined {
    if (kind === 'account') return accounts.get(owner);
    return kind === 'key' ? keys.get(owner) : others.get(`${kind} ${owner} ${windowStart}`);
  }

  function of(layer: Layer): Lease {
    const existing = find(layer);
    if (existing !== undefined) return existing;
    const lease = new Lease(layer, boot);
    if (layer.kind === 'account') accounts.set(layer.owner, lease);
    else if (layer.kind === 'key') keys.set(layer.owner, lease);
    else others.set(`${lease.kind} ${lease.owner} ${lease.windowStart}`, lease);
    lease.usedMs = clock.mono();
    return lease;
  }

  function forget({ kind, owner, windowStart }: Lease): void {
    if (kind === 'account') accounts.delete(owner);
    else if (kind === 'key') keys.delete(owner);
    else others.delete(`${kind} ${owner} ${windowStart}`);
  }

  /** Leases `amount` from the bucket, and reserves `reserved` of it before any other call can; false if the bucket has no `room`. */
  async function take(
    lease: Lease,
    amount: bigint,
    room: bigint,
    limit: bigint | undefined,
    reserved = 0n,
  ): Promise<boolean> {
    lease.moving += amount;
    try {
      const failed = await store.atomic(lease.takeSteps(amount, room, limit));
      if (failed === LEASE_LOST) throw lost();
      if (failed !== undefined) return false;
    } finally {
      lease.moving -= amount;
    }
    lease.amount += amount;
    lease.taken += amount;
    lease.held += reserved;
    return true;
  }

  /** The leases of this process were taken over: no more calls are admitted from them. */
  function lost(): StoreUnavailable {
    if (!isLost) log.error('this process was presumed dead, and its leases taken over: restart it');
    isLost = true;
    for (const lease of all()) lease.isOpen = false;
    return new StoreUnavailable('this process was presumed dead, and its leases taken over');
  }

  /** The amount to lease if this much is left; undefined: nothing in advance, each call leases exactly the amount it reserves. */
  function sliceOf(lease: Lease, left: bigint): bigint | undefined {
    // The limit was lowered: amounts that calls return must not be reserved again.
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
    if (limit !== lease.limit) await returnFree([lease]);
    for (let tries = 0; tries < TRIES && !isExact(lease); tries++) {
      // Another call has filled it in the same event loop turn.
      if (!isAlone() && lease.limit === limit && lease.wanted > 0n && lease.covers(lease.wanted, lease.wanted)) return;
      const row = await read(lease);
      if (row === undefined && limit === undefined) return;
      if (row?.owes === 1) {
        lease.isOpen = false;
        return;
      }
      const isUnlimited = isWithoutLimit(row, limit);
      const left = leftOf(row, limit);
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

  /** The row of a bucket, read after all pending returns are written. */
  async function read(layer: Layer): Promise<BucketRow | undefined> {
    await store.atomic([]);
    return store.one<BucketRow>(READ, ...bucketParams(layer));
  }

  /** A `fill` that begins after this call, and so finds what was credited until now. */
  const refill = (lease: Lease, limit: bigint | undefined): Promise<void> =>
    filling.run(lease, () => fill(lease, limit));

  const isExact = (lease: Lease): boolean => clock.mono() < lease.exactUntilMs;

  function isCovered({ lease, limit, pays }: Share, amount: bigint, room: bigint): boolean {
    return lease.limit === limit && (pays ? lease.covers(amount, room) : isWithoutDebt(lease));
  }

  /** Whether an account that is not charged may be assumed to have no debt. A message about a new debt may be lost. */
  function isWithoutDebt({ isOpen, openedMs }: Lease): boolean {
    return isOpen && (isAlone() || clock.mono() - openedMs < NO_DEBT_MS);
  }

  /** Reserves the free part of the lease (left by a call that another bucket refused), and leases only the rest from the bucket. */
  async function reserveExactly({ lease, limit }: Share, amount: bigint, room: bigint): Promise<boolean> {
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

  /** Reserves `amount` of one bucket after its lease was refilled; false if all processes together have too little. */
  async function reserveOf(share: Share, amount: bigint, room: bigint): Promise<boolean> {
    const { lease, pays } = share;
    if (!isExact(lease)) {
      if (isCovered(share, amount, room)) {
        if (pays) lease.held += amount;
        return true;
      }
      if (isAlone()) return false;
    }
    if (!pays) return reserveExactly(share, 0n, 0n);
    return (
      (await reserveIfLeft(share, amount, room)) || ((await recallOnce(lease)) && reserveIfLeft(share, amount, room))
    );
  }

  /**
   * `reserveExactly`, if enough is left. When a bucket is nearly used up, the lists of most calls would fail. So calls that
   * arrive while another one leases from the bucket share a snapshot of it, and only as many calls try as the snapshot has room for. The final check
   * is in the list.
   */
  async function reserveIfLeft(share: Share, amount: bigint, room: bigint): Promise<boolean> {
    const { lease, limit } = share;
    if (lease.takers > 0 && lease.free < room) {
      const snapshot = await reading.run(lease, async () => ({ row: await read(lease), taken: 0n }));
      const { free } = lease;
      if (free < room && !hasRoom(snapshot, limit, room - free)) return false;
      if (amount > free) snapshot.taken += amount - free;
    }
    lease.takers++;
    try {
      return await reserveExactly(share, amount, room);
    } finally {
      lease.takers--;
    }
  }

  /** Recalls a bucket; false if that was done a moment ago, or there is no other process. */
  async function recallOnce(lease: Lease): Promise<boolean> {
    if (isAlone()) return false;
    const running = recalling.get(lease);
    if (running !== undefined) return running;
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

  async function recall(layer: Layer): Promise<readonly string[]> {
    const others = peers.ask(RECALL, [...bucketParams(layer)] as Json);
    await recallOwn(layer);
    return [boot, ...((await others) as readonly string[])];
  }

  async function recallOwn(layer: Layer): Promise<void> {
    const lease = of(layer);
    // The time the store takes.
    lease.exactUntilMs = Number.POSITIVE_INFINITY;
    lease.isOpen = false;
    try {
      for (let fill = filling.latest(lease); fill !== undefined; fill = filling.latest(lease))
        await fill.catch(() => {});
      await returnFree([lease]);
    } finally {
      lease.exactUntilMs = clock.mono() + EXACT_MS;
    }
  }

  /** `reserve`, with the store. */
  async function reserveSlowly(ofCall: readonly Share[], amount: bigint, room: bigint): Promise<string | undefined> {
    if (isLost) throw lost();
    // If the call reserves nothing of a lease, the lease may have been returned, and replaced by another.
    const shares = ofCall.map((share) => (share.pays ? share : { ...share, lease: of(share.lease) }));
    const reserved: Lease[] = [];
    const undo = (): void => {
      for (const lease of reserved) lease.held -= amount;
    };
    const now = clock.mono();
    for (const { lease } of shares) lease.usedMs = now;
    try {
      await refillAll(shares, amount, room);
      for (const share of shares) {
        if (await reserveOf(share, amount, room)) {
          if (share.pays) reserved.push(share.lease);
          continue;
        }
        undo();
        // Other processes may be waiting for the amount that this call took and cannot use.
        if (!isAlone()) await returnFree(reserved.splice(0).filter(({ isOpen }) => !isOpen));
        return share.lease.name;
      }
    } catch (error) {
      undo();
      throw error;
    }
    return undefined;
  }

  /** Refills the leases that do not cover their share; all at once, so that they are read and written together. */
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

  /** Returns the unreserved part of some leases. */
  async function returnFree(leases: readonly Lease[]): Promise<void> {
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
      steps.push(...lease.returnSteps(free));
    }
    if (steps.length === 0) return;
    let isWritten = false;
    try {
      const failed = await store.atomic(steps);
      if (failed === LEASE_LOST) throw lost();
      if (failed !== undefined) throw new StoreUnavailable(`a lease could not be returned: ${failed}`);
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

  async function returnInBatches(leases: readonly Lease[], returned: (lease: Lease) => void): Promise<void> {
    for (let at = 0; at < leases.length; at += BATCH) {
      const batch = leases.slice(at, at + BATCH);
      await returnFree(batch);
      batch.forEach(returned);
    }
  }

  peers.on(RECALL, async (message) => {
    await recallOwn(layerIn(message));
    // When this is written, the bucket includes everything that calls have returned so far.
    await store.atomic([]);
    return boot;
  });
  peers.on(FREE, (message) =>
    (message as readonly Json[]).map((each) => {
      const lease = find(layerIn(each));
      return lease === undefined ? '0' : `${lease.free + lease.moving}`;
    }),
  );

  return {
    /** Adds this process to those that lease, once. Nothing can be leased before. */
    join(): Promise<void> {
      joined ??= store.atomic([joinStep(boot, clock.now())]).catch((error) => {
        joined = undefined;
        throw error;
      });
      return joined.then(() => {});
    },

    /** The lease of a bucket; it is empty until a call needs it. */
    of,
    /** The same, if there is one. */
    find,
    /**
     * Makes every process return the unreserved part of its lease of a bucket; required before money is removed from the bucket. Waits up to two
     * seconds, and resolves with the epochs of the processes that have returned it, including this one. Rejects if this process cannot.
     */
    recall,

    /** Whether every bucket has this much left in its lease. */
    cover: (shares: readonly Share[], amount: bigint, room: bigint): boolean =>
      shares.every((share) => isCovered(share, amount, room)),

    /**
     * Reserves `amount` of every share that pays, if each has `room` left, or nothing. Undefined: it is reserved; otherwise the name of the first
     * bucket that has too little. A promise if the store has to be read; it rejects if the store is unavailable.
     */
    reserve(shares: readonly Share[], amount: bigint, room: bigint): Awaitable<string | undefined> {
      for (let i = 0; i < shares.length; i++) {
        if (!isCovered(shares[i]!, amount, room)) return reserveSlowly(shares, amount, room);
      }
      const now = clock.mono();
      for (let i = 0; i < shares.length; i++) {
        const { lease, pays } = shares[i]!;
        if (pays) lease.held += amount;
        lease.usedMs = now;
      }
      return undefined;
    },

    /** The unreserved amounts that the other processes have leased from some buckets. */
    async freeElsewhere(layers: readonly Layer[]): Promise<readonly bigint[]> {
      const sums = layers.map(() => 0n);
      if (layers.length === 0) return sums;
      const answers = await peers.ask(FREE, layers.map((layer) => [...bucketParams(layer)]) as Json);
      for (const answer of answers as readonly (readonly string[])[]) {
        for (const [i, free] of answer.entries()) sums[i] = sums[i]! + BigInt(free);
      }
      return sums;
    },

    /** Returns leases that were not used for `IDLE_MS`. */
    async returnIdle(): Promise<void> {
      const leases = all();
      const before = clock.mono() - (leases.length > MANY || !isAlone() ? SHORT_IDLE_MS : IDLE_MS);
      const isIdle = (lease: Lease): boolean =>
        lease.usedMs < before &&
        lease.held === 0n &&
        lease.moving === 0n &&
        !isExact(lease) &&
        filling.latest(lease) === undefined;
      // A call that began since then keeps the whole lease, not only the reserved part.
      await returnInBatches(leases.filter(isIdle), (lease) => {
        if (isIdle(lease) && lease.amount === 0n) forget(lease);
      });
    },

    /** Returns everything that no call has reserved. */
    returnAll: (): Promise<void> => returnInBatches(all(), () => {}),

    /** Rejects if this process was presumed dead and its leases taken over; from then on every call that needs one is refused with 503. */
    async check(): Promise<void> {
      if (isLost || (await store.atomic([aliveStep(boot)])) !== undefined) throw lost();
    },
  };
}

/** The leases. */
export type Leases = ReturnType<typeof createLeases>;

function isWithoutLimit(row: BucketRow | undefined, limit: bigint | undefined): boolean {
  return limit === COUNTED || (limit === undefined && row?.unlimited === 1);
}

/** The remaining amount of a bucket that has a limit; `limit`: that of a plan or a department. */
function leftOf(row: BucketRow | undefined, limit: bigint | undefined): bigint {
  return limit === undefined ? BigInt(row?.left ?? 0) : limit - BigInt(row?.taken ?? 0);
}

function hasRoom({ row, taken }: Snapshot, limit: bigint | undefined, room: bigint): boolean {
  if (row?.owes === 1) return false;
  if (isWithoutLimit(row, limit)) return true;
  return leftOf(row, limit) - taken >= room;
}

/** Decodes the bucket in a message of another process. */
function layerIn(message: Json): Layer {
  const [kind, owner, windowStart] = message as unknown as [Layer['kind'], number, number];
  return { kind, owner, windowStart };
}
