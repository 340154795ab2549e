/** What a worker leases of one window or gate, how much of it is used, and how much it needs. */
import type { Gate, WindowTake } from '../../core/contracts/counters.ts';
import type { GateReport, WindowReport } from './messages.ts';

/** How often a worker reports what it has used, and leases what it needs. */
export const TICK_MS = 200;
const TICKS_PER_SECOND = 1_000 / TICK_MS;
/** A window or gate is leased from this many calls per second on. */
const FROM_PER_SECOND = 4;
/** A lease that covers less than this many calls is not worth its messages. */
const LEAST_CALLS = 4;
/** After this many ticks without a call, everything is returned. */
const IDLE_TICKS = 5;
/** For so many ticks after a recall, nothing is leased. */
const RECALLED_TICKS = 5;

/** The demand for one window or gate. */
abstract class Slice {
  readonly name: string;
  limit: number;
  /** What can be taken without a message. Below zero if a correction exceeds it. */
  free = 0;
  /** What is to be leased with the next report. */
  want = 0;
  /** The least that is worth a lease. */
  least = 0;
  /** A report that wants something is not yet answered. */
  protected isAsking = false;
  /** Nothing was leased to it: it does not ask again before the next tick. */
  protected isDenied = false;
  /** It was recalled lately: what becomes free is returned at once, because others wait for it. */
  isRecalled = false;
  #recalledTicks = 0;
  /** What is to be returned with the next report. */
  protected returning = 0;
  /** Calls since the last tick, and a moving average per second. */
  protected calls = 0;
  protected callsPerSecond = 0;
  #idleTicks = 0;

  constructor({ name, limit }: Gate) {
    this.name = name;
    this.limit = limit;
  }

  /** How much to have free and in use. */
  protected abstract level(): number;
  /** What is free and in use. */
  protected abstract get has(): number;

  /** No call has wanted it for a while. */
  protected get isIdle(): boolean {
    return this.#idleTicks >= IDLE_TICKS;
  }

  /** It can be forgotten: nothing of it is leased, or may still come. */
  get isOver(): boolean {
    return this.isIdle && this.has === 0 && !this.isAsking;
  }

  /** More is needed before the next tick. */
  get isShort(): boolean {
    const isWaiting = this.isAsking || this.isDenied || this.isRecalled || this.want > 0;
    return !isWaiting && this.free < this.least && this.callsPerSecond >= FROM_PER_SECOND;
  }

  /** The limit was changed: what was leased under another one is returned. Returns whether it is the same. */
  obeys(limit: number): boolean {
    if (this.limit === limit) return true;
    this.limit = limit;
    this.giveBack();
    return false;
  }

  /** Everything that is not in use is to be returned. */
  giveBack(): void {
    if (this.free <= 0) return;
    this.returning += this.free;
    this.free = 0;
  }

  /** The same, and for a while what becomes free. */
  recall(): void {
    this.isRecalled = true;
    this.#recalledTicks = RECALLED_TICKS;
    this.giveBack();
  }

  /** Leases or returns according to the demand since the last tick. */
  tick(): void {
    this.isDenied = false;
    if (this.#recalledTicks > 0) this.#recalledTicks--;
    else this.isRecalled = false;
    this.#idleTicks = this.calls === 0 ? this.#idleTicks + 1 : 0;
    this.callsPerSecond = (this.callsPerSecond + this.calls * TICKS_PER_SECOND) / 2;
    const level = this.level();
    this.calls = 0;
    if (this.isIdle) {
      this.giveBack();
    } else if (this.has > 2 * level) {
      const surplus = Math.min(this.free, this.has - level);
      this.free -= surplus;
      this.returning += surplus;
    } else if (this.has < level / 2 || this.free < this.least) {
      this.need(level);
    }
  }

  /** Wants as much as it has needed lately. */
  refill(): void {
    this.need(this.level());
  }

  protected need(level: number): void {
    if (this.isAsking || this.isRecalled || this.callsPerSecond < FROM_PER_SECOND) return;
    this.want = Math.max(level - this.has, this.least);
  }

  /** What was leased has come; `limit` is what was asked under. Of what was asked for before a recall, nothing is kept. */
  grant(leased: number, limit: number): void {
    this.isAsking = false;
    this.isDenied = leased === 0;
    if (limit === this.limit && !this.isRecalled) this.free += leased;
    else this.returning += leased;
  }

  /** The part of a report that windows and gates have alike. */
  protected common(): GateReport {
    const { name, limit, want, least } = this;
    // What was used beyond the lease is no part of it.
    const over = Math.min(this.free, 0);
    const returned = this.returning + over;
    this.free -= over;
    this.returning = 0;
    this.want = 0;
    if (want > 0) this.isAsking = true;
    return { name, limit, want, least, returned };
  }
}

/** When something was taken: 0 until it is reported, then the negative number of the report, then the time by the owner's clock. */
export interface TakenAt {
  at: number;
}

/** A slice of a window. */
export class WindowSlice extends Slice {
  readonly windowMs: number;
  /** Used since the last report. */
  used = 0;
  /** What the owner had left after the last report. */
  room = 0;
  /** When that which is used was taken. */
  takenAt: TakenAt = { at: 0 };
  #units = 0;
  #unitsPerSecond = 0;
  #largest = 0;

  constructor(take: WindowTake) {
    super(take);
    this.windowMs = take.windowMs;
  }

  protected get has(): number {
    return this.free;
  }

  /** A call wants this much, whether it is covered or not. */
  note(cost: number): void {
    this.calls++;
    this.#units += cost;
    if (cost > this.#largest) this.#largest = cost;
  }

  protected level(): number {
    const perSecond = Math.ceil((this.#unitsPerSecond + this.#units * TICKS_PER_SECOND) / 2);
    return Math.max(perSecond, this.least);
  }

  override tick(): void {
    if (this.calls > 0) this.least = LEAST_CALLS * Math.max(this.#largest, 1);
    super.tick();
    this.#unitsPerSecond = (this.#unitsPerSecond + this.#units * TICKS_PER_SECOND) / 2;
    this.#units = 0;
    this.#largest = 0;
  }

  /** It has something to report. */
  get isDue(): boolean {
    return this.used !== 0 || this.returning !== 0 || this.want !== 0 || this.free < 0;
  }

  /** Its part of the report of this number. */
  report(number: number): WindowReport {
    const { windowMs, used } = this;
    const report = { ...this.common(), windowMs, used };
    if (used !== 0) {
      this.takenAt.at = -number;
      this.takenAt = { at: 0 };
    }
    this.used = 0;
    return report;
  }
}

/** A slice of a gate. */
export class GateSlice extends Slice {
  /** The calls on its places. */
  readonly inside = new Set<string>();
  /** The most since the last tick. */
  #most = 0;

  protected get has(): number {
    return this.free + this.inside.size;
  }

  /** A call wants to enter, whether there is a free place or not. */
  note(): void {
    this.calls++;
  }

  enter(id: string): void {
    if (this.inside.has(id)) return;
    this.inside.add(id);
    this.free--;
    if (this.inside.size > this.#most) this.#most = this.inside.size;
  }

  /** Returns whether it was inside. */
  leave(id: string): boolean {
    if (!this.inside.delete(id)) return false;
    this.free++;
    return true;
  }

  protected level(): number {
    return this.#most + Math.max(this.#most >> 1, LEAST_CALLS);
  }

  override tick(): void {
    this.least = LEAST_CALLS;
    super.tick();
    this.#most = this.inside.size;
  }

  /** It has something to report. */
  get isDue(): boolean {
    return this.returning !== 0 || this.want !== 0;
  }

  /** Its part of a report. */
  report(): GateReport {
    return this.common();
  }
}
