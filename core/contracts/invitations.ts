/** Invitations: each allows the creation of one account. Provided by the plugin `accounts`. */

import { service } from '../definitions.ts';
import type { Step } from './store.ts';

/** An invitation without its code. */
export interface Invitation {
  readonly id: number;
  /** The account that created it. */
  readonly madeBy: number;
  /** Unix milliseconds. */
  readonly createdMs: number;
  readonly expiresMs: number;
  /** The account that was created with it; undefined: none yet. */
  readonly usedBy: number | undefined;
  readonly usedMs: number | undefined;
  /** When it was revoked. */
  readonly revokedMs: number | undefined;
}

/** All invitations; used and expired ones are kept for a year. */
export interface Invitations {
  /** Creates one. The code is returned once and never again. */
  issue(
    madeBy: number,
    forMs: number,
    along?: (id: number) => readonly Step[],
  ): Promise<{ readonly code: string; readonly invitation: Invitation }>;
  /** Redeems a code: the steps to write with the new account; `must`: `ticket_used`. Undefined if it is not valid. */
  use(code: string): Promise<((accountId: number) => readonly Step[]) | undefined>;
  /** Newest first; `offset` from 0. */
  list(of: { readonly offset: number; readonly limit: number }): Promise<{
    readonly total: number;
    readonly items: readonly Invitation[];
  }>;
  /** Revokes an unused invitation. False if there is none; then `along` is not written. */
  revoke(id: number, along?: readonly Step[]): Promise<boolean>;
}
/** The service `Invitations`. */
export const Invitations = service<Invitations>('invitations');
