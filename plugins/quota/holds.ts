/** Holds: what is set aside for a call before it goes out, inside the leases of this process. Amounts are micro-quota. */
import type { Layer } from '../../core/contracts/ledger.ts';
import type { Addition, JsonObject, Known, Statement, Step } from '../../core/plugin.ts';
import { placeOf } from './buckets.ts';
import type { Share } from './lease.ts';
import type { Leases } from './leases.ts';

/** A layer beside account and key that a call is taken from. */
export interface Extra extends Layer {
  /** 0 where it has no window. */
  readonly windowStart: number;
}

/** One that is to be held from. */
export interface LimitedExtra extends Extra {
  /** What its bucket is granted, by the plan or the department it belongs to. */
  readonly limit: bigint;
}

/** What a call is taken from. */
export interface Payers {
  /** False: the call is included in a subscription, and the account's balance pays nothing. */
  readonly fromAccount: boolean;
  /** In the order in which they may refuse, behind account and key. */
  readonly extras: readonly LimitedExtra[];
}

/** What the usage record keeps of the layers beside account and key: `[kind, owner, window]` of each; empty if there are none. */
export function noteOfLayers(extras: readonly Extra[]): JsonObject {
  return extras.length === 0
    ? {}
    : { layers: extras.map(({ kind, owner, windowStart }) => [kind, owner, windowStart]) };
}

/** Reads it. */
export function readLayers(other: JsonObject): readonly Extra[] {
  const layers = (other.layers ?? []) as unknown as readonly (readonly [Extra['kind'], number, number])[];
  return layers.map(([kind, owner, windowStart]) => ({ kind, owner, windowStart }));
}

/** A hold. */
export class Hold {
  readonly #leases: Leases;
  readonly #x: Known;
  readonly #payers: Payers;
  readonly #shares: readonly Share[];
  #amount = 0n;
  /** What it was last written down to have delivered; undefined where it was not yet. */
  #noted: bigint | undefined;
  /** What `close` took out of the leases; undefined while it is open. */
  #spent: Addition[] | undefined;
  /** What it is to hold if that cannot be written. */
  #kept = 0n;

  constructor(leases: Leases, x: Known, payers: Payers) {
    this.#leases = leases;
    this.#x = x;
    this.#payers = payers;
    const { account, key } = x.identity;
    const ofAccount = leases.of({ kind: 'account', owner: account.id }).share;
    const ofKey = leases.of({ kind: 'key', owner: key.id }).share;
    const { fromAccount, extras } = payers;
    const first = fromAccount ? ofAccount : { ...ofAccount, pays: false };
    this.#shares =
      extras.length === 0
        ? [first, ofKey]
        : [first, ofKey, ...extras.map((extra) => ({ lease: leases.of(extra), limit: extra.limit, pays: true }))];
  }

  /** The exchange's. */
  get id(): string {
    return this.#x.id;
  }

  /** What is set aside. */
  get amount(): bigint {
    return this.#amount;
  }

  /**
   * Sets so much more aside, where every bucket has `room` for it, or nothing. Undefined: it is done; else the name of the first bucket that has
   * too little. A promise where the store has to be asked.
   */
  grow(more: bigint, room = more): string | undefined | Promise<string | undefined> {
    const refused = this.#leases.hold(this.#shares, more, room);
    if (refused instanceof Promise) {
      return refused.then((name) => {
        if (name === undefined) this.#amount += more;
        return name;
      });
    }
    if (refused === undefined) this.#amount += more;
    return refused;
  }

  /** What writes down that so much was delivered so far, for the case that this process dies; undefined where it is. */
  checkpoint(delivered: bigint, epoch: string): readonly Statement[] | undefined {
    if (delivered <= (this.#noted ?? 0n)) return undefined;
    const isFirst = this.#noted === undefined;
    this.#noted = delivered;
    if (!isFirst) return [{ sql: CHECKPOINT, params: [delivered, this.#amount, this.id] }];
    const { identity, call, ip, startedMs } = this.#x;
    const { fromAccount, extras } = this.#payers;
    return [
      {
        sql: FIRST_CHECKPOINT,
        params: [
          ...[this.id, epoch, identity.account.id, identity.key.id, fromAccount ? 1 : 0, this.#amount, delivered],
          ...[call.style, call.model, call.stream ? 1 : 0, ip, startedMs],
        ],
      },
      ...extras.map((extra) => ({ sql: FIRST_CHECKPOINT_OF_LAYER, params: [this.id, ...placeOf(extra)] })),
    ];
  }

  /** What was delivered at the last checkpoint. */
  get delivered(): bigint {
    return this.#noted ?? 0n;
  }

  /**
   * Ends it: `charge` (0n to its amount) is spent, and the rest is free again; at once, unless it is written down as delivered, which another
   * run would charge if these steps were not written. The steps that write it down; of one that has ended, none.
   */
  close(charge: bigint, atMs: number): readonly Step[] {
    if (this.#spent !== undefined) return [];
    const spent: Addition[] = [];
    const kept = charge > this.delivered ? charge : this.delivered;
    for (const { lease, pays } of this.#shares) if (pays) lease.spend(this.#amount, charge, kept, atMs, spent);
    this.#spent = spent;
    this.#kept = kept;
    if (this.#noted === undefined) return spent;
    const forget = { params: [this.id] };
    return [...spent, { sql: FORGET, ...forget }, { sql: FORGET_LAYERS, ...forget }];
  }

  /** Undoes `close`, whose steps could not be written: it holds what it cost, or what it was written down to have delivered. */
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
