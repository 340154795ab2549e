/** Messages between the threads of this store. Large ones are flat arrays: copying is most of their cost. */
import type { Value } from '../../../core/plugin.ts';

/**
 * Lists that share one transaction. `lists` has them one after the other, each as `number, end, flags, step…`: `number` is its index in the
 * batch, `end` the index after it. A step is `statement, shape, parameter…`: `statement` is the index of a statement that was sent before,
 * or the statement itself; `shape` is twice the number of parameters, plus 1 for a step that must change something.
 */
export interface Batch {
  /** Statements sent for the first time; their indexes continue those sent before. */
  readonly texts: readonly string[];
  /** Sums sent for the first time, each as `statement, flags, parameter…` (1: `must`; 2: `must` of a fence); their indexes continue those sent before, unless `forget` is set. */
  readonly sums: readonly (readonly (Value | undefined)[])[];
  /** The sums that were sent before are not used again. */
  readonly forget: boolean;
  readonly lists: readonly (Value | undefined)[];
  /** The number of lists. */
  readonly count: number;
}
/** The number of a fold: added-up additions of the lists before it, each as `sum, count, amount…`. */
export const OF_FOLDS = -1;
/** Flags of a list: it is answered after the commit; its additions are in a later fold, or it has no steps. */
export const DURABLE = 1;
export const FOLDED = 2;
/** In the place of a query: everything is added, and until `RELEASE` at once, because a snapshot begins. */
export const HOLD = '';
export const RELEASE = ' ';
/** The list is the text of a query that follows: what it may read is added to its rows. Its result is 0 if it reads no such table. */
export const QUERY = 4;

/** First message: opens the file. With `socket`, other processes may join there. */
export interface Opening {
  readonly open: string;
  readonly mustExist: boolean;
  readonly isBrief: boolean;
  readonly socket: string | undefined;
}
/** First message of another process that joins. */
export interface Joining {
  /** The name of the process. */
  readonly join: string;
}

export type ToWriter = Opening | Joining | Batch | 'close';

/** `number, result` of each list: rows changed by its last step, or `-1 - step` of the failed `must`. */
export type Answers = readonly (number | StepError)[];
/** The error of a step; the list has left no trace. */
export interface StepError extends WireError {
  readonly step: number;
}
/** A serializable error. */
export interface WireError {
  readonly message: string;
  /** SQLite's error code, such as `SQLITE_CONSTRAINT_UNIQUE`; empty for other errors. */
  readonly code: string;
}

/** Why the file could not be opened. */
export type Refusal = 'in use' | 'missing' | 'other';

export type FromWriter =
  | { readonly kind: 'open' }
  | { readonly kind: 'refused'; readonly why: Refusal; readonly message: string }
  /** Results that are sent before the commit; `done` or `failed` follows. */
  | { readonly kind: 'ran'; readonly answers: Answers }
  /** The batch is durable; the remaining results. `behind`: some of what was added is not in its rows yet. */
  | { readonly kind: 'done'; readonly answers: Answers; readonly behind: boolean }
  /** A list with additions, or its fold, failed: nothing was written, and the batch must be sent again without folds. */
  | { readonly kind: 'again' }
  /** No unanswered list of the batch was written. `lasting`: nothing can be written until the store is opened again. */
  | { readonly kind: 'failed'; readonly reason: string; readonly lasting: boolean }
  /** Amounts could not be added to their row: the ledger does not reconcile. */
  | { readonly kind: 'unadded'; readonly text: string; readonly reason: string }
  /** A joined process disconnected; everything it sent was run. */
  | { readonly kind: 'left'; readonly name: string };

/** Requests to a reading thread, which answers in order. */
export type Question =
  | { readonly kind: 'open'; readonly file: string; readonly snapshot: boolean; readonly isBrief: boolean }
  | { readonly kind: 'one' | 'all'; readonly sql: string; readonly params: readonly Value[] }
  | { readonly kind: 'backup'; readonly file: string };
export type ToReader = { readonly number: number; readonly question: Question } | 'close';
export type FromReader = { readonly number: number; readonly value?: unknown; readonly error?: WireError };

/**
 * True for errors that no statement caused, but the file: disk full, I/O error, locked, read-only, damaged. The transaction they occurred
 * in cannot be trusted.
 */
export function isStorageError(code: string): boolean {
  return /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|NOMEM|BUSY|LOCKED|PROTOCOL|PERM|AUTH)/.test(code);
}

/**
 * True for errors after which nothing written through this connection can be trusted: the kernel may drop data that it could not sync and
 * report success the next time, and a damaged file only gets worse.
 */
export function isLastingError(code: string): boolean {
  return /^SQLITE_(IOERR_(DIR_)?FSYNC|CORRUPT|NOTADB)/.test(code);
}

/** Makes an error serializable. */
export function wireError(error: unknown): WireError {
  if (!(error instanceof Error)) return { message: String(error), code: '' };
  return { message: error.message, code: 'code' in error && typeof error.code === 'string' ? error.code : '' };
}
