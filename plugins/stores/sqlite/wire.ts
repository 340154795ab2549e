/** What the threads of this store say to each other. Flat arrays where there are many: copying them is most of the cost. */
import type { Value } from '../../../core/plugin.ts';

/**
 * Lists that share one transaction. `lists` holds them one behind the other, each as `number, end, flags, step…` where `number` is its
 * place in the batch and `end` the index behind it. A step is `statement, shape, parameter…`, where `statement` is the index of a text
 * that was told before, or the text itself; `shape` is twice the number of parameters, plus 1 for a step that must change something.
 */
export interface Batch {
  /** Texts told for the first time; their indexes go on from the last one told. */
  readonly texts: readonly string[];
  readonly lists: readonly (Value | undefined)[];
  /** How many lists. */
  readonly count: number;
}
/** The number of what is no list of its own: what lists before it add, added up. */
export const OF_FOLDS = -1;
/** Flags of a list: it is answered after the commit; what it adds is in a fold behind it. */
export const DURABLE = 1;
export const FOLDED = 2;

/** Said first: the thread opens the file. With `socket`, other processes may join there. */
export interface Opening {
  readonly open: string;
  readonly mustExist: boolean;
  readonly socket: string | undefined;
}
/** Said first by another process, to the thread that has opened the file. */
export interface Joining {
  /** Who it is. */
  readonly join: string;
}

export type ToWriter = Opening | Joining | Batch | 'close';

/** `number, result` of each list, one behind the other: rows changed by its last step, or `-1 - step` of the failed `must`. */
export type Answers = readonly (number | StepError)[];
/** The error of one step of a list; the list has left no trace. */
export interface StepError extends WireError {
  readonly step: number;
}
/** An error on its way between threads. */
export interface WireError {
  readonly message: string;
  /** The database's, `SQLITE_CONSTRAINT_UNIQUE`; empty where it is somebody else's. */
  readonly code: string;
}

/** What kind of error kept the file from being opened. */
export type Refusal = 'in use' | 'missing' | 'other';

export type FromWriter =
  | { readonly kind: 'open' }
  | { readonly kind: 'refused'; readonly why: Refusal; readonly message: string }
  /** Lists that are answered before the commit; `done` follows, or `failed`. */
  | { readonly kind: 'ran'; readonly answers: Answers }
  /** The batch is durable; the answers of the rest. */
  | { readonly kind: 'done'; readonly answers: Answers }
  /** A list that adds, or its fold, went wrong: nothing was written, and the batch is to be sent again without folds. */
  | { readonly kind: 'again' }
  /** Nothing of what is left of the batch was written. `lasting`: nothing will be until the store is opened again. */
  | { readonly kind: 'failed'; readonly reason: string; readonly lasting: boolean }
  /** A process that had joined has gone; everything that it handed in was run. */
  | { readonly kind: 'left'; readonly name: string };

/** What a reading thread is asked; it answers in order. */
export type Question =
  | { readonly kind: 'open'; readonly file: string; readonly snapshot: boolean }
  | { readonly kind: 'one' | 'all'; readonly sql: string; readonly params: readonly Value[] }
  | { readonly kind: 'backup'; readonly file: string };
export type ToReader = { readonly number: number; readonly question: Question } | 'close';
export type FromReader = { readonly number: number; readonly value?: unknown; readonly error?: WireError };

/**
 * True for errors that are not about a statement but about the file beneath it: full, failing, locked, read-only, damaged.
 * Whoever meets one cannot trust the transaction it happened in.
 */
export function isStorageError(code: string): boolean {
  return /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|NOMEM|BUSY|LOCKED|PROTOCOL|PERM|AUTH)/.test(code);
}

/**
 * True for errors after which nothing written through this connection can be believed: the kernel may drop what it could not
 * sync and report success the next time, and a damaged file only gets worse.
 */
export function isLastingError(code: string): boolean {
  return /^SQLITE_(IOERR_(DIR_)?FSYNC|CORRUPT|NOTADB)/.test(code);
}

/** An error as it crosses a thread. */
export function wireError(error: unknown): WireError {
  if (!(error instanceof Error)) return { message: String(error), code: '' };
  return { message: error.message, code: 'code' in error && typeof error.code === 'string' ? error.code : '' };
}
