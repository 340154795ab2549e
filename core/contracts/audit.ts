/** The audit log: who changed what. Provided by the plugin `audit`. */

import { service } from '../definitions.ts';
import type { JsonObject } from './json.ts';
import type { Step } from './store.ts';

/** Who did it. */
export interface Actor {
  /** Undefined: nobody who is known. */
  readonly accountId: number | undefined;
  /** `ann`, `command line`, the name of a payment provider. */
  readonly name: string;
  /** Empty where there is none. */
  readonly ip: string;
}

/** Whoever has the command line; which of them, it does not know. */
export const COMMAND_LINE: Actor = { accountId: undefined, name: 'command line', ip: '' };

/** Something that happened. */
export interface AuditEvent {
  readonly actor: Actor;
  /** `user.role`, `key.rotate`, `sign-in.failed`: noun, dot, verb or fact. */
  readonly action: string;
  /** What it happened to: `user 7`, `key 3`; empty where that says nothing. */
  readonly object: string;
  /** What it was and what it is; no secrets. */
  readonly facts?: JsonObject;
}

/** An event as it stands in the log. */
export interface AuditEntry extends AuditEvent {
  /** Without gaps. */
  readonly seq: number;
  readonly atMs: number;
  readonly facts: JsonObject;
  /** Over this entry and all before it; 64 hexadecimal characters. */
  readonly hash: string;
}

/** Writes and reads it. Entries are chained by hashes: whoever changes or removes one breaks the chain. */
export interface Audit {
  /** The steps that write one, for the list of what it tells of. */
  steps(event: AuditEvent): readonly Step[];
  /** Writes one by itself: for what changes nothing, a sign-in that failed. */
  note(event: AuditEvent): Promise<void>;
  /** Newest first. `before`: only entries with a smaller `seq`. */
  page(of: {
    readonly before?: number;
    readonly limit: number;
    readonly actor?: string;
    readonly action?: string;
    readonly fromMs?: number;
    readonly untilMs?: number;
  }): Promise<readonly AuditEntry[]>;
  count(): Promise<number>;
  /**
   * Walks along the chain of hashes, from the entry behind `after` (0: the first) over `most` of them: where it got to, the end of the
   * chain, and the first entry that does not fit, if there is one.
   */
  verify(
    after: number,
    most: number,
  ): Promise<{
    readonly seq: number;
    readonly head: { readonly seq: number; readonly hash: string };
    readonly broken: { readonly seq: number; readonly why: string } | undefined;
  }>;
}
/** The service of that name. */
export const Audit = service<Audit>('audit');
