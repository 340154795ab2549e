/**
 * Invitations: each allows the creation of one account. Provided by the plugin `accounts`. One without an address is a
 * code for any visitor; one with an address is for the user who has it.
 */

import { service } from './definitions.ts';
import type { Step } from './store.ts';

/** What the account that accepts an invitation gets. */
export interface InvitationPreset {
  readonly role: 'member' | 'admin';
  /** Undefined: no department. */
  readonly departmentId?: number | undefined;
  /** Its first balance, micro-quota; undefined: the welcome balance. */
  readonly balance?: bigint | undefined;
  /** A plan that is granted to it. */
  readonly plan?: string | undefined;
}

/** An invitation without its code. */
export interface Invitation {
  readonly id: number;
  /** The account that created it. */
  readonly madeBy: number;
  /** Unix milliseconds. */
  readonly createdMs: number;
  readonly expiresMs: number;
  /** The address of the invited user, which the new account gets as verified; undefined: a code for any visitor. */
  readonly email: string | undefined;
  readonly preset: InvitationPreset;
  /** When the mail server accepted the email with the current code; undefined: it has not. */
  readonly sentMs: number | undefined;
  /** The account that was created with it; undefined: none yet. */
  readonly usedBy: number | undefined;
  readonly usedMs: number | undefined;
  /** When it was revoked. */
  readonly revokedMs: number | undefined;
}

/** A new invitation. */
export interface NewInvitation {
  readonly madeBy: number;
  readonly forMs: number;
  /** Revokes an open invitation for the same address. */
  readonly email?: string;
  /** Default: a member with the welcome balance. */
  readonly preset?: InvitationPreset;
}

/** An invitation and its code, which is returned once and never again. */
export interface IssuedInvitation {
  readonly code: string;
  readonly invitation: Invitation;
}

/** A valid code: its invitation (undefined for one of an older version, which has no row), and how it is redeemed. */
export interface ValidInvitation {
  readonly invitation: Invitation | undefined;
  /** The steps to write with the new account; `must`: `ticket_used`. */
  steps(accountId: number): readonly Step[];
}

/** All invitations; used and expired ones are kept for a year. */
export interface Invitations {
  /** Creates one. Refuses (400) an invalid address. */
  issue(invitation: NewInvitation, along?: (id: number) => readonly Step[]): Promise<IssuedInvitation>;
  /**
   * Replaces the code and the expiry of an invitation that has an address and was neither used nor revoked. Undefined
   * if there is none; then `along` is not written. `madeBy`: the account that answers for it from now on.
   */
  renew(
    id: number,
    of: { readonly madeBy: number; readonly forMs: number },
    along?: readonly Step[],
  ): Promise<IssuedInvitation | undefined>;
  /** Records that the mail server has accepted the email with this code. */
  sent(code: string): Promise<void>;
  /** The invitation of a code; undefined if the code is not valid. */
  find(code: string): Promise<ValidInvitation | undefined>;
  get(id: number): Promise<Invitation | undefined>;
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
