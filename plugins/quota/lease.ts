/** A lease: the part of one bucket that this process may spend without asking, and the statements that move it. Amounts are micro-quota. */
import type { Addition, Statement, Step, Sum } from '../../core/plugin.ts';
import { nameOf, type Place, placeOf, ROOM, THIS_BUCKET } from './buckets.ts';
import { aliveStep, LEASE_LOST } from './processes.ts';
import { DAY_MS } from './windows.ts';

const SPEND = `UPDATE bucket SET used = used + ?, held = held - ? WHERE ${THIS_BUCKET}`;
const SHRINK = `UPDATE lease SET amount = amount - ? WHERE epoch = ? AND ${THIS_BUCKET}`;
const DEBIT = `INSERT INTO debit (amount, kind, owner, window_start, day_ms) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (kind, owner, window_start, day_ms) DO UPDATE SET amount = debit.amount + excluded.amount`;

/** Who owes something gets nothing, however much there is. */
const TAKE = `UPDATE bucket SET held = held + ? WHERE ${THIS_BUCKET} AND ${ROOM} AND debt = 0`;
const GROW = `INSERT INTO lease (epoch, kind, owner, window_start, amount) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (epoch, kind, owner, window_start) DO UPDATE SET amount = lease.amount + excluded.amount`;
const FREE = `UPDATE bucket SET held = held - ? WHERE ${THIS_BUCKET}`;
const FORGET = `DELETE FROM lease WHERE epoch = ? AND ${THIS_BUCKET} AND amount = 0`;
/** A limit follows what is written down of it, but not below what is used up already. */
const GRANT = `INSERT INTO bucket (kind, owner, window_start, granted) VALUES (?, ?, ?, ?)
  ON CONFLICT (kind, owner, window_start) DO UPDATE SET unlimited = 0, granted =
    CASE WHEN excluded.granted < bucket.used + bucket.held THEN bucket.used + bucket.held ELSE excluded.granted END
  WHERE bucket.granted <> excluded.granted OR bucket.unlimited = 1`;

/** How far back "lately" goes. */
const LATELY_MS = 2_000;

/** A bucket that a call is taken from. */
export interface Share {
  readonly lease: Lease;
  /** What the bucket is granted, where that is written down in a plan or with a department. */
  readonly limit: bigint | undefined;
  /** False: it is asked only whether it owes something. */
  readonly pays: boolean;
}

/** What is in memory of one. The row of the store has `amount` too, once what is under way is written. */
export class Lease implements Place {
  readonly kind: Place['kind'];
  readonly owner: number;
  readonly windowStart: number;
  /** What refusals call its bucket. */
  readonly name: string;
  readonly #epoch: string;
  readonly #spent: Sum;
  readonly #shrunk: Sum;
  #debits: Sum | undefined;
  #day = Number.NaN;
  /** What had been spent of it at a moment, and how much `LATELY_MS` before that moment saw. */
  #seen = { atMs: 0, spent: 0n, lately: 0n };

  /** What was taken out of the bucket and not spent yet. */
  amount = 0n;
  /** What was taken out of the bucket in all, less what went back. */
  taken = 0n;
  /** Of it, what running calls hold. */
  held = 0n;
  /** On the way from the bucket, or back to it: it may be there or here. */
  moving = 0n;
  /** What calls ask for that wait until it has more. */
  wanted = 0n;
  /** How many calls take exactly what they hold out of the bucket at this moment. */
  takers = 0;
  /** The bucket has no limit. */
  isUnlimited = false;
  /** What the bucket's limit was said to be, where that is written down elsewhere. */
  limit: bigint | undefined;
  /** Nothing is known against spending it: the account owes nothing, and there is as much in it as there should be. */
  isOpen = false;
  /** When that was last seen. */
  openedMs = Number.NEGATIVE_INFINITY;
  /** Until then each call takes out just what it holds, so that others find in the bucket what is really left. */
  exactUntilMs = Number.NEGATIVE_INFINITY;
  /** Until then the other processes are not asked for what they have of it: they have given that back. */
  recalledUntilMs = Number.NEGATIVE_INFINITY;
  /** When a call was last taken from it. All are milliseconds of the clock that only grows. */
  usedMs = 0;
  /** It, as nearly every call is taken from it. */
  readonly share: Share = { lease: this, limit: undefined, pays: true };

  constructor(place: Place, epoch: string) {
    this.kind = place.kind;
    this.owner = place.owner;
    this.windowStart = place.windowStart ?? 0;
    this.name = nameOf(place);
    this.#epoch = epoch;
    const params = placeOf(place);
    this.#spent = { sql: SPEND, params, must: 'bucket_missing' };
    this.#shrunk = { sql: SHRINK, params: [epoch, ...params], must: LEASE_LOST };
  }

  get free(): bigint {
    return this.amount - this.held;
  }

  /** Whether so much can be held at once, with `room` left in the bucket. */
  covers(amount: bigint, room: bigint): boolean {
    return this.isOpen && this.amount - this.held >= (this.isUnlimited ? amount : room);
  }

  /**
   * Spends `charge` of what one call `held`; the steps that write it down are added to `steps`. Of the rest, what is above `kept` (at least
   * the charge) can be held by other calls now; what is below goes back to the bucket once that is written.
   */
  spend(held: bigint, charge: bigint, kept: bigint, atMs: number, steps: Addition[]): void {
    // What is taken out exactly goes back exactly.
    const gone = this.isOpen ? kept : held;
    if (!this.isOpen) this.taken -= held - kept;
    this.held -= held;
    this.amount -= gone;
    this.#write(charge, gone, atMs, steps);
  }

  /** What was spent of it within the last seconds: those before it was last asked, or those since then. */
  spentLately(nowMs: number): bigint {
    const spent = this.taken - this.amount;
    const passedMs = nowMs - this.#seen.atMs;
    if (passedMs >= LATELY_MS) {
      const lately = ((spent - this.#seen.spent) * BigInt(LATELY_MS)) / BigInt(Math.ceil(passedMs));
      this.#seen = { atMs: nowMs, spent, lately };
    }
    const since = spent - this.#seen.spent;
    return since > this.#seen.lately ? since : this.#seen.lately;
  }

  #write(charge: bigint, gone: bigint, atMs: number, steps: Addition[]): void {
    // The lease comes first: where it is lost, that is what is said.
    if (gone > 0n) steps.push({ to: this.#shrunk, adds: [gone] }, { to: this.#spent, adds: [charge, gone] });
    if (charge > 0n) steps.push({ to: this.#debitsOn(Math.floor(atMs / DAY_MS)), adds: [charge] });
  }

  /** Holds again what `spend` kept, whose steps could not be written. The rest may be held by others by now. */
  restore(kept: bigint, steps: readonly Addition[]): void {
    this.held += kept;
    for (const { to, adds } of steps) if (to === this.#shrunk) this.amount += adds[0] as bigint;
  }

  /** The steps that spend `charge` of it for a process that has it in memory no more. */
  charging(charge: bigint, atMs: number): readonly Step[] {
    const steps: Addition[] = [];
    this.#write(charge, charge, atMs, steps);
    return steps;
  }

  #debitsOn(day: number): Sum {
    if (this.#debits === undefined || this.#day !== day) {
      this.#debits = { sql: DEBIT, params: [...placeOf(this), day * DAY_MS] };
      this.#day = day;
    }
    return this.#debits;
  }

  /** The statements that take `amount` out of the bucket, where it has `room`. `must`: its name, or `LEASE_LOST`. */
  taking(amount: bigint, room: bigint, limit: bigint | undefined): readonly Statement[] {
    const place = placeOf(this);
    return [
      ...(limit === undefined ? [] : [{ sql: GRANT, params: [...place, limit] }]),
      { sql: TAKE, params: [amount, ...place, room], must: this.name },
      { sql: GROW, params: [this.#epoch, ...place, amount] },
      aliveStep(this.#epoch),
    ];
  }

  /** Those that put `amount` back. */
  returning(amount: bigint): readonly Statement[] {
    const place = placeOf(this);
    return [
      { sql: SHRINK, params: [amount, this.#epoch, ...place], must: LEASE_LOST },
      this.freeing(amount),
      { sql: FORGET, params: [this.#epoch, ...place] },
    ];
  }

  /** The one that puts `amount` back into the bucket, and leaves the row of the lease alone. */
  freeing(amount: bigint): Statement {
    return { sql: FREE, params: [amount, ...placeOf(this)], must: 'bucket_missing' };
  }
}
