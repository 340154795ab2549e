/** What every new account must be, whether it is written alone or planned in a list with others. */

import type { NewAccount } from '../../core/contracts/accounts.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { DEFAULT_GROUP } from '../../core/contracts/groups.ts';
import type { Account } from '../../core/contracts/identity.ts';
import type { Ledger } from '../../core/contracts/ledger.ts';
import type { Reader, Step } from '../../core/plugin.ts';
import { readName } from '../../core/sdk.ts';
import { checkOldHash } from './old-hashes.ts';
import { ACCOUNT_COLUMNS, fold, looksOf, RESERVED, readEmail } from './people.ts';

type Plain = Omit<NewAccount, 'password'>;

/** Rows of one query. */
const PAGE = 2_000;

/** The fields in their normal form. Refuses (400) what is invalid. */
export function readNewAccount({ displayName, email, ...account }: Plain): Plain {
  const name = readName(account.name);
  checkOldHash(account.passwordHash);
  return {
    ...account,
    name,
    displayName: displayName === undefined ? name : readName(displayName),
    email: email === undefined ? undefined : readEmail(email),
  };
}

/**
 * The steps that write an account and its bucket. It gets the welcome balance unless it is to have another one; root needs none. `must`:
 * `account_not_new` if its id, its name or its address is taken.
 */
export function newAccountSteps(made: Account, account: Plain, ledger: Ledger | undefined): readonly Step[] {
  const { id, name, role, enabled, createdMs } = made;
  const { displayName = name, email = null, group = DEFAULT_GROUP, remark = '', opening = 'welcome' } = account;
  const isUnlimited = role === 'root' || opening === 'unlimited';
  const granted = opening === 'welcome' ? ledger?.welcome : typeof opening === 'bigint' ? opening : undefined;
  return [
    {
      sql: `INSERT INTO account (${ACCOUNT_COLUMNS}, folded, display_name, email, email_folded, remark)
        VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      params: [
        ...[id, name, role, enabled ? 1 : 0, createdMs],
        ...[group, fold(name), displayName, email, email && fold(email), remark],
      ],
      must: 'account_not_new',
    },
    ...(ledger?.open({ kind: 'account', owner: id }, isUnlimited ? 0n : (granted ?? 0n), isUnlimited) ?? []),
  ];
}

/** The names that a member may not have because they look like that of an administrator or of the gateway. */
export function lookAlikes(staff: Iterable<string>) {
  const byLooks = new Map<string, Set<string>>();
  const add = (name: string): void => {
    const looks = looksOf(name);
    byLooks.set(looks, (byLooks.get(looks) ?? new Set()).add(fold(name)));
  };
  for (const name of [...RESERVED, ...staff]) add(name);
  return {
    add,
    /** Refuses (409) such a name. The same name is another matter: it is taken. */
    refuse(name: string): void {
      const others = byLooks.get(looksOf(name));
      if (others === undefined || [...others].every((other) => other === fold(name))) return;
      throw coreErrors.name_taken(`"${name}" looks like the name of an administrator. Choose another one.`);
    },
  };
}

/** What a store has, and what was planned since. */
export interface TakenNames {
  /** The id of a new account, whose name and address are taken from now on. Refuses (409) those that are. */
  take(account: Plain): number;
}

/** Reads the names, the addresses and the last id. */
export async function readTaken(store: Reader): Promise<TakenNames> {
  const names = new Set<string>();
  const emails = new Set<string>();
  const staff: string[] = [];
  let lastId = 0;
  for (;;) {
    const rows = await store.all<{
      readonly id: number;
      readonly name: string;
      readonly folded: string;
      readonly scope_folded: string | null;
      readonly email_folded: string | null;
      readonly is_staff: number;
    }>(
      `SELECT id, name, folded, scope_folded, email_folded,
        CASE WHEN role <> 'member' AND deleted_ms IS NULL THEN 1 ELSE 0 END AS is_staff
        FROM account WHERE id > ? ORDER BY id LIMIT ${PAGE}`,
      lastId,
    );
    for (const row of rows) {
      names.add(row.folded);
      if (row.scope_folded !== null) names.add(row.scope_folded);
      if (row.email_folded !== null) emails.add(row.email_folded);
      if (row.is_staff === 1) staff.push(row.name);
    }
    lastId = rows.at(-1)?.id ?? lastId;
    if (rows.length < PAGE) break;
  }
  const alike = lookAlikes(staff);
  return {
    take({ name, role, email }) {
      if (role === 'member') alike.refuse(name);
      if (names.has(fold(name))) throw coreErrors.name_taken(`An account with the name "${name}" already exists.`);
      if (email !== undefined && emails.has(fold(email))) throw coreErrors.email_taken();
      names.add(fold(name));
      if (email !== undefined) emails.add(fold(email));
      if (role !== 'member') alike.add(name);
      lastId++;
      return lastId;
    },
  };
}
