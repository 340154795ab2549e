/** Sessions and tickets: signed-in users, and flows that wait for their second step. Provided by `accounts`. */

import { service } from './definitions.ts';
import type { JsonObject } from './formats/json.ts';
import type { AccessToken, Account, Session } from './identity.ts';
import type { Step } from './store.ts';

export type { AccessToken, Session } from './identity.ts';

/** All sessions. Only hashes of session secrets and access tokens are stored. */
export interface Sessions {
  /** Starts a session; if the account has ten, the oldest ends. Refuses (403 `account_disabled`). */
  open(
    of: {
      readonly accountId: number;
      readonly method: string;
      readonly ip: string;
      readonly userAgent: string;
    },
    along?: readonly Step[],
  ): Promise<{ readonly secret: string; readonly session: Session }>;
  /** Undefined if it has ended or expired, or its account is disabled. */
  find(secret: string): Promise<{ readonly session: Session; readonly account: Account } | undefined>;
  list(accountId: number): Promise<readonly Session[]>;
  /** False if the account has no such session. */
  end(accountId: number, id: number): Promise<boolean>;
  /**
   * The steps that end all sessions of an account but one, which must be verified again, and its access token. For
   * lists that change how it signs in.
   */
  endSteps(accountId: number, except?: number): readonly Step[];
  /** Marks the session as verified for five minutes and replaces its secret. */
  verify(id: number): Promise<{ readonly secret: string; readonly untilMs: number }>;
  /** The same for the access token of an account, which stays the same. Returns the end of the verification. */
  verifyAccessToken(accountId: number): Promise<number>;
  /** Creates a personal access token; an earlier one becomes invalid. */
  renewAccessToken(accountId: number, along?: readonly Step[]): Promise<string>;
  /**
   * The steps that give an account without access token the one it had in another program, whose lifetime begins again; undefined if it
   * is no text that a client could send as one, or could be guessed.
   */
  adoptAccessTokenSteps(accountId: number, secret: string): readonly Step[] | undefined;
  /** Revokes it; false if there is none, then `along` is not written. */
  revokeAccessToken(accountId: number, along?: readonly Step[]): Promise<boolean>;
  /** Undefined if there is none, or it has expired. */
  accessToken(accountId: number): Promise<AccessToken | undefined>;
  /** Undefined if it is unknown or has expired, or its account is disabled. */
  findByAccessToken(
    secret: string,
  ): Promise<{ readonly account: Account; readonly accessToken: AccessToken } | undefined>;
}
/** The service `Sessions`. */
export const Sessions = service<Sessions>('sessions');

/** The purpose of a ticket; it is valid for no other. */
export type TicketPurpose =
  | 'sign-in'
  | 'password-reset'
  | 'email-proof'
  | 'passkey-login'
  | 'passkey-register'
  | 'passkey-verify'
  | 'oauth'
  | 'invitation';

/** A pending flow: a sign-in that waits for its second step, a challenge, an OAuth state. */
export interface Ticket {
  readonly accountId: number | undefined;
  /** State of the issuer; encrypted in the store. */
  readonly data: JsonObject;
  readonly expiresMs: number;
}

/** Tickets: random, stored as hashes, valid for one purpose, once. */
export interface Tickets {
  /** `secret`: instead of 32 random bytes, for a code that a user types; bound to a public value (`mail:code`). */
  issue(
    purpose: TicketPurpose,
    ticket: {
      readonly accountId?: number | undefined;
      readonly data?: JsonObject;
      readonly forMs: number;
      readonly secret?: string;
    },
  ): Promise<string>;
  /** Redeems it; undefined if it is used or expired. */
  take(purpose: TicketPurpose, secret: string): Promise<Ticket | undefined>;
  /** The steps that redeem it together with other changes; `must`: `ticket_used`. */
  takeSteps(purpose: TicketPurpose, secret: string): readonly Step[];
  /** Reads it and counts the read; deleted at the `most`th (5). For input that may be retried, as a mistyped code. */
  look(purpose: TicketPurpose, secret: string, most?: number): Promise<Ticket | undefined>;
  /** The steps that void all tickets of an account. */
  voidSteps(accountId: number): readonly Step[];
}
/** The service `Tickets`. */
export const Tickets = service<Tickets>('tickets');
