/** Keys: what a client sends to be let in. Provided by the plugin `keys`. */
import { service } from '../plugin.ts';
import type { Account } from './accounts.ts';

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
  /** Unix milliseconds; undefined: never. */
  readonly expiresMs: number | undefined;
  /** The public names this key may call; undefined: all. */
  readonly models: readonly string[] | undefined;
  /** The addresses it may be used from, canonical CIDRs; undefined: all. */
  readonly addresses: readonly string[] | undefined;
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
}

/** All keys. */
export interface Keys {
  /**
   * Who holds this key; undefined where it is unknown or misspelt. Disabled and expired keys are found, too: the caller
   * says why it refuses. Answers at once from memory where it can.
   */
  find(secret: string): Holder | undefined | Promise<Holder | undefined>;
  /** Makes a key. The secret is shown here and never again. Refuses a bad address or a name that is too long. */
  create(key: NewKey): Promise<{ readonly secret: string; readonly key: KeyRecord }>;
  list(accountId?: number): Promise<readonly KeyRecord[]>;
  /** Ends a key for good, at once, for every gateway that shares the store. False where there was none. */
  revoke(id: number): Promise<boolean>;
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
