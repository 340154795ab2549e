/** API keys. Provided by the plugin `keys`. */

import { service } from './definitions.ts';
import type { Holder, KeyLimit, KeyRecord } from './identity.ts';
import type { Step } from './store.ts';

export type { Holder, KeyLimit, KeyRecord } from './identity.ts';

/** Fields of a new key. */
export interface NewKey {
  readonly accountId: number;
  readonly name: string;
  /** Spending limit of the key in micro-quota; undefined: only the account's balance. */
  readonly allowance: bigint | undefined;
  readonly models?: readonly string[] | undefined;
  readonly addresses?: readonly string[] | undefined;
  readonly expiresMs?: number | undefined;
  readonly strict?: boolean;
  readonly limits?: readonly KeyLimit[] | undefined;
  /** Default: the group of the account. */
  readonly group?: string | undefined;
  /** Default: true. */
  readonly enabled?: boolean;
}

/** A key with its secret, which is returned once and never again. */
export interface OpenedKey {
  readonly secret: string;
  readonly key: KeyRecord;
}

/** A secret that another gateway created, in the form in which that gateway stored it. */
export interface ForeignSecret {
  /** The SHA-256 of the whole secret, `sk-` included, in hexadecimal. */
  readonly hash: string;
  /** The beginning that lists show: `sk-`, or `sk-` and four characters. */
  readonly prefix: string;
  /** The last four characters; empty if they are not known. */
  readonly suffix: string;
}

/**
 * Plans new keys that are written in lists of several, for accounts that exist or are planned, too. Ids and secrets that were planned count as taken;
 * those of the store are as they were when the plan was made, and a list fails with `key_not_new` if another request has taken one: then plan it again.
 */
export interface KeyPlan {
  /** Refuses as `Keys.adopt` does, which accepts unknown models. */
  create(key: NewKey): PlannedKey & Pick<OpenedKey, 'secret'>;
  /** Refuses as `Keys.adopt` does. Undefined if there is, or was, a key with this secret. */
  adopt(key: NewKey, secret: ForeignSecret): PlannedKey | undefined;
  /** Call it when a list was written: its keys are accepted from now on, by all processes. */
  written(): void;
}

/** A planned key, and the steps that write it. */
export interface PlannedKey {
  readonly key: KeyRecord;
  readonly steps: readonly Step[];
}

/** Changes of a key; absent fields stay. `null` removes a restriction. */
export interface KeyChanges {
  readonly name?: string;
  readonly enabled?: boolean;
  readonly models?: readonly string[] | null;
  readonly addresses?: readonly string[] | null;
  readonly expiresMs?: number | null;
  readonly strict?: boolean;
  readonly limits?: readonly KeyLimit[] | null;
  readonly group?: string | null;
}

/** The steps to write along with a new key, by its id. */
export type Along = (key: KeyRecord) => readonly Step[];

/** What keys can be sorted by. Keys that were never used, or never expire, come first. */
export type KeyOrder = 'id' | 'name' | 'used' | 'expires';

/** Filter for the list of keys, newest first. */
export interface KeySearch {
  /** Absent: the keys of all accounts. */
  readonly accountId?: number;
  /** Part of the name; `%` and `_` are literal. */
  readonly text?: string;
  /** A whole secret, or its end. */
  readonly secret?: string;
  /** Default: newest first. */
  readonly sort?: { readonly by: KeyOrder; readonly descending: boolean };
  /** Only ids below this one: the rest of a list that is newest first. */
  readonly before?: number;
  /** From 0. */
  readonly offset: number;
  readonly limit: number;
}

/** All keys. */
export interface Keys {
  /**
   * The holder of this key; undefined if it is unknown or malformed. Disabled and expired keys are returned, too, so
   * that the caller can refuse with the reason. Synchronous if it is in memory.
   */
  find(secret: string): Holder | undefined | Promise<Holder | undefined>;
  /** The same by the id of one of the account's own keys; undefined if it has no such key. */
  holderById(accountId: number, id: number): Promise<Holder | undefined>;
  /**
   * Creates a key. Refuses an invalid address, a name that is too long, an unknown model or group, and (409 `too_many_keys`)
   * more than a thousand keys per account.
   */
  create(key: NewKey, along?: Along): Promise<OpenedKey>;
  /**
   * Creates a key with a secret of another gateway: any text that begins with `sk-`. Refuses as `create` does, except
   * for unknown models and groups, which may be added to gateway.yaml later. Undefined if there is, or was, a key with this secret.
   */
  adopt(key: NewKey, secret: ForeignSecret, along?: Along): Promise<KeyRecord | undefined>;
  /** Reads which secrets are taken. */
  plan(): Promise<KeyPlan>;
  /** The account's default key; undefined until `createDefault` created it, and if it was revoked. */
  default(accountId: number): Promise<KeyRecord | undefined>;
  /** Creates it; undefined if it exists by now. */
  createDefault(key: NewKey, along?: Along): Promise<OpenedKey | undefined>;
  list(accountId?: number): Promise<readonly KeyRecord[]>;
  search(search: KeySearch): Promise<{ readonly total: number; readonly items: readonly KeyRecord[] }>;
  /** The newest keys whose name has this part, ignoring case, of an account or (undefined) all; revoked ones too, as records name them. */
  named(
    name: string,
    accountId: number | undefined,
    limit: number,
  ): Promise<readonly Pick<KeyRecord, 'id' | 'accountId'>[]>;
  /** Undefined if there never was such a key. */
  nameOf(id: number): Promise<string | undefined>;
  /** The owner of a key; undefined if the key does not exist or was revoked. */
  ownerOf(id: number): Promise<number | undefined>;
  /** Undefined if this account has no such key. */
  get(accountId: number, id: number): Promise<KeyRecord | undefined>;
  /** Refuses as `create` does; 404 if this account has no such key. */
  change(accountId: number, id: number, changes: KeyChanges, along?: readonly Step[]): Promise<KeyRecord>;
  /** Enables or disables several keys of an account and returns their number; undefined, and none, if one is not the account's. */
  enableAll(
    accountId: number,
    ids: readonly number[],
    enabled: boolean,
    along?: readonly Step[],
  ): Promise<number | undefined>;
  /** Revokes several keys of an account and returns their number; undefined, and none, if one is not the account's. */
  revokeAll(accountId: number, ids: readonly number[], along?: readonly Step[]): Promise<number | undefined>;
  /** The steps that revoke every key of a deleted account, and delete what is stored of its calls; call `forget` after they are written. */
  revokeSteps(accountId: number): readonly Step[];
  /** Invalidates the cached keys of an account. */
  forget(accountId: number): void;
  /** Rotates a key's secret; earlier ones that are still valid work for `graceMs` more. 404 if there is no such key. */
  rotate(accountId: number, id: number, graceMs: number, along?: readonly Step[]): Promise<OpenedKey>;
  /** Revokes a key immediately and permanently, for every gateway that shares the store. False if there was none. */
  revoke(id: number, along?: readonly Step[]): Promise<boolean>;
  /**
   * Whether the key may call a public name: the name itself or, for an alias, its model is in the key's scope. Check
   * again before serving another model than the requested one.
   */
  allows(key: KeyRecord, model: string): boolean;
  /** The limits of the key for some models that apply to a call of this public name; for an alias, its model counts, too. */
  limitsFor(key: KeyRecord, model: string): readonly KeyLimit[];
  /** Refuses (403) if the key may not be used from this address. */
  checkAddress(key: KeyRecord, ip: string): void;
}
/** The service `Keys`. */
export const Keys = service<Keys>('keys');
