/** Rows of accounts, and what they say; how names and e-mail addresses are compared. */
import type { Account, Person, Role } from '../../core/contracts/accounts.ts';
import type { JsonObject } from '../../core/plugin.ts';
import { errors } from './errors.ts';

/** What every request needs to know. */
export interface AccountRow {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly enabled: number;
  readonly created_ms: number;
}

/** The columns of one. */
export const ACCOUNT_COLUMNS = 'id, name, role, enabled, created_ms';

/** Everything about the person. */
export interface PersonRow extends AccountRow {
  readonly display_name: string;
  readonly email: string | null;
  readonly group_name: string;
  readonly remark: string;
  readonly last_login_ms: number | null;
  readonly deleted_ms: number | null;
  readonly has_password: number;
  readonly settings: string;
}

/** The columns of one, of the table `account`. */
export const PERSON_COLUMNS = `${ACCOUNT_COLUMNS}, display_name, email, group_name, remark, last_login_ms, deleted_ms, settings,
  CASE WHEN EXISTS (SELECT 1 FROM password WHERE account_id = account.id) THEN 1 ELSE 0 END AS has_password`;

/** The account of a row. */
export const toAccount = (row: AccountRow): Account => ({
  id: row.id,
  name: row.name,
  role: row.role,
  enabled: row.enabled === 1,
  createdMs: row.created_ms,
});

/** The person of a row. */
export const toPerson = (row: PersonRow): Person => ({
  ...toAccount(row),
  displayName: row.display_name,
  email: row.email ?? undefined,
  group: row.group_name,
  remark: row.remark,
  lastLoginMs: row.last_login_ms ?? undefined,
  deletedMs: row.deleted_ms ?? undefined,
  hasPassword: row.has_password === 1,
  settings: JSON.parse(row.settings) as JsonObject,
});

/** One spelling for names and e-mail addresses that count as the same: letters in every case and width. */
export const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** The spellings that an account may be stored by: those of before the width of letters was folded are kept. */
export const foldings = (text: string): readonly [string, string] => [fold(text), text.normalize('NFC').toLowerCase()];

const LONGEST_EMAIL = 254;
/** What is told from an address by its looks: one `@`, a dot behind it, nothing invisible. Whose it is only a letter can tell. */
const EMAIL = /^[^\s@\p{C}"<>(),:;[\]\\]+@[^\s@\p{C}"<>(),:;[\]\\]+\.[^\s@\p{C}".<>(),:;[\]\\]+$/u;

/** An e-mail address without space around it. Refuses (400) what is none. */
export function readEmail(text: string): string {
  const email = text.normalize('NFC').trim();
  if (email.length > LONGEST_EMAIL || !EMAIL.test(email)) {
    throw errors.invalid_email();
  }
  return email;
}
