/** Accounts: who pays. Provided by the plugin `accounts`. */
import { service } from '../plugin.ts';

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

/** All accounts. */
export interface Accounts {
  find(id: number): Promise<Account | undefined>;
  /** Upper and lower case are the same. */
  findByName(name: string): Promise<Account | undefined>;
  list(): Promise<readonly Account[]>;
  /** Refuses a name that is taken (409) and a password that is too weak (400). */
  create(account: { readonly name: string; readonly role: Role; readonly password: string }): Promise<Account>;
}
/** The service of that name. */
export const Accounts = service<Accounts>('accounts');
