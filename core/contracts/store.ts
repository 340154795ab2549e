/** The storage interface for plugins, and the interface of store drivers. */

import type { Log } from '../runtime/logger.ts';
import { sharedByCopies } from '../runtime/shared-classes.ts';
import type { Awaitable, Schema } from './definitions.ts';

/** The read operations of a store. */
export interface Reader {
  one<T>(sql: string, ...params: readonly Value[]): Promise<T | undefined>;
  all<T>(sql: string, ...params: readonly Value[]): Promise<T[]>;
}

/** Parameters and results of statements. Bind money as bigint; select it as text: `CAST(used AS TEXT)`. */
export type Value = null | number | bigint | string | Uint8Array;

/**
 * Durable state. Small on purpose, so that SQLite and PostgreSQL can implement it. Integers are returned as numbers;
 * one beyond 2^53 is an error, never rounded. In addition to what both databases have, statements may use two
 * functions: `sha256_hex(text)`, the SHA-256 of a text's UTF-8 as 64 hexadecimal characters, and `utf8_bytes(text)`,
 * that UTF-8 as bytes, which is returned without a copy; null for null.
 */
export interface Store extends Reader {
  /** Runs one statement, durable when the promise resolves. Returns the number of changed rows. */
  run(sql: string, ...params: readonly Value[]): Promise<number>;
  /**
   * Runs a list of statements atomically. Resolves with the `must` that failed, or undefined. With `when: 'ran'` it
   * resolves as soon as the list has run, before it is durable: for data that a crash may lose unless a client has been
   * told otherwise. An empty list resolves when all earlier lists of this process are durable.
   */
  atomic(steps: readonly Step[], when?: 'durable' | 'ran'): Promise<string | undefined>;
  /**
   * Age of the oldest waiting list in milliseconds (`Infinity` if the store cannot be written now), and the number of
   * waiting lists. Synchronous: used to refuse work whose end could not be written.
   */
  pressure(): { readonly waiting: number; readonly oldestMs: number };
}

/** One step of an atomic list: a statement, or amounts to add to a row. */
export type Step = Statement | Addition;

/** With `must`, the whole list is rolled back if no row changes. */
export interface Statement {
  readonly sql: string;
  readonly params?: readonly Value[];
  readonly must?: string;
}

/**
 * Amounts to add to one row. They are durable with their list, but a row that every call adds to is not written for
 * each of them: the amounts of several lists are summed, and the statement runs once for all of them, up to some seconds
 * later. It runs before a query that begins when the list was answered, before a snapshot, and before a later list
 * without additions; a query that runs at the same time as a list may see its statements without its additions. The other statements of a list with
 * additions must neither read nor change that row.
 */
export interface Addition {
  readonly to: Sum;
  /** As many as `to.sql` takes before its `params`; summed by position. */
  readonly adds: readonly (bigint | number)[];
}

/** A row that amounts are added to. Create it once: additions are combined if they use the same object. */
export interface Sum {
  /** Takes the amounts first, then `params`: `UPDATE t SET n = n + ? WHERE id = ?`. */
  readonly sql: string;
  readonly params: readonly Value[];
  /**
   * With it, the list is rolled back if no row changes. This may be checked only when the row is added to for the first
   * time by this object.
   */
  readonly must?: string;
  /** `must` is checked for every list, because other processes remove the row to stop this one. */
  readonly isFence?: boolean;
}

/** A step as a single statement. */
export function statementOf(step: Step): Statement {
  if (!('to' in step)) return step;
  const { sql, params, must } = step.to;
  return { sql, params: [...step.adds, ...params], ...(must !== undefined && { must }) };
}

/** Forward only. Each runs in its own transaction. */
export interface Migration {
  readonly id: number;
  readonly title: string;
  readonly sql: readonly string[];
  /**
   * The oldest version that can work on the tables after this migration, given by the last migration of this owner that
   * it knows; 0: every one. An expanding migration (a new table, index, or column with a default) names the one before
   * it; a contracting one (a column or table that is removed) the first version that no longer uses what it removes.
   * Versions from there on may run, start and reload alongside it. Without it, no version that does not know this
   * migration may.
   */
  readonly compatibleFrom?: number;
}

/** An invariant of a plugin's tables. */
export interface Invariant {
  /** `used-is-sum-of-debits`. */
  readonly name: string;
  /** Returns violations, one line each; empty: it holds. All invariants of a run see the same snapshot. */
  check(read: Reader): Awaitable<readonly string[]>;
}

/** A driver for the section `store`. */
export interface StoreDriver {
  /** The schema of the section `store`, `driver` included; default: `driver` and `file`. */
  readonly section?: Schema;
  /**
   * It is a server that several processes may use at once and that has its own backup tools: what to do instead of
   * `turnpike backup` and `restore`.
   */
  readonly server?: { readonly backup: string };
  /** Copies of a server's database, made with its own tools, for scheduled backups. Without it, there are none. */
  readonly dumps?: StoreDumps;
  /** Called before a store is opened: starts slow preparations, and opens no file. */
  prepare?(): void;
  /**
   * Opens the store, and makes an empty one if there is none. Throws `StoreInUse` if another process has it. Throws `StoreMissing`, and
   * makes nothing, if there is none and `mustExist` is set, or if what is left proves that there was one. With `shared`, other processes of
   * this machine can attach to it.
   */
  open(options: StoreOpening): Promise<OpenStore>;
  /**
   * Opens a store that another process of this machine has open with `shared`. Reads use the file, writes go through
   * that process; when it ends, nothing can be written any more. Without it, `listen.workers` cannot be used with this
   * driver.
   */
  attach?(options: {
    readonly file: string;
    readonly socket: string;
    /** The argument of `StoreSharing.left`. */
    readonly name: string;
    readonly log: Log;
  }): Promise<OpenStore>;
  /**
   * Replaces the store with a backup after verifying it. Throws `StoreInUse`. Resolves with the path of the replaced
   * store; undefined if there was none. Required of every driver that is not a server.
   */
  restore?(options: { readonly from: string; readonly file: string; readonly log: Log }): Promise<string | undefined>;
}

/** Copies of a server's database, made with its own tools. `settings`: the validated section `store`. */
export interface StoreDumps {
  /** Why its tools cannot be used, as a sentence for `check`: one is not installed. Undefined: they can. */
  missing(): Awaitable<string | undefined>;
  /** Writes a consistent copy to a new file while the database is in use. */
  write(settings: Readonly<Record<string, unknown>>, file: string): Promise<void>;
  /** Loads a copy into a new scratch database on the same server. Returns how it is opened; `remove` deletes it. */
  load(
    settings: Readonly<Record<string, unknown>>,
    file: string,
  ): Promise<{ readonly settings: Readonly<Record<string, unknown>>; remove(): Promise<void> }>;
  /** Replaces the content of the database by a copy, or leaves it as it is. Only while no gateway runs. */
  restore(settings: Readonly<Record<string, unknown>>, file: string): Promise<void>;
}

/** The options for opening a store. */
export interface StoreOpening {
  /** The database file; for a server, the base path of the gateway's own files. */
  readonly file: string;
  /** The validated section `store`. A driver that needs only a file can ignore it. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly log: Log;
  readonly mustExist?: boolean;
  /** For one command: what is read again and again is no reason to keep much of it in memory. */
  readonly isBrief?: boolean;
  /** Other processes of this machine may attach; for a driver with `attach`. */
  readonly shared?: StoreSharing;
}

/** How other processes of this machine attach to an open store. */
export interface StoreSharing {
  /** The unix socket of the writing process. Only its user may connect. */
  readonly socket: string;
  /** Called when an attached process of this name has closed its connection or died, and all it submitted has run. */
  left(name: string): void;
}

/** A store with operations for core only. */
export interface OpenStore extends Store {
  /** Reads in one snapshot. */
  snapshot<T>(read: (reader: Reader) => Promise<T>): Promise<T>;
  /** Its tables, except the driver's own. */
  tables(): Promise<readonly StoreTable[]>;
  /**
   * Called after rows with ids from another store were written: new rows must get higher ids. Not needed if they do so
   * automatically.
   */
  rowsLoaded?(): Promise<void>;
  /** A consistent copy while the store is in use. Servers have their own tools. */
  backup?(file: string): Promise<void>;
  /** Runs a function exclusively among the processes on this store; absent: no other process can have it open. */
  exclusively?<T>(work: () => Promise<T>): Promise<T>;
  /** The disk space that the store uses and has left; undefined if unknown. */
  room?(): Promise<StoreRoom | undefined>;
  /**
   * Joins the processes that have this store open. From then on, writes of a process that was declared dead are
   * refused, and `pressure` reports when this process may no longer be a member; `close` leaves. Without it, no other
   * process can have the store open.
   */
  join?(facts: ProcessFacts, events: MembershipEvents): Promise<Membership>;
  close(): Promise<void>;
}

/** A table of the store. */
export interface StoreTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly isInteger: boolean }[];
  /** The columns of its primary key, in order. */
  readonly key: readonly string[];
  /** Foreign keys: column, table and column. */
  readonly references: readonly { readonly column: string; readonly table: string; readonly to: string }[];
}

/** A process that joins others on one store. */
export interface ProcessFacts {
  /** `host.boot`. */
  readonly epoch: string;
  /** `HOST:PORT` of a gateway; only the host for a command. */
  readonly name: string;
  readonly version: string;
  /** A digest of its gateway.yaml. */
  readonly config: string;
}

/** A member among the processes of one store. */
export interface JoinedProcess extends ProcessFacts {
  /** Unix milliseconds, by the store's clock. */
  readonly joinedMs: number;
}

/** Events of membership. */
export interface MembershipEvents {
  /** These processes have left, or were declared dead; everything they wrote is in the store. */
  left(epochs: readonly string[]): void;
  /** A message of another process; messages of one process arrive in order. */
  message(body: string, from: string): void;
  /** This process was declared dead. It must end. */
  ended(error: Error): void;
}

/** Membership among the processes of one store. */
export interface Membership {
  /** The epochs of all members, this one included, in the order in which they joined; as last read. */
  readonly members: readonly string[];
  /** Whether this process is still a member; check it before doing what only one process may do. */
  isCurrent(): boolean;
  /** Removes members whose lease has expired, and returns the rest. */
  look(): Promise<readonly string[]>;
  /** All members, as they were when they joined: also those that do not answer. */
  processes(): Promise<readonly JoinedProcess[]>;
  /** Sends to all others, at most once. `to`: the only recipient, so that the others need not fetch a long message. */
  send(body: string, to?: string): Promise<void>;
  leave(): Promise<void>;
}

/** Disk space in bytes. */
export interface StoreRoom {
  /** Of the database. */
  readonly file: number;
  /** The write-ahead log: written, but not yet in the file. */
  readonly log: number;
  /** Free space on its disk, for this user. */
  readonly free: number;
  /** The size of the disk. */
  readonly disk: number;
}

/** Another process holds the store. Exit code 73. */
export class StoreInUse extends Error {}
sharedByCopies(StoreInUse, 'StoreInUse');

/** There is no store, or a part of it is missing. The message has the details. */
export class StoreMissing extends Error {}
sharedByCopies(StoreMissing, 'StoreMissing');

/** The store cannot be written now: disk full, read-only, failed sync. Calls are refused with 503. */
export class StoreUnavailable extends Error {}
sharedByCopies(StoreUnavailable, 'StoreUnavailable');
