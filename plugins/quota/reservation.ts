/** Reservations: the amount reserved for a call before it is sent, inside the leases of this process. Amounts are micro-quota. */
import type { Layer } from '../../core/contracts/ledger.ts';
import type { Addition, Awaitable, JsonObject, Known, Statement, Step } from '../../core/plugin.ts';
import { bucketParams } from './buckets.ts';
import type { Share } from './lease.ts';
import type { Leases } from './leases.ts';
import type { Terms } from './terms.ts';

/** The note in the usage record about buckets other than account and key: `[kind, owner, window]` of each; empty if there are none. */
export function noteOfLayers(layers: readonly Layer[]): JsonObject {
  return layers.length === 0
    ? {}
    : { layers: layers.map(({ kind, owner, windowStart = 0 }) => [kind, owner, windowStart]) };
}

/** Reads what `noteOfLayers` wrote. */
export function readLayers(other: JsonObject): readonly Layer[] {
  const layers = (other.layers ?? []) as unknown as readonly (readonly [Layer['kind'], number, number])[];
  return layers.map(([kind, owner, windowStart]) => ({ kind, owner, windowStart }));
}

/** The reservation of one call. */
export class Reservation {
  readonly x: Known;
  readonly terms: Terms;
  readonly #leases: Leases;
  readonly #shares: readonly Share[];
  #amount = 0n;
  /** The delivered amount in the last checkpoint; undefined before the first. */
  #recorded: bigint | undefined;
  /** The amount that `close` took out of the leases; undefined while the reservation is open. */
  #spent: Addition[] | undefined;
  /** The amount that stays reserved if the steps of `close` cannot be written. */
  #kept = 0n;

  constructor(leases: Leases, x: Known, terms: Terms) {
    this.#leases = leases;
    this.x = x;
    this.terms = terms;
    const { account, key } = x.identity;
    const ofAccount = leases.of({ kind: 'account', owner: account.id }).share;
    const ofKey = leases.of({ kind: 'key', owner: key.id }).share;
    const { fromAccount, limits } = terms;
    const first = fromAccount ? ofAccount : { ...ofAccount, pays: false };
    this.#shares =
      limits.length === 0
        ? [first, ofKey]
        : [first, ofKey, ...limits.map((each) => ({ lease: leases.of(each), limit: each.limit, pays: true }))];
  }

  get amount(): bigint {
    return this.#amount;
  }

  /** Whether this much could be reserved at once, without the store. */
  covers(amount: bigint, room: bigint): boolean {
    return this.#leases.cover(this.#shares, amount, room);
  }

  /**
   * Reserves `more`, if every bucket has `room` left, or nothing. Undefined: it is reserved; otherwise the name of the first bucket that has too
   * little. A promise if the store has to be read.
   */
  grow(more: bigint, room = more): Awaitable<string | undefined> {
    const refused = this.#leases.reserve(this.#shares, more, room);
    if (refused instanceof Promise) {
      return refused.then((name) => {
        if (name === undefined) this.#amount += more;
        return name;
      });
    }
    if (refused === undefined) this.#amount += more;
    return refused;
  }

  /** The statements that record how much was delivered so far, in case this process dies; undefined if that is recorded. */
  checkpoint(delivered: bigint, epoch: string): readonly Statement[] | undefined {
    if (delivered <= (this.#recorded ?? 0n)) return undefined;
    const isFirst = this.#recorded === undefined;
    this.#recorded = delivered;
    if (!isFirst) return [{ sql: CHECKPOINT, params: [delivered, this.#amount, this.x.id] }];
    const { id, identity, call, ip, startedMs } = this.x;
    const { fromAccount, limits } = this.terms;
    return [
      {
        sql: FIRST_CHECKPOINT,
        params: [
          ...[id, epoch, identity.account.id, identity.key.id, fromAccount ? 1 : 0, this.#amount, delivered],
          ...[call.style, call.model, call.stream ? 1 : 0, ip, startedMs],
        ],
      },
      ...limits.map((each) => ({ sql: FIRST_CHECKPOINT_OF_LAYER, params: [id, ...bucketParams(each)] })),
    ];
  }

  /** The delivered amount at the last checkpoint. */
  get delivered(): bigint {
    return this.#recorded ?? 0n;
  }

  /**
   * Closes it: `charge` (0n to its amount) is spent, and the rest can be reserved by other calls at once. Only the amount recorded as delivered stays
   * reserved until the steps are written, because the next run would charge it if they were not. Returns the steps; none if it is closed already.
   */
  close(charge: bigint, atMs: number): readonly Step[] {
    if (this.#spent !== undefined) return [];
    const spent: Addition[] = [];
    const kept = charge > this.delivered ? charge : this.delivered;
    for (const { lease, pays } of this.#shares) if (pays) lease.spend(this.#amount, charge, kept, atMs, spent);
    this.#spent = spent;
    this.#kept = kept;
    if (this.#recorded === undefined) return spent;
    const params = [this.x.id];
    return [...spent, { sql: FORGET, params }, { sql: FORGET_LAYERS, params }];
  }

  /** Undoes `close` if its steps could not be written: the charge, or the amount recorded as delivered, stays reserved. */
  reopen(): void {
    if (this.#spent === undefined) return;
    for (const { lease, pays } of this.#shares) if (pays) lease.restore(this.#kept, this.#spent);
    this.#amount = this.#kept;
    this.#spent = undefined;
  }
}

const FIRST_CHECKPOINT = `INSERT INTO running (id, epoch, account_id, key_id, from_account, amount, delivered, style, model, stream, ip, created_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const FIRST_CHECKPOINT_OF_LAYER = 'INSERT INTO running_layer (id, kind, owner, window_start) VALUES (?, ?, ?, ?)';
const CHECKPOINT = 'UPDATE running SET delivered = ?, amount = ? WHERE id = ?';
const FORGET = 'DELETE FROM running WHERE id = ?';
const FORGET_LAYERS = 'DELETE FROM running_layer WHERE id = ?';
