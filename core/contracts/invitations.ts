/** Invitations: each is good for one new account. Provided by the plugin `accounts`. */

import { service } from '../definitions.ts';
import type { Step } from './store.ts';

/** One, without its code. */
export interface Invitation {
  readonly id: number;
  /** The account that made it. */
  readonly madeBy: number;
  /** Unix milliseconds. */
  readonly createdMs: number;
  readonly expiresMs: number;
  /** The account that was made with it; undefined: none yet. */
  readonly usedBy: number | undefined;
  readonly usedMs: number | undefined;
  /** It was taken back then. */
  readonly revokedMs: number | undefined;
}

/** All of them, those that were used or have expired among them, for a year. */
export interface Invitations {
  /** The code is shown once and never again. */
  issue(
    madeBy: number,
    forMs: number,
    along?: (id: number) => readonly Step[],
  ): Promise<{ readonly code: string; readonly invitation: Invitation }>;
  /**
   * What to write with the account that is made with a code: the steps, by its id; `must`: `ticket_used`. Undefined where the code is
   * unknown, used, taken back or too old.
   */
  use(code: string): Promise<((accountId: number) => readonly Step[]) | undefined>;
  /** Newest first; `offset` from 0. */
  list(of: { readonly offset: number; readonly limit: number }): Promise<{
    readonly total: number;
    readonly items: readonly Invitation[];
  }>;
  /** Takes one back that is still good. False, and nothing is written along, where there is none. */
  revoke(id: number, along?: readonly Step[]): Promise<boolean>;
}
/** The service of that name. */
export const Invitations = service<Invitations>('invitations');
