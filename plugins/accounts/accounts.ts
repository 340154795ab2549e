/** Accounts: making and finding them, and the one that exists from the first start. */
import { randomInt } from 'node:crypto';
import type { Account, Accounts, Role } from '../../core/contracts/accounts.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import type { Host } from '../../core/plugin.ts';
import { BASE62, readName, refuse } from '../../core/plugin.ts';
import type { Passwords } from './passwords.ts';

const ROOT_PASSWORD_LENGTH = 24;

interface AccountRow {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly enabled: number;
  readonly created_ms: number;
}

const COLUMNS = 'id, name, role, enabled, created_ms';

/** The service, and what the first start does. */
export interface AccountBook extends Accounts {
  /**
   * Makes `root` in a store that has none, with the password given or else a random one that core shows once.
   * Does nothing ever after, whatever the password says.
   */
  openRoot(givenPassword: string | undefined): Promise<void>;
}

/** Makes the service. */
export function createAccounts(host: Host, passwords: Passwords): AccountBook {
  const { store, clock } = host;

  async function find(id: number): Promise<Account | undefined> {
    const row = await store.one<AccountRow>(`SELECT ${COLUMNS} FROM account WHERE id = ?`, id);
    return row && toAccount(row);
  }

  async function findByName(name: string): Promise<Account | undefined> {
    const row = await store.one<AccountRow>(`SELECT ${COLUMNS} FROM account WHERE folded = ?`, fold(name));
    return row && toAccount(row);
  }

  /** Writes an account, its password and its bucket as one; undefined where the name is taken. */
  async function insert(name: string, role: Role, passwordHash: string): Promise<Account | undefined> {
    for (;;) {
      // The bucket is opened in the same list, so the id has to be known before the row is.
      const last = await store.one<{ id: number | null }>('SELECT MAX(id) AS id FROM account');
      const account: Account = { id: (last?.id ?? 0) + 1, name, role, enabled: true, createdMs: clock.now() };
      const failed = await store.atomic([
        {
          sql: 'INSERT INTO account (id, name, folded, role, enabled, created_ms) VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT DO NOTHING',
          params: [account.id, name, fold(name), role, account.createdMs],
          must: 'new',
        },
        { sql: 'INSERT INTO password (account_id, hash) VALUES (?, ?)', params: [account.id, passwordHash] },
        ...(host.find(Ledger)?.open({ kind: 'account', owner: account.id }, 0n, role === 'root') ?? []),
      ]);
      if (failed === undefined) return account;
      if ((await findByName(name)) !== undefined) return undefined;
      // Somebody else took the id at the same moment: the next one is free.
    }
  }

  return {
    find,
    findByName,

    async list() {
      return (await store.all<AccountRow>(`SELECT ${COLUMNS} FROM account ORDER BY id`)).map(toAccount);
    },

    async create({ name, role, password }) {
      const plain = readName(name);
      const account = await insert(plain, role, await passwords.hash(password));
      return account ?? refuse(409, 'name_taken', `There is an account called "${plain}" already.`, { param: 'name' });
    },

    async openRoot(givenPassword) {
      if ((await store.one(`SELECT id FROM account WHERE role = 'root' LIMIT 1`)) !== undefined) return;
      const password = givenPassword ?? randomPassword();
      const root = await insert('root', 'root', await passwords.hash(password));
      // Undefined where another gateway on the same store was quicker: then that one shows its password.
      if (root !== undefined && givenPassword === undefined) host.find(FirstStart)?.note({ rootPassword: password });
    },
  };
}

const toAccount = (row: AccountRow): Account => ({
  id: row.id,
  name: row.name,
  role: row.role,
  enabled: row.enabled === 1,
  createdMs: row.created_ms,
});

const fold = (name: string): string => name.normalize('NFC').toLowerCase();

function randomPassword(): string {
  return Array.from({ length: ROOT_PASSWORD_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('');
}
