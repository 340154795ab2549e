/** Sessions and tickets: who is signed in, and what was begun and waits for its second half. Provided by `accounts`. */

import { service } from '../definitions.ts';
import type { Account } from './accounts.ts';
import type { JsonObject } from './json.ts';
import type { Step } from './store.ts';

/** Somebody is signed in, in one browser. */
export interface Session {
  readonly id: number;
  readonly accountId: number;
  /** `password`, `passkey`, or the name of an OAuth provider. */
  readonly method: string;
  readonly ip: string;
  readonly userAgent: string;
  readonly createdMs: number;
  /** Written once a minute at most. */
  readonly lastSeenMs: number;
  readonly expiresMs: number;
  /** Until when the last check counts; 0: there was none. */
  readonly verifiedUntilMs: number;
  /** Until when the sign-in itself is recent: five minutes after it; 0: it is not any more. */
  readonly recentUntilMs: number;
}

/** A personal access token, without its secret. */
export interface AccessToken {
  readonly accountId: number;
  readonly createdMs: number;
  readonly expiresMs: number;
  /** Until when the last check that was made with it counts; 0: there was none. */
  readonly verifiedUntilMs: number;
}

/** All sessions. Their secrets, and those of access tokens, are stored as hashes only. */
export interface Sessions {
  /** Begins one; the oldest ends where the account has ten. Refuses (403 `account_disabled`). */
  open(
    of: {
      readonly accountId: number;
      readonly method: string;
      readonly ip: string;
      readonly userAgent: string;
    },
    along?: readonly Step[],
  ): Promise<{ readonly secret: string; readonly session: Session }>;
  /** Undefined where it has ended or expired, or its account is disabled. */
  find(secret: string): Promise<{ readonly session: Session; readonly account: Account } | undefined>;
  list(accountId: number): Promise<readonly Session[]>;
  /** False where the account has no such session. */
  end(accountId: number, id: number): Promise<boolean>;
  /**
   * The steps that end all sessions of an account but one, which has to be verified again, and its access token. For lists that change
   * how it signs in.
   */
  endSteps(accountId: number, except?: number): readonly Step[];
  /** A check went well: the session is verified for five minutes, and its secret is a new one. */
  verify(id: number): Promise<{ readonly secret: string; readonly untilMs: number }>;
  /** The same for the access token of an account, which stays as it is. Until when. */
  verifyAccessToken(accountId: number): Promise<number>;
  /** The personal access token of an account: made anew, the one before ends. */
  renewAccessToken(accountId: number, along?: readonly Step[]): Promise<string>;
  /** Ends it; false, and nothing is written along, where there is none. */
  revokeAccessToken(accountId: number, along?: readonly Step[]): Promise<boolean>;
  /** Undefined if there is none, or it has expired. */
  accessToken(accountId: number): Promise<AccessToken | undefined>;
  /** Undefined if it is unknown or has expired, or its account is disabled. */
  findByAccessToken(
    secret: string,
  ): Promise<{ readonly account: Account; readonly accessToken: AccessToken } | undefined>;
}
/** The service of that name. */
export const Sessions = service<Sessions>('sessions');

/** What a ticket is for; it is good for nothing else. */
export type TicketPurpose =
  | 'sign-in'
  | 'password-reset'
  | 'email-proof'
  | 'passkey-login'
  | 'passkey-register'
  | 'passkey-verify'
  | 'oauth'
  | 'invitation';

/** Something begun: a sign-in that waits for its second step, a challenge, a state that an OAuth provider sends back. */
export interface Ticket {
  readonly accountId: number | undefined;
  /** What whoever issued it needs to go on; sealed in the store. */
  readonly data: JsonObject;
  readonly expiresMs: number;
}

/** Tickets: random, stored as hashes, good for one thing, once. */
export interface Tickets {
  /** `secret`: instead of 32 random bytes, where a person has to type it; bound to something that is no secret (`mail:code`). */
  issue(
    purpose: TicketPurpose,
    ticket: {
      readonly accountId?: number | undefined;
      readonly data?: JsonObject;
      readonly forMs: number;
      readonly secret?: string;
    },
  ): Promise<string>;
  /** Takes it: whoever comes second gets undefined, and so does whoever comes late. */
  take(purpose: TicketPurpose, secret: string): Promise<Ticket | undefined>;
  /** The steps that take it together with something else; `must`: `ticket_used`. */
  takeSteps(purpose: TicketPurpose, secret: string): readonly Step[];
  /** Looks at it and counts the look; from the `most`th on (5) it is gone. For what may be tried again: a code mistyped. */
  look(purpose: TicketPurpose, secret: string, most?: number): Promise<Ticket | undefined>;
  /** The steps that void all tickets of an account. */
  voidSteps(accountId: number): readonly Step[];
}
/** The service of that name. */
export const Tickets = service<Tickets>('tickets');
