/** Accounts: who pays. Provided by the plugin `accounts`. */

import { service } from '../definitions.ts';
import type { JsonObject } from './json.ts';
import type { Step } from './store.ts';

/** What an account may do in the gateway itself; there is one `root`, made on the first start. */
export type Role = 'member' | 'admin' | 'root';

/** Somebody who pays. */
export interface Account {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  /** False: its keys are refused. */
  readonly enabled: boolean;
  /** Unix milliseconds. */
  readonly createdMs: number;
}

/** An account with everything about the person. */
export interface Person extends Account {
  readonly displayName: string;
  /** Proven to be theirs; undefined where none is. */
  readonly email: string | undefined;
  /** A word of the operator's for this kind of account; `default`. */
  readonly group: string;
  /** What administrators noted; never shown to the person. */
  readonly remark: string;
  /** Signed in last; undefined: never. */
  readonly lastLoginMs: number | undefined;
  /** It was deleted then: its name stays taken, its money stays in the books. */
  readonly deletedMs: number | undefined;
  /** It can sign in with a password; false for one that came by OAuth and never set one. */
  readonly hasPassword: boolean;
  /** As the person set them: notices, language, whatever a console keeps. */
  readonly settings: JsonObject;
}

/** What an account is to be. */
export interface NewAccount {
  readonly name: string;
  readonly role: Role;
  /** Undefined: it cannot sign in with one. */
  readonly password?: string | undefined;
  readonly displayName?: string;
  /** Proven already. */
  readonly email?: string | undefined;
}

/** What may change of an account; what is absent stays. */
export interface AccountChanges {
  readonly name?: string;
  readonly displayName?: string;
  /** `undefined` has to be said as null: it is taken away. */
  readonly email?: string | null;
  readonly group?: string;
  readonly remark?: string;
  readonly role?: Role;
  readonly enabled?: boolean;
  /** Merged with what is there; a member that is null goes. */
  readonly settings?: JsonObject;
}

/** Who waits for a password to be compared. */
export interface Comer {
  /** The network they come from: all of one network have one share. */
  readonly network: string;
  /** They have signed in to this account before, in this browser or from there. */
  readonly isKnown: boolean;
}

/** Which accounts to list. */
export interface AccountSearch {
  /** Part of the name, the display name or the e-mail address; or an id. `%` and `_` mean themselves. */
  readonly text?: string;
  readonly role?: Role;
  readonly enabled?: boolean;
  readonly group?: string;
  /** Of these ids only. */
  readonly among?: readonly number[];
  /** True: those that were deleted, and no others. */
  readonly deleted?: boolean;
  /** From 0. */
  readonly offset: number;
  readonly limit: number;
}

/**
 * All accounts. What changes one takes steps to write `along`, in the same list: an entry of the audit, a revocation of keys.
 * Deleted accounts are found by `find` (not enabled) and `person`, and by no name.
 */
export interface Accounts {
  find(id: number): Promise<Account | undefined>;
  /** Upper and lower case are the same. */
  findByName(name: string): Promise<Account | undefined>;
  findByEmail(email: string): Promise<Account | undefined>;
  person(id: number): Promise<Person | undefined>;
  list(): Promise<readonly Account[]>;
  /** Newest first. */
  search(search: AccountSearch): Promise<{ readonly total: number; readonly items: readonly Person[] }>;
  /**
   * Refuses a name (409 `name_taken`) or an e-mail address (409 `email_taken`) that is taken, a password that is too weak (400)
   * or among the common ones. `along` may ask for the id that the account is about to get.
   */
  create(account: NewAccount, along?: readonly Step[] | ((id: number) => readonly Step[])): Promise<Account>;
  /**
   * Refuses as `create` does; 404 where there is no such account; 409 `last_root` where nobody would be root any more. Another role, or
   * none at all (disabled), ends its sessions; that or another e-mail address voids its tickets.
   */
  change(id: number, changes: AccountChanges, along?: readonly Step[]): Promise<Person>;
  /**
   * The account whose password that is; undefined where it is wrong, or there is none: nobody can tell by the time it takes. Refuses
   * (429) where too many come at once: first those from the networks that have the most waiting, last those that are known.
   */
  checkPassword(nameOrEmail: string, password: string, comer?: Comer): Promise<Account | undefined>;
  /** Refuses one that is too weak (400). Ends all its sessions but `keep`, and its access token, and voids its tickets. */
  setPassword(id: number, password: string, along?: readonly Step[], keep?: number): Promise<void>;
  /** Ends it for good: disabled, without e-mail address, settings, password and sessions. Refuses (409) the last one that is root. */
  remove(id: number, along?: readonly Step[]): Promise<void>;
  /** Has `listener` told of every account that changes, after it has. `isOwn`: this process changed it, and not another one. */
  watch(listener: (id: number, isOwn: boolean) => void): void;
}
/** The service of that name. */
export const Accounts = service<Accounts>('accounts');
