/** The audit log of administrative changes. Provided by the plugin `audit`. */

import { service } from './definitions.ts';
import type { JsonObject } from './formats/json.ts';
import type { Step } from './store.ts';

/** The actor. */
export interface Actor {
  /** Undefined: unknown. */
  readonly accountId: number | undefined;
  /** `ann`, `command line`, the name of a payment provider. */
  readonly name: string;
  /** Empty if there is none. */
  readonly ip: string;
}

/** The actor of the command line, which does not know its user. */
export const COMMAND_LINE: Actor = { accountId: undefined, name: 'command line', ip: '' };

/** An event. */
export interface AuditEvent {
  readonly actor: Actor;
  /** `user.role`, `key.rotate`, `sign-in.failed`: noun, dot, verb or fact. */
  readonly action: string;
  /** The object: `user 7`, `key 3`; may be empty. */
  readonly object: string;
  /** Old and new values; no secrets. */
  readonly facts?: JsonObject;
}

/** An event in the log. */
export interface AuditEntry extends AuditEvent {
  /** Without gaps. */
  readonly seq: number;
  readonly atMs: number;
  readonly facts: JsonObject;
  /** Hash over this entry and all before it; 64 hexadecimal characters. */
  readonly hash: string;
}

/** Writes and reads the audit log. Entries are chained by hashes, so that a changed or removed entry is detected. */
export interface Audit {
  /** The steps that write an entry, to be committed together with the change it describes. */
  steps(event: AuditEvent): readonly Step[];
  /** Writes an entry on its own: for events without a change, such as a failed sign-in. */
  note(event: AuditEvent): Promise<void>;
  /** Newest first. `before`: only entries with a smaller `seq`. */
  page(of: {
    readonly before?: number;
    readonly limit: number;
    /** Part of the actor's name, ignoring case. */
    readonly actor?: string;
    readonly action?: string;
    readonly fromMs?: number;
    readonly untilMs?: number;
  }): Promise<readonly AuditEntry[]>;
  count(): Promise<number>;
  /**
   * Verifies the hash chain from the entry behind `after` (0: the first) over at most `most` entries. Returns the last
   * entry checked, the head of the chain, and the first invalid entry, if any.
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
/** The service `Audit`. */
export const Audit = service<Audit>('audit');
