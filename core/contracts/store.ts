/** What plugins keep in the store, and what a store driver provides. */
import { sharedByCopies } from '../copies.ts';
import type { Awaitable, Schema } from '../definitions.ts';
import type { Log } from '../log.ts';

/** The reading half of a store. */
export interface Reader {
  one<T>(sql: string, ...params: readonly Value[]): Promise<T | undefined>;
  all<T>(sql: string, ...params: readonly Value[]): Promise<T[]>;
}

/** What a statement may be given, and what it gives back. Bind money as bigint; select it as text: `CAST(used AS TEXT)`. */
export type Value = null | number | bigint | string | Uint8Array;

/**
 * Durable state. Small on purpose: SQLite and PostgreSQL can both be behind it. Integers come back as numbers; one beyond
 * 2^53 is an error, never rounded. Beside what both databases have, statements may use two functions: `sha256_hex(text)`, the
 * SHA-256 of a text's UTF-8 as 64 hexadecimal characters, and `utf8_bytes(text)`, that UTF-8 as bytes, which come from the store without
 * being copied on the way; null of null.
 */
export interface Store extends Reader {
  /** One statement, durable when the promise resolves. Rows changed. */
  run(sql: string, ...params: readonly Value[]): Promise<number>;
  /**
   * A list of statements, all or none, with nothing of anybody else's between them. Resolves with the `must` that failed, or
   * undefined. With `when: 'ran'` it resolves as soon as the list has run, before it is durable: for what may be forgotten by
   * a crash unless a client has been told otherwise. An empty list resolves when all that this process handed in before are durable.
   */
  atomic(steps: readonly Step[], when?: 'durable' | 'ran'): Promise<string | undefined>;
  /**
   * Age of the oldest waiting list in milliseconds (`Infinity` if the store cannot be written now), and how many wait. Known at once: for
   * what should not begin if its end could not be written.
   */
  pressure(): { readonly waiting: number; readonly oldestMs: number };
}

/** One step of an atomic list: a statement, or amounts that are added to a row. */
export type Step = Statement | Addition;

/** With `must`, changing no row undoes the whole list. */
export interface Statement {
  readonly sql: string;
  readonly params?: readonly Value[];
  readonly must?: string;
}

/**
 * Amounts that are added to one row. Those of all lists that share a commit are added up first, and the statement runs once for all
 * of them: a row that every call adds to costs one write a commit, not one a call. It may therefore run behind the statements of its
 * list, but never behind those of a list that adds nothing and was handed in later. The statements of a list that adds must neither read
 * nor change what is added to.
 */
export interface Addition {
  readonly to: Sum;
  /** As many as `to.sql` takes in front of its `params`; added up place by place. */
  readonly adds: readonly (bigint | number)[];
}

/** A row that amounts are added to. Made once and kept: additions are folded where they are to the same object. */
export interface Sum {
  /** Takes the amounts first, and then `params`: `UPDATE t SET n = n + ? WHERE id = ?`. */
  readonly sql: string;
  readonly params: readonly Value[];
  /** With it, changing no row undoes the list. */
  readonly must?: string;
}

/** A step as one statement, added up with nothing. */
export function statementOf(step: Step): Statement {
  if (!('to' in step)) return step;
  const { sql, params, must } = step.to;
  return { sql, params: [...step.adds, ...params], ...(must !== undefined && { must }) };
}

/** Forward only. Each runs in a transaction of its own. */
export interface Migration {
  readonly id: number;
  readonly title: string;
  readonly sql: readonly string[];
  /**
   * The oldest version that can work on the tables after this migration, named by the last migration of this owner that it knows; 0: every
   * one. An expanding migration (a new table, index, or column with a default) names the one before it; a contracting one (a column or table
   * that is removed) the first version that no longer uses what it removes. Versions from there on may run, start and reload beside it.
   * Without it, no version that does not know this migration may.
   */
  readonly compatibleFrom?: number;
}

/** Something that must hold in the tables of a plugin. */
export interface Invariant {
  /** `used-is-sum-of-debits`. */
  readonly name: string;
  /** What breaks it, one line each; none: it holds. Reads one moment: all invariants of a run see the same snapshot. */
  check(read: Reader): Awaitable<readonly string[]>;
}

/** A driver that `store:` can name. */
export interface StoreDriver {
  /** The section `store` of gateway.yaml as it wants it, `driver` included; without it, that is `driver` and `file`. */
  readonly section?: Schema;
  /** It is a server that several processes may use at once, and that is backed up with its own tools: what to do instead of `turnpike backup` and `restore`. */
  readonly server?: { readonly backup: string };
  /** Told that a store will be opened soon: starts what takes its time, and touches no file. */
  prepare?(): void;
  /**
   * Opens the store, and makes an empty one if there is none. Throws `StoreInUse` if another process has it. Throws `StoreMissing`, and
   * makes nothing, if there is none and `mustExist` is set, or if what is left proves that there was one. With `shared`, other processes of
   * this machine can attach to it.
   */
  open(options: StoreOpening): Promise<OpenStore>;
  /**
   * Opens a store that another process of this machine has open with `shared`. What is read comes from the file, what is written goes through
   * that process; when that ends, nothing can be written any more. Without it, `listen.workers` cannot be used with this driver.
   */
  attach?(options: {
    readonly file: string;
    readonly socket: string;
    /** What `StoreSharing.left` is told. */
    readonly name: string;
    readonly log: Log;
  }): Promise<OpenStore>;
  /**
   * Puts a backup in the place of the store, once it is proven sound. Throws `StoreInUse`. Resolves with the path that what was there
   * is kept under; undefined if there was nothing. Every driver has it that is no server.
   */
  restore?(options: { readonly from: string; readonly file: string; readonly log: Log }): Promise<string | undefined>;
}

/** What a store is opened with. */
export interface StoreOpening {
  /** The database; of a server, what files of the gateway are named after that others keep beside their database. */
  readonly file: string;
  /** The section `store`, checked. A driver that wants nothing but a file does without. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly log: Log;
  readonly mustExist?: boolean;
  /** Other processes of this machine may attach to it; of a driver with `attach`. */
  readonly shared?: StoreSharing;
}

/** How other processes of this machine attach to an open store. */
export interface StoreSharing {
  /** The path of the unix socket where they reach the process that writes. Only its user may connect. */
  readonly socket: string;
  /** A process that had attached under this name has closed its connection, or has died, and everything that it handed in was run. */
  left(name: string): void;
}

/** A store, and what only core does with it. */
export interface OpenStore extends Store {
  /** Reads one moment: everything inside sees the same snapshot. */
  snapshot<T>(read: (reader: Reader) => Promise<T>): Promise<T>;
  /** Its tables, but for those that the driver has for itself. */
  tables(): Promise<readonly StoreTable[]>;
  /** Called after rows were written with ids from another store: new rows must get higher ids. Without it, they do so by themselves. */
  rowsLoaded?(): Promise<void>;
  /** A consistent copy, while running. A server has its own ways. */
  backup?(file: string): Promise<void>;
  /**
   * Does something while no other process that has this store open does it: making tables, a first start. Without it, no other process can have
   * it open.
   */
  exclusively?<T>(work: () => Promise<T>): Promise<T>;
  /** The disk space that the store uses and has left; without it, or if it resolves with undefined, that is unknown. */
  room?(): Promise<StoreRoom | undefined>;
  /**
   * Joins the processes that have this store open. From then on nothing is written for who was given up, and `pressure` says so when this process
   * can no longer be sure that it is a member; `close` leaves. Without it, no other process can have the store open.
   */
  join?(facts: ProcessFacts, events: MembershipEvents): Promise<Membership>;
  close(): Promise<void>;
}

/** A table as it stands in the store. */
export interface StoreTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly isInteger: boolean }[];
  /** The columns of its primary key, in their order. */
  readonly key: readonly string[];
  /** Which column refers to which column of which table. */
  readonly references: readonly { readonly column: string; readonly table: string; readonly to: string }[];
}

/** A process that joins others on one store. */
export interface ProcessFacts {
  /** `host.boot`. */
  readonly epoch: string;
  /** `HOST:PORT` of a gateway; the host alone of a command. */
  readonly name: string;
  readonly version: string;
  /** A digest of its gateway.yaml. */
  readonly config: string;
}

/** A process among others on one store. */
export interface JoinedProcess extends ProcessFacts {
  /** Unix milliseconds, by the store's clock. */
  readonly joinedMs: number;
}

/** What a member hears. */
export interface MembershipEvents {
  /** These have left, or were given up; everything they wrote is in the store. */
  left(epochs: readonly string[]): void;
  /** What another one has sent; messages of one process come in their order. */
  message(body: string, from: string): void;
  /** The others have given this process up. It can do nothing but end. */
  ended(error: Error): void;
}

/** Membership among the processes of one store. */
export interface Membership {
  /** The epochs of all, this one included, in the order in which they joined; as of the last look. */
  readonly members: readonly string[];
  /** Whether the others still wait for this one; asked of whatever only one may do. */
  isCurrent(): boolean;
  /** Gives up those whose time has passed, and says who is left. */
  look(): Promise<readonly string[]>;
  /** All members, as they were when they joined: also those that do not answer. */
  processes(): Promise<readonly JoinedProcess[]>;
  /** To all others, at most once. `to`: it is meant for this one alone, so that the others need not fetch a long message. */
  send(body: string, to?: string): Promise<void>;
  leave(): Promise<void>;
}

/** Room on a disk, in bytes. */
export interface StoreRoom {
  /** Of the database. */
  readonly file: number;
  /** Of its log: what was written and is not in the file yet. */
  readonly log: number;
  /** What is left on its disk, for this user. */
  readonly free: number;
  /** All that the disk has. */
  readonly disk: number;
}

/** Another process holds the store. Exit code 73. */
export class StoreInUse extends Error {}
sharedByCopies(StoreInUse, 'StoreInUse');

/** There is no store, or a part of it is missing. The message says what. */
export class StoreMissing extends Error {}
sharedByCopies(StoreMissing, 'StoreMissing');

/** The store cannot be written now: disk full, read-only, failed sync. Calls are refused with 503. */
export class StoreUnavailable extends Error {}
sharedByCopies(StoreUnavailable, 'StoreUnavailable');
