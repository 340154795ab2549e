/** Accounts: who pays. Provided by the plugin `accounts`. */
import { service } from '../plugin.ts';

export type Role = 'member' | 'admin' | 'root';

export interface Account {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly enabled: boolean;
  readonly createdMs: number;
}

export interface Accounts {
  find(id: number): Promise<Account | undefined>;
  findByName(name: string): Promise<Account | undefined>;
  list(): Promise<readonly Account[]>;
  /** Refuses a name that is taken (409) and a password that is too weak (400). */
  create(account: { readonly name: string; readonly role: Role; readonly password: string }): Promise<Account>;
}
export const Accounts = service<Accounts>('accounts');
