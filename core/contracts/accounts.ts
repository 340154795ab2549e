/** Accounts, which own keys and pay for calls. Provided by the plugin `accounts`. */

import { type Awaitable, service } from './definitions.ts';
import type { JsonObject } from './formats/json.ts';
import type { Account, Role } from './identity.ts';
import type { Step } from './store.ts';

export type { Account, Role } from './identity.ts';

/** An account with all personal fields. */
export interface Person extends Account {
  readonly displayName: string;
  /** Verified; undefined if there is none. */
  readonly email: string | undefined;
  readonly group: string;
  /** Notes of administrators; never shown to the user. */
  readonly remark: string;
  /** Last sign-in; undefined: never. */
  readonly lastLoginMs: number | undefined;
  /** Deletion time: the name stays reserved and the ledger entries stay. */
  readonly deletedMs: number | undefined;
  /** Can sign in with a password; false if the account was created by OAuth and never set one. */
  readonly hasPassword: boolean;
  /** The password is one of another program, and was not used here yet. */
  readonly hasOldPassword: boolean;
  /** Settings of the user: notifications, language, and whatever a console stores. */
  readonly settings: JsonObject;
}

/** Fields of a new account. */
export interface NewAccount {
  readonly name: string;
  readonly role: Role;
  /** Undefined: cannot sign in with a password. */
  readonly password?: string | undefined;
  /** Instead of `password`: the hash that another program stored, see `adoptSteps`. */
  readonly passwordHash?: string | undefined;
  readonly displayName?: string;
  /** Already verified. */
  readonly email?: string | undefined;
  /** Its first balance: the welcome balance (the default), nothing, no limit, or micro-quota. `root` never has a limit. */
  readonly opening?: 'welcome' | 'empty' | 'unlimited' | bigint;
  /** Default: `default`. */
  readonly group?: string | undefined;
  readonly remark?: string | undefined;
  /** Default: true. */
  readonly enabled?: boolean;
}

/**
 * Plans new accounts that are written in lists of several. Names, email addresses and ids that were planned count as taken; those of the store are
 * as they were when the plan was made, and a list fails with `account_not_new` if another request has taken one: then plan it again.
 */
export interface AccountPlan {
  /** Refuses as `Accounts.create` does. A password is not taken. */
  create(account: Omit<NewAccount, 'password'>): { readonly account: Account; readonly steps: readonly Step[] };
}

/** Changes of an account; absent fields stay. */
export interface AccountChanges {
  readonly name?: string;
  /** The new name applies to scopes in gateway.yaml, too: only if an administrator gives it. Default: false. */
  readonly renamesScope?: boolean;
  readonly displayName?: string;
  /** Null removes it. */
  readonly email?: string | null;
  readonly group?: string;
  readonly remark?: string;
  readonly role?: Role;
  readonly enabled?: boolean;
  /** Merged with the existing settings; null removes a member. */
  readonly settings?: JsonObject;
}

/** The origin of a password check, for its queue. */
export interface Comer {
  /** The client's network: all clients of a network share one quota. */
  readonly network: string;
  /** Signed in to this account before, from this browser or network. */
  readonly isKnown: boolean;
}

/** What accounts can be sorted by. Accounts that never signed in come first. */
export type AccountOrder = 'id' | 'name' | 'role' | 'group' | 'lastLogin';

/** Filter for the list of accounts. */
export interface AccountSearch {
  /** Part of the name, display name or email address; or an id. `%` and `_` are literal. */
  readonly text?: string;
  readonly role?: Role;
  readonly enabled?: boolean;
  readonly group?: string;
  /** Only these ids. */
  readonly among?: readonly number[];
  /** True: only deleted accounts; `also`: those, too. */
  readonly deleted?: boolean | 'also';
  /** Default: newest first. */
  readonly sort?: { readonly by: AccountOrder; readonly descending: boolean };
  /** Only ids below this one: the rest of a list that is newest first. */
  readonly before?: number;
  /** From 0. */
  readonly offset: number;
  readonly limit: number;
}

/** What an account that was moved from another program brings along. */
export interface Adopted {
  /**
   * The stored hash of its password. It is compared at sign-ins until the first one with the right password, which replaces it by our own.
   * The password is not refused as weak. Formats: bcrypt (`$2a$10$…`, as Go's golang.org/x/crypto writes it), and the unprefixed forms that
   * the README of the plugin lists (`scrypt:…`, `pbkdf2:…`, SHA-256 in hexadecimal).
   */
  readonly passwordHash?: string | undefined;
  /** Only if the account has no settings yet. */
  readonly settings?: JsonObject | undefined;
}

/**
 * All accounts. Methods that change one take steps to write `along` in the same atomic list: an audit entry, a key
 * revocation. `find` (as not enabled) and `person` return deleted accounts; lookups by name do not.
 */
export interface Accounts {
  find(id: number): Promise<Account | undefined>;
  /** Case-insensitive. */
  findByName(name: string): Promise<Account | undefined>;
  findByEmail(email: string): Promise<Account | undefined>;
  person(id: number): Promise<Person | undefined>;
  list(): Promise<readonly Account[]>;
  /** Newest first. */
  search(search: AccountSearch): Promise<{ readonly total: number; readonly items: readonly Person[] }>;
  /**
   * Refuses a name (409 `name_taken`) or an email address (409 `email_taken`) that is taken, and a password that
   * is weak or common (400). Throws if `passwordHash` has a problem. `along` may be a function of the new account's id.
   */
  create(account: NewAccount, along?: readonly Step[] | ((id: number) => Awaitable<readonly Step[]>)): Promise<Account>;
  /** Reads which names and addresses are taken. */
  plan(): Promise<AccountPlan>;
  /**
   * Refuses as `create` does; 404 if there is no such account; 409 `last_root` if no root would remain. Another role,
   * or disabling, ends its sessions; that or another email address voids its tickets.
   */
  change(id: number, changes: AccountChanges, along?: readonly Step[]): Promise<Person>;
  /**
   * The account with this name and password; undefined if the password is wrong or the account does not exist, in
   * constant time. Refuses (429) if too many checks wait: first those from the networks with most of them, last those
   * of known clients.
   */
  checkPassword(nameOrEmail: string, password: string, comer?: Comer): Promise<Account | undefined>;
  /** Refuses a weak password (400). Ends all sessions except `keep`, revokes the access token, and voids tickets. */
  setPassword(id: number, password: string, along?: readonly Step[], keep?: number): Promise<void>;
  /** Why the hash of another program cannot be compared here, in one sentence without its full stop; undefined: it can. */
  passwordHashProblem(hash: string): string | undefined;
  /**
   * The steps for a list that creates an account, or for a later one. Throws if the hash has a problem. `must`: `password_kept` if a password was set
   * or used here.
   */
  adoptSteps(id: number, adopted: Adopted): readonly Step[];
  /** Deletes it: disabled, without email address, settings, password and sessions. Refuses (409) the last root. */
  remove(id: number, along?: readonly Step[]): Promise<void>;
  /** Calls `listener` after an account changed. `isOwn`: changed by this process. */
  watch(listener: (id: number, isOwn: boolean) => void): void;
}
/** The service `Accounts`. */
export const Accounts = service<Accounts>('accounts');

/** How much work a hash of a password is: 2^`ln` rounds of `r` blocks, `p` times (scrypt). */
export interface PasswordCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}
/** The service `PasswordCost`. If nothing provides it, the cost is that of `accounts`; a gateway of tests provides a cheap one. */
export const PasswordCost = service<PasswordCost>('password-cost');
