/** One thing that is written into the store, planned before anything is written: a dry run plans and stops. */
import type { Step } from '../../core/plugin.ts';
import type { Note } from './inventory.ts';
import type { ImportedKind, Seen } from './tables.ts';

/** What is to be written for one thing of the other gateway. */
export interface Planned {
  readonly kind: ImportedKind;
  /** Its identifier there: what was imported before is planned only if it changed. */
  readonly id: string;
  /** Its name there. */
  readonly name: string;
  /** The id of what it becomes, or belongs to, here. */
  readonly ownId: number;
  /** For the report: what it is there, and what it becomes here. */
  readonly from: string;
  readonly to: string;
  /** Written in one list with the row that remembers it. */
  readonly steps: readonly Step[];
  /** What a later import compares with. */
  readonly seen?: Seen | undefined;
  /** What an operator should know of it. */
  readonly notes?: readonly Note[] | undefined;
  /** What its user has to be sent. */
  readonly handout?: Handout | undefined;
}

/** One thing that is, or would be, here after the import. */
export interface Taken {
  readonly kind: 'department' | 'account' | 'key' | 'code' | 'subscription' | 'order';
  /** Its name there. */
  readonly from: string;
  /** What it is here. */
  readonly to: string;
  readonly state: 'new' | 'changed' | 'unchanged';
  /** What has changed there since it was imported: `balance 5, was 3`. */
  readonly changes?: readonly string[];
  /** These changes were, or would be, applied. */
  readonly updated?: true;
}

/** What a user has to be sent. Its secret is not stored here, so it is handed out as soon as it exists. */
export interface Handout {
  readonly account: string;
  readonly email: string | undefined;
  /** A link for a new password, or a new key with its name. */
  readonly what: string;
  readonly secret: string;
}
