/** Keys: what a client sends to be let in. Provided by the plugin `keys`. */

import { service } from '../definitions.ts';
import type { Account } from './accounts.ts';
import type { Step } from './store.ts';

/** A key without its secret. */
export interface KeyRecord {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  /** `sk-` and the first four characters behind it. */
  readonly prefix: string;
  /** The last four characters. */
  readonly suffix: string;
  readonly enabled: boolean;
  readonly createdMs: number;
  /** When a call came with it last, unix milliseconds, to the minute; undefined: never. */
  readonly usedMs: number | undefined;
  /** Unix milliseconds; undefined: never. */
  readonly expiresMs: number | undefined;
  /** The public names this key may call; undefined: all. */
  readonly models: readonly string[] | undefined;
  /** The addresses and networks (`10.0.0.0/8`) it may be used from, as they were given; undefined: all. */
  readonly addresses: readonly string[] | undefined;
  /** A translation that would change the answer is refused. */
  readonly strict: boolean;
}

/** A key and the account that pays for it. */
export interface Holder {
  readonly key: KeyRecord;
  readonly account: Account;
}

/** What a key is to be. */
export interface NewKey {
  readonly accountId: number;
  readonly name: string;
  /** Micro-quota the key may spend; undefined: as much as the account has. */
  readonly allowance: bigint | undefined;
  readonly models?: readonly string[] | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly expiresMs?: number | undefined;
  readonly strict?: boolean;
  /** Left out: true. */
  readonly enabled?: boolean;
}

/** A key with its secret, which is shown once and never again. */
export interface OpenedKey {
  readonly secret: string;
  readonly key: KeyRecord;
}

/** What may change of a key; what is absent stays. `null` takes a restriction away. */
export interface KeyChanges {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly models?: readonly string[] | null;
  readonly addresses?: readonly string[] | null;
  readonly expiresMs?: number | null;
  readonly strict?: boolean;
}

/** The steps to write along with a key that is made: only then is it known which one it is. */
export type Along = (key: KeyRecord) => readonly Step[];

/** Which keys to list, newest first. */
export interface KeySearch {
  readonly accountId: number;
  /** Part of the name; `%` and `_` mean themselves. */
  readonly text?: string;
  /** A whole secret, or its end. */
  readonly secret?: string;
  /** From 0. */
  readonly offset: number;
  readonly limit: number;
}

/** All keys. */
export interface Keys {
  /**
   * Who holds this key; undefined where it is unknown or misspelt. Disabled and expired keys are found, too: the caller
   * says why it refuses. Answers at once from memory where it can.
   */
  find(secret: string): Holder | undefined | Promise<Holder | undefined>;
  /** The same by the number of a key that is this account's own; undefined where it has no such key. */
  holderById(accountId: number, id: number): Promise<Holder | undefined>;
  /**
   * Makes a key. Refuses a bad address, a name that is too long, a model that does not exist, and (409 `too_many_keys`) one
   * beyond the thousand that an account may have.
   */
  create(key: NewKey, along?: Along): Promise<OpenedKey>;
  /** The account's key for tools that ask for any; undefined until `createDefault` made it, and where it was revoked. */
  default(accountId: number): Promise<KeyRecord | undefined>;
  /** Makes it; undefined where there is one by now. */
  createDefault(key: NewKey, along?: Along): Promise<OpenedKey | undefined>;
  list(accountId?: number): Promise<readonly KeyRecord[]>;
  search(search: KeySearch): Promise<{ readonly total: number; readonly items: readonly KeyRecord[] }>;
  /**
   * The newest keys of exactly that name, of an account or (undefined) of anybody. Like `nameOf` it knows of those that were revoked, too:
   * records name them.
   */
  named(
    name: string,
    accountId: number | undefined,
    limit: number,
  ): Promise<readonly Pick<KeyRecord, 'id' | 'accountId'>[]>;
  /** Undefined where there never was such a key. */
  nameOf(id: number): Promise<string | undefined>;
  /** Whose key that is; undefined if there is none, or it was revoked. */
  ownerOf(id: number): Promise<number | undefined>;
  /** Undefined where this account has no such key. */
  get(accountId: number, id: number): Promise<KeyRecord | undefined>;
  /** Refuses as `create` does; 404 where this account has no such key. */
  change(accountId: number, id: number, changes: KeyChanges, along?: readonly Step[]): Promise<KeyRecord>;
  /** Ends several keys of an account, all or (undefined, where one of them is not its own) none. How many. */
  revokeAll(accountId: number, ids: readonly number[], along?: readonly Step[]): Promise<number | undefined>;
  /** The steps that end every key of an account, which is deleted, with what is stored of its calls; `forget` it when they are written. */
  revokeSteps(accountId: number): readonly Step[];
  /** What is remembered of an account's keys is asked for anew. */
  forget(accountId: number): void;
  /**
   * Gives a key another secret; the one before works for `graceMs` more, and so do those before it where they still did. 404 where
   * it is not theirs.
   */
  rotate(accountId: number, id: number, graceMs: number, along?: readonly Step[]): Promise<OpenedKey>;
  /** Ends a key for good, at once, for every gateway that shares the store. False where there was none. */
  revoke(id: number, along?: readonly Step[]): Promise<boolean>;
  /**
   * Whether the key may call a public name: the name itself or, behind an alias, its model is in the key's scope. Whoever
   * offers another model than the one asked for asks again, for that one.
   */
  allows(key: KeyRecord, model: string): boolean;
  /** Refuses (403) where the key may not be used from this address. */
  checkAddress(key: KeyRecord, ip: string): void;
}
/** The service of that name. */
export const Keys = service<Keys>('keys');
