/** Accounts: creating, finding, changing and deleting them, and the root account of the first start. */

import type { AccountChanges, Accounts, NewAccount, Person } from '../../core/contracts/accounts.ts';
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import { FirstStart } from '../../core/contracts/first-start.ts';
import type { Account } from '../../core/contracts/identity.ts';
import { Ledger } from '../../core/contracts/ledger.ts';
import type { Sessions, Tickets } from '../../core/contracts/sessions.ts';
import type { Awaitable, Host, Step } from '../../core/plugin.ts';
import { orderOf, randomBase62, readName, readPage } from '../../core/sdk.ts';
import { errors } from './errors.ts';
import { lookAlikes, newAccountSteps, readNewAccount, readTaken } from './new-account.ts';
import { checkOldHash, oldHashProblem } from './old-hashes.ts';
import { refuseWeak } from './password-rules.ts';
import type { Passwords } from './passwords.ts';
import {
  ACCOUNT_COLUMNS,
  type AccountRow,
  changeStep,
  conditionOf,
  fold,
  foldings,
  ORDERS,
  PERSON_COLUMNS,
  type PersonRow,
  readEmail,
  toAccount,
  toPerson,
} from './people.ts';

const ROOT_PASSWORD_LENGTH = 24;

/** The hash of a random password at the usual cost, compared with if there is no account, so that the duration is the same. */
const NOBODYS_HASH = `$scrypt$ln=15,r=8,p=3$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** An SQL condition: true for every account except the last enabled root. */
const NOT_LAST_ROOT = `(role <> 'root' OR EXISTS (
  SELECT 1 FROM account AS other WHERE other.role = 'root' AND other.enabled = 1 AND other.id <> account.id))`;

/** The service, and the first start. */
export interface AccountBook extends Accounts {
  /**
   * Creates `root` in a store without one, with the given password or a random one that core shows once. Later calls do nothing, even with another
   * password.
   */
  openRoot(givenPassword: string | undefined): Promise<void>;
  /** Subscribes to changes by other processes. */
  listen(): void;
}

/** The topic that notifies other processes of a changed account. */
const CHANGED = 'accounts.changed';

/** Creates the service. Changes that affect the sign-in end `sessions` and `tickets`. */
export function createAccounts(
  host: Host,
  passwords: Passwords,
  sessions: Pick<Sessions, 'endSteps'>,
  tickets: Pick<Tickets, 'voidSteps'>,
): AccountBook {
  const { store, clock, peers } = host;
  const listeners: ((id: number, isOwn: boolean) => void)[] = [];
  const tell = (id: number): void => {
    for (const listener of listeners) listener(id, true);
    peers.tell(CHANGED, id);
  };

  async function findBy(
    column: 'id' | 'folded' | 'email_folded',
    values: readonly (string | number)[],
  ): Promise<Account | undefined> {
    const notDeleted = column === 'id' ? '' : ' AND deleted_ms IS NULL';
    const [value, former = null] = values;
    const sql = `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE ${column} IN (?, ?)${notDeleted} ORDER BY ${column} = ? DESC LIMIT 1`;
    const row = await store.one<AccountRow>(sql, value!, former, value!);
    return row && toAccount(row);
  }

  const personRow = (id: number): Promise<PersonRow | undefined> =>
    store.one<PersonRow>(`SELECT ${PERSON_COLUMNS} FROM account WHERE id = ?`, id);

  /** Refuses (404) a missing or deleted account. */
  async function livingRow(id: number): Promise<PersonRow> {
    const row = await personRow(id);
    return row !== undefined && row.deleted_ms === null ? row : refuseMissing(id);
  }

  /** Refuses (409) a name or an address of another account; names of deleted accounts, and those that scopes compare, stay reserved. */
  async function refuseTaken(name: string, email: string | null, self = -1): Promise<void> {
    const other = (column: string, value: string): Promise<unknown> =>
      store.one(`SELECT id FROM account WHERE ${column} = ? AND id <> ?`, fold(value), self);
    if ((await other('folded', name)) || (await other('scope_folded', name))) {
      throw coreErrors.name_taken(`An account with the name "${name}" already exists.`);
    }
    if (email !== null && (await other('email_folded', email))) {
      throw coreErrors.email_taken();
    }
  }

  /** Refuses (409) a member a name that looks like that of an administrator or of the gateway. */
  async function refuseLookAlike(name: string, self = -1): Promise<void> {
    const staff = await store.all<{ name: string }>(
      `SELECT name FROM account WHERE role <> 'member' AND deleted_ms IS NULL AND id <> ?`,
      self,
    );
    lookAlikes(staff.map((each) => each.name)).refuse(name);
  }

  /** The stored form of a password. Refuses (400) a weak one. */
  function hashOf(password: string, name: string): Promise<string> {
    refuseWeak(password, name);
    return passwords.hash(password);
  }

  /** A hash that another program stored, of any account; undefined once all are replaced. */
  async function anyOldHash(): Promise<string | undefined> {
    const sql = `SELECT hash FROM password WHERE substr(hash, 1, 8) <> '$scrypt$' LIMIT 1`;
    return (await store.one<{ hash: string }>(sql))?.hash;
  }

  /** Writes an account, its password and its bucket in one list; undefined if the name or the address is taken. */
  async function insert(
    account: NewAccount,
    hash: string | undefined,
    along: readonly Step[] | ((id: number) => Awaitable<readonly Step[]>),
  ): Promise<Account | undefined> {
    const { name, role, email = null } = account;
    for (;;) {
      // The bucket is opened in the same list, so the id must be known in advance.
      const last = await store.one<{ id: number | null }>('SELECT MAX(id) AS id FROM account');
      const { enabled = true } = account;
      const made: Account = { id: (last?.id ?? 0) + 1, name, role, enabled, createdMs: clock.now() };
      const failed = await store.atomic([
        ...newAccountSteps(made, account, host.find(Ledger)),
        ...(hash === undefined ? [] : [passwordStep(made.id, hash)]),
        ...(typeof along === 'function' ? await along(made.id) : along),
      ]);
      if (failed === undefined) return made;
      if (failed !== 'account_not_new') refuseAlong(failed);
      const sql = 'SELECT id FROM account WHERE folded = ? OR email_folded = ?';
      if ((await store.one(sql, fold(name), email && fold(email))) !== undefined) return undefined;
      // Another request took the id at the same moment: tries the next one.
    }
  }

  /** One attempt; undefined if the account was changed at the same moment. */
  async function tryChange(
    before: PersonRow,
    changes: AccountChanges,
    along: readonly Step[],
  ): Promise<Person | undefined> {
    const { id, name, email } = before;
    if (changes.name !== undefined && (changes.role ?? before.role) === 'member') {
      await refuseLookAlike(changes.name, id);
    }
    await refuseTaken(changes.name ?? name, changes.email === undefined ? email : changes.email, id);
    const role = changes.role ?? before.role;
    const losesRoot = role !== 'root' || changes.enabled === false;
    const signsInAnew = role !== before.role || changes.enabled === false;
    // A password reset link may have been sent to the old address.
    const hasMoved = changes.email !== undefined && changes.email !== email;
    const failed = await store.atomic([
      ...(losesRoot
        ? [{ sql: `UPDATE account SET id = id WHERE id = ? AND ${NOT_LAST_ROOT}`, params: [id], must: 'last_root' }]
        : []),
      changeStep(before, changes),
      ...(signsInAnew ? sessions.endSteps(id) : []),
      ...(signsInAnew || hasMoved ? tickets.voidSteps(id) : []),
      ...along,
    ]);
    if (failed === 'last_root') refuseLastRoot();
    if (failed === 'as it was') return undefined;
    if (failed !== undefined) refuseAlong(failed);
    tell(id);
    return toPerson(await livingRow(id));
  }

  return {
    find: (id) => findBy('id', [id]),
    findByName: (name) => findBy('folded', foldings(name)),
    findByEmail: (email) => findBy('email_folded', foldings(email.trim())),

    async person(id) {
      const row = await personRow(id);
      return row && toPerson(row);
    },

    async list() {
      const sql = `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE deleted_ms IS NULL ORDER BY id`;
      return (await store.all<AccountRow>(sql)).map(toAccount);
    },

    async search(search) {
      const { total, rows } = await readPage<PersonRow>(
        store,
        'account',
        PERSON_COLUMNS,
        conditionOf(search),
        search,
        orderOf(search.sort, ORDERS),
      );
      return { total, items: rows.map(toPerson) };
    },

    async create({ password, ...fields }, along = []) {
      const plain = readNewAccount(fields);
      const { name, passwordHash } = plain;
      if (plain.role === 'member') await refuseLookAlike(name);
      await refuseTaken(name, null);
      const hash = password === undefined ? passwordHash : await hashOf(password, name);
      const account = await insert(plain, hash, along);
      if (account !== undefined) return account;
      await refuseTaken(name, plain.email ?? null);
      throw coreErrors.name_taken(`An account with the name "${name}" already exists.`);
    },

    async plan() {
      const taken = await readTaken(store);
      return {
        create(account) {
          const plain = readNewAccount(account);
          const { name, role, enabled = true } = plain;
          const made: Account = { id: taken.take(plain), name, role, enabled, createdMs: clock.now() };
          const { passwordHash } = plain;
          const steps = newAccountSteps(made, plain, host.find(Ledger));
          return {
            account: made,
            steps: passwordHash === undefined ? steps : [...steps, passwordStep(made.id, passwordHash)],
          };
        },
      };
    },

    async change(id, changes, along = []) {
      const plain = {
        ...changes,
        ...(changes.name !== undefined && { name: readName(changes.name) }),
        ...(changes.displayName !== undefined && { displayName: readName(changes.displayName) }),
        ...(typeof changes.email === 'string' && { email: readEmail(changes.email) }),
      };
      for (;;) {
        const after = await tryChange(await livingRow(id), plain, along);
        if (after !== undefined) return after;
      }
    },

    async checkPassword(nameOrEmail, password, comer) {
      const [folded, former] = foldings(nameOrEmail.trim());
      // Verified addresses may look alike; names may not.
      const row = await store.one<AccountRow & { readonly hash: string | null }>(
        `SELECT ${ACCOUNT_COLUMNS}, (SELECT hash FROM password WHERE account_id = account.id) AS hash
        FROM account WHERE (email_folded = ? OR folded IN (?, ?)) AND deleted_ms IS NULL
        ORDER BY CASE WHEN email_folded = ? THEN 0 WHEN folded = ? THEN 1 ELSE 2 END LIMIT 1`,
        folded,
        folded,
        former,
        folded,
        folded,
      );
      const stored = row?.hash ?? undefined;
      const verdict = await passwords.verify(password, stored ?? NOBODYS_HASH, comer, await anyOldHash());
      if (row === undefined || stored === undefined || row.enabled !== 1 || verdict === 'wrong') return undefined;
      if (verdict !== 'right') {
        // If too many requests wait, the next sign-in rehashes it.
        const hash = verdict === 'outdated' ? await passwords.hash(password).catch(() => stored) : verdict.hash;
        await store.run('UPDATE password SET hash = ? WHERE account_id = ? AND hash = ?', hash, row.id, stored);
      }
      return toAccount(row);
    },

    async setPassword(id, password, along = [], keep) {
      const { name } = await livingRow(id);
      const step = passwordStep(id, await hashOf(password, name));
      const failed = await store.atomic([step, ...sessions.endSteps(id, keep), ...along, ...tickets.voidSteps(id)]);
      if (failed === 'living') refuseMissing(id);
      if (failed !== undefined) refuseAlong(failed);
      tell(id);
    },

    passwordHashProblem: oldHashProblem,

    adoptSteps(id, { passwordHash, settings }) {
      checkOldHash(passwordHash);
      const sql = `UPDATE account SET settings = ? WHERE id = ? AND settings = '{}'`;
      return [
        ...(passwordHash === undefined ? [] : [adoptedPasswordStep(id, passwordHash)]),
        ...(settings === undefined ? [] : [{ sql, params: [JSON.stringify(settings), id] }]),
      ];
    },

    async remove(id, along = []) {
      await livingRow(id);
      const failed = await store.atomic([
        {
          sql: `UPDATE account SET enabled = 0, deleted_ms = ?, email = NULL, email_folded = NULL, settings = '{}',
            display_name = name, remark = ''
            WHERE id = ? AND deleted_ms IS NULL AND ${NOT_LAST_ROOT}`,
          params: [clock.now(), id],
          must: 'last_root',
        },
        { sql: 'DELETE FROM password WHERE account_id = ?', params: [id] },
        ...sessions.endSteps(id),
        ...along,
        ...tickets.voidSteps(id),
        { sql: 'UPDATE invitation SET email = NULL, email_folded = NULL WHERE used_by = ?', params: [id] },
      ]);
      if (failed === 'last_root') refuseLastRoot();
      if (failed !== undefined) refuseAlong(failed);
      tell(id);
    },

    watch: (listener) => void listeners.push(listener),

    listen() {
      peers.on(CHANGED, (id) => {
        for (const listener of listeners) listener(id as number, false);
        return undefined;
      });
    },

    async openRoot(givenPassword) {
      if ((await store.one(`SELECT id FROM account WHERE role = 'root' LIMIT 1`)) !== undefined) return;
      host.find(FirstStart)?.begin();
      const password = givenPassword ?? randomBase62(ROOT_PASSWORD_LENGTH);
      const root = await insert({ name: 'root', role: 'root' }, await hashOf(password, 'root'), []);
      // Undefined if another gateway on the same store was faster: then that one shows its password.
      if (root !== undefined && givenPassword === undefined) host.find(FirstStart)?.note({ rootPassword: password });
    },
  };
}

const PASSWORD_SQL = `INSERT INTO password (account_id, hash) SELECT id, ? FROM account WHERE id = ? AND deleted_ms IS NULL
  ON CONFLICT (account_id) DO UPDATE SET hash = excluded.hash`;

const passwordStep = (id: number, hash: string): Step => ({ sql: PASSWORD_SQL, params: [hash, id], must: 'living' });

/** A hash of our own is of a password that was set or used here: it stays. */
const adoptedPasswordStep = (id: number, hash: string): Step => ({
  sql: `${PASSWORD_SQL} WHERE substr(password.hash, 1, 8) <> '$scrypt$'`,
  params: [hash, id],
  must: 'password_kept',
});

function refuseMissing(id: number): never {
  throw coreErrors.account_not_found(id);
}

function refuseLastRoot(): never {
  throw errors.last_root();
}

/** A step of `along` failed, so nothing was written. */
function refuseAlong(must: string): never {
  throw notWritten(must);
}
