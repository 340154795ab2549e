/** A lease: the part of one bucket that this process may spend without the store, and the statements that move it. Amounts are micro-quota. */
import { COUNTED, type Layer } from '../../core/contracts/ledger.ts';
import type { Addition, Statement, Step, Sum } from '../../core/plugin.ts';
import { bucketParams, HAS_ROOM, nameOf, THIS_BUCKET } from './buckets.ts';
import { aliveStep, fenceOf, LEASE_LOST } from './processes.ts';
import { DAY_MS } from './tables.ts';

const SPEND = `UPDATE bucket SET used = used + ?, held = held - ? WHERE ${THIS_BUCKET}`;
const SHRINK = `UPDATE lease SET amount = amount - ? WHERE epoch = ? AND ${THIS_BUCKET}`;
const DEBIT = `INSERT INTO debit (amount, kind, owner, window_start, day_ms) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (kind, owner, window_start, day_ms) DO UPDATE SET amount = debit.amount + excluded.amount`;

/** An account with a debt grants no leases. */
const TAKE = `UPDATE bucket SET held = held + ? WHERE ${THIS_BUCKET} AND ${HAS_ROOM} AND debt = 0`;
const GROW = `INSERT INTO lease (epoch, kind, owner, window_start, amount) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (epoch, kind, owner, window_start) DO UPDATE SET amount = lease.amount + excluded.amount`;
const FREE = `UPDATE bucket SET held = held - ? WHERE ${THIS_BUCKET}`;
const FORGET = `DELETE FROM lease WHERE epoch = ? AND ${THIS_BUCKET} AND amount = 0`;
/** A limit follows its plan or department, but never below what is used and held. */
const GRANT = `INSERT INTO bucket (kind, owner, window_start, granted, unlimited) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (kind, owner, window_start) DO UPDATE SET unlimited = excluded.unlimited, granted =
    CASE WHEN excluded.unlimited = 0 AND excluded.granted < bucket.used + bucket.held
      THEN bucket.used + bucket.held ELSE excluded.granted END
  WHERE bucket.granted <> excluded.granted OR bucket.unlimited <> excluded.unlimited`;

/** The length of the period of `spentLately`. */
const LATELY_MS = 2_000;

/** A bucket that a call is charged to. */
export interface Share {
  readonly lease: Lease;
  /** The granted amount, if a plan or a department sets it. */
  readonly limit: bigint | undefined;
  /** False: the call only needs to know whether the account has a debt. */
  readonly pays: boolean;
}

/** A lease in memory. Its row in the store has the same `amount`, once all running lists are written. */
export class Lease implements Layer {
  readonly kind: Layer['kind'];
  readonly owner: number;
  readonly windowStart: number;
  /** The name of its bucket in refusals. */
  readonly name: string;
  readonly #epoch: string;
  readonly #fence: Sum;
  readonly #spent: Sum;
  readonly #shrunk: Sum;
  #debits: Sum | undefined;
  #day = Number.NaN;
  /** The amount spent from it at the last sample, and how much of that in the `LATELY_MS` before. */
  #sample = { atMs: 0, spent: 0n, lately: 0n };

  /** The leased amount that is not spent yet. */
  amount = 0n;
  /** The total leased amount, less returns. */
  taken = 0n;
  /** The part that is reserved for running calls. */
  held = 0n;
  /** Being moved from or to the bucket: until the list is written, it may be in either. */
  moving = 0n;
  /** The amount that waiting calls need. */
  wanted = 0n;
  /** The number of calls that are leasing their exact amount right now. */
  takers = 0;
  /** The bucket has no limit. */
  isUnlimited = false;
  /** The bucket's limit when it was last read, if a plan or a department sets it. */
  limit: bigint | undefined;
  /** It may be spent: the account has no debt, and the lease is up to date. */
  isOpen = false;
  /** When it was last opened. */
  openedMs = Number.NEGATIVE_INFINITY;
  /** Until then, each call leases exactly the amount it reserves, so that the bucket shows the real remainder. */
  exactUntilMs = Number.NEGATIVE_INFINITY;
  /** Until then, the other processes are not recalled again, because they have nothing left to return. */
  recalledUntilMs = Number.NEGATIVE_INFINITY;
  /** When a call last used it. All of these are milliseconds of the monotonic clock. */
  usedMs = 0;
  /** The share of most calls. */
  readonly share: Share = { lease: this, limit: undefined, pays: true };

  constructor(layer: Layer, epoch: string) {
    this.kind = layer.kind;
    this.owner = layer.owner;
    this.windowStart = layer.windowStart ?? 0;
    this.name = nameOf(layer);
    this.#epoch = epoch;
    const params = bucketParams(layer);
    this.#fence = fenceOf(epoch);
    this.#spent = { sql: SPEND, params, must: 'bucket_missing' };
    this.#shrunk = { sql: SHRINK, params: [epoch, ...params], must: LEASE_LOST };
  }

  get free(): bigint {
    return this.amount - this.held;
  }

  /** Whether this much can be reserved at once, with `room` left in the bucket. */
  covers(amount: bigint, room: bigint): boolean {
    return this.isOpen && this.amount - this.held >= (this.isUnlimited ? amount : room);
  }

  /**
   * Spends `charge` of what was `reserved` for one call, and adds the steps that record it to `steps`. Other calls can reserve the part above `kept`
   * (at least the charge) now; the rest is returned to the bucket when the steps are written.
   */
  spend(reserved: bigint, charge: bigint, kept: bigint, atMs: number, steps: Addition[]): void {
    // Exact leases are returned exactly.
    const gone = this.isOpen ? kept : reserved;
    if (!this.isOpen) this.taken -= reserved - kept;
    this.held -= reserved;
    this.amount -= gone;
    this.#write(charge, gone, atMs, steps);
  }

  /** The amount spent from it within the last two seconds: before the last sample, or since then, whichever is more. */
  spentLately(nowMs: number): bigint {
    const spent = this.taken - this.amount;
    const passedMs = nowMs - this.#sample.atMs;
    if (passedMs >= LATELY_MS) {
      const lately = ((spent - this.#sample.spent) * BigInt(LATELY_MS)) / BigInt(Math.ceil(passedMs));
      this.#sample = { atMs: nowMs, spent, lately };
    }
    const since = spent - this.#sample.spent;
    return since > this.#sample.lately ? since : this.#sample.lately;
  }

  #write(charge: bigint, gone: bigint, atMs: number, steps: Addition[]): void {
    if (gone > 0n) {
      // The fence comes first: if the lease is lost, the list fails with that.
      steps.push(
        { to: this.#fence, adds: [0] },
        { to: this.#shrunk, adds: [gone] },
        { to: this.#spent, adds: [charge, gone] },
      );
    }
    if (charge > 0n) steps.push({ to: this.#debitsOn(Math.floor(atMs / DAY_MS)), adds: [charge] });
  }

  /** Reserves again what `spend` kept, if its steps could not be written. Other calls may have reserved the rest. */
  restore(kept: bigint, steps: readonly Addition[]): void {
    this.held += kept;
    for (const { to, adds } of steps) if (to === this.#shrunk) this.amount += adds[0] as bigint;
  }

  /** The steps that spend `charge` of it for a process that has ended. */
  chargeSteps(charge: bigint, atMs: number): readonly Step[] {
    const steps: Addition[] = [];
    this.#write(charge, charge, atMs, steps);
    return steps;
  }

  #debitsOn(day: number): Sum {
    if (this.#debits === undefined || this.#day !== day) {
      this.#debits = { sql: DEBIT, params: [...bucketParams(this), day * DAY_MS] };
      this.#day = day;
    }
    return this.#debits;
  }

  /** The statements that take `amount` out of the bucket, if it has `room`. `must`: its name, or `LEASE_LOST`. */
  takeSteps(amount: bigint, room: bigint, limit: bigint | undefined): readonly Statement[] {
    const bucket = bucketParams(this);
    return [
      ...(limit === undefined ? [] : [{ sql: GRANT, params: [...bucket, limit, limit === COUNTED ? 1 : 0] }]),
      { sql: TAKE, params: [amount, ...bucket, room], must: this.name },
      { sql: GROW, params: [this.#epoch, ...bucket, amount] },
      aliveStep(this.#epoch),
    ];
  }

  /** The statements that return `amount` to the bucket. `must`: `LEASE_LOST`, `bucket_missing`. */
  returnSteps(amount: bigint): readonly Statement[] {
    const bucket = bucketParams(this);
    return [
      { sql: SHRINK, params: [amount, this.#epoch, ...bucket], must: LEASE_LOST },
      this.freeStep(amount),
      { sql: FORGET, params: [this.#epoch, ...bucket] },
    ];
  }

  /** The statement that returns `amount` to the bucket without changing the lease. */
  freeStep(amount: bigint): Statement {
    return { sql: FREE, params: [amount, ...bucketParams(this)], must: 'bucket_missing' };
  }
}
