/** Rows, searches and changes of accounts; normalization of names and email addresses; names that look like another name. */

import type { AccountChanges, AccountOrder, AccountSearch, Person } from '../../core/contracts/accounts.ts';
import { DEFAULT_GROUP } from '../../core/contracts/groups.ts';
import type { Account, Role } from '../../core/contracts/identity.ts';
import type { Json, JsonObject, Step, Value } from '../../core/plugin.ts';
import { all, type Condition, condition, contains, either, mentions } from '../../core/sdk.ts';
import { errors } from './errors.ts';

/** The fields that every request needs. */
export interface AccountRow {
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  readonly enabled: number;
  readonly created_ms: number;
  readonly scope_name: string | null;
  readonly group_name: string;
}

/** The columns of an account. */
export const ACCOUNT_COLUMNS = 'id, name, role, enabled, created_ms, scope_name, group_name';

/** All fields of a user. */
export interface PersonRow extends AccountRow {
  readonly display_name: string;
  readonly email: string | null;
  readonly remark: string;
  readonly last_login_ms: number | null;
  readonly deleted_ms: number | null;
  /** 0: none. */
  readonly has_password: number;
  readonly settings: string;
}

/** A hash of our own, and one of another program. */
const OWN_PASSWORD = 1;
const OLD_PASSWORD = 2;

/** The columns of a user, in the table `account`. */
export const PERSON_COLUMNS = `${ACCOUNT_COLUMNS}, display_name, email, remark, last_login_ms, deleted_ms, settings,
  COALESCE((SELECT CASE WHEN substr(hash, 1, 8) = '$scrypt$' THEN ${OWN_PASSWORD} ELSE ${OLD_PASSWORD} END
    FROM password WHERE account_id = account.id), 0) AS has_password`;

/** The group of an account, if it is not the usual one. */
export const groupIn = ({ group_name: group }: Pick<AccountRow, 'group_name'>): Pick<Account, 'group'> =>
  group === DEFAULT_GROUP ? {} : { group };

export const toAccount = (row: AccountRow): Account => ({
  id: row.id,
  name: row.name,
  role: row.role,
  enabled: row.enabled === 1,
  createdMs: row.created_ms,
  ...groupIn(row),
  ...(row.scope_name !== null && row.scope_name !== row.name && { scopeName: row.scope_name }),
});

export const toPerson = (row: PersonRow): Person => ({
  ...toAccount(row),
  displayName: row.display_name,
  email: row.email ?? undefined,
  group: row.group_name,
  remark: row.remark,
  lastLoginMs: row.last_login_ms ?? undefined,
  deletedMs: row.deleted_ms ?? undefined,
  hasPassword: row.has_password !== 0,
  hasOldPassword: row.has_password === OLD_PASSWORD,
  settings: JSON.parse(row.settings) as JsonObject,
});

/** The normal form of names and email addresses, which ignores case and width. */
export const fold = (text: string): string => text.normalize('NFKC').toLowerCase();

/** The normal forms an account may be stored under: older versions did not normalize width. */
export const foldings = (text: string): readonly [string, string] => [fold(text), text.normalize('NFC').toLowerCase()];

const LONGEST_EMAIL = 254;
/** The syntax check of an address: one `@`, a dot after it, nothing invisible. Only an email proves that it exists. */
const EMAIL = /^[^\s@\p{C}"<>(),:;[\]\\]+@[^\s@\p{C}"<>(),:;[\]\\]+\.[^\s@\p{C}".<>(),:;[\]\\]+$/u;

/** An email address without surrounding space. Refuses (400) invalid ones. */
export function readEmail(text: string): string {
  const email = text.normalize('NFC').trim();
  if (email.length > LONGEST_EMAIL || !EMAIL.test(email)) {
    throw errors.invalid_email();
  }
  return email;
}

/** Letters of other scripts and of phonetics, small capitals and digits, by the Latin letter that they resemble. Those with marks are not here. */
const LETTERS: Readonly<Record<string, string>> = {
  a: 'аαɑᴀꭺ',
  b: 'вβʙƀɓьꮟ',
  c: 'сϲᴄⲥꮯƈ',
  d: 'ԁđɖɗᴅꭰժ',
  e: 'еεᴇҽɛꭼ',
  f: 'ꜰƒſẝғք',
  g: 'ɡɢցꮐɠ',
  h: 'нһʜħհꮋɦ',
  j: 'јᴊϳꭻʝ',
  k: 'кκᴋƙꮶⲕ',
  l: 'іӏιıł1i|ɪʟɩꭵƚɭⲓꮮ',
  m: 'мμᴍꮇⲙɱ',
  n: 'пηɴոռɲꞥⲛ',
  o: 'оοø0օᴏσⲟ०๐໐ꮎөѳɵ',
  p: 'рρᴘƿⲣꮲ',
  q: 'ԛգզ',
  r: 'гʀɾɼꭇꭈꮢꭱⲅɽ',
  s: 'ѕꜱʂꮪƽ',
  t: 'тτᴛŧƭꭲⲧʈ',
  u: 'υսᴜʋꭎꭒʊ',
  v: 'νᴠѵꮩⱱ',
  w: 'ωᴡԝաѡꮃɯⲱ',
  x: 'хχ×ⲭ',
  y: 'уʏүɣγⲩꭹƴ',
  z: 'ᴢꮓʐƶ',
};
const LOOKS_LIKE: ReadonlyMap<string, string> = new Map(
  Object.entries(LETTERS).flatMap(([latin, letters]) => [...letters].map((letter) => [letter, latin] as const)),
);

/** Names that suggest an official account. */
export const RESERVED: readonly string[] = ['root', 'admin', 'administrator', 'turnpike'];

/** The visual skeleton of a name: equal for names that are easily confused. */
export function looksOf(name: string): string {
  const plain = name
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\p{M}\p{Cf}\s._-]/gu, '');
  return [...plain]
    .map((letter) => LOOKS_LIKE.get(letter) ?? letter)
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** The orders of a list. */
export const ORDERS: Readonly<Record<AccountOrder, string>> = {
  id: 'id',
  name: 'folded',
  role: "CASE role WHEN 'member' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END",
  group: 'group_name',
  lastLogin: 'COALESCE(last_login_ms, 0)',
};

const ID = /^\d{1,15}$/;

/** The condition of a search. */
export function conditionOf({
  text = '',
  role,
  enabled,
  group,
  among,
  before,
  deleted = false,
}: AccountSearch): Condition {
  const term = text.normalize('NFC').trim();
  return all(
    ...(deleted === 'also' ? [] : [condition(deleted ? 'deleted_ms IS NOT NULL' : 'deleted_ms IS NULL')]),
    named(term),
    condition('role = ?', role),
    condition('enabled = ?', enabled === undefined ? undefined : enabled ? 1 : 0),
    condition('group_name = ?', group),
    among && oneOf(among),
    condition('id < ?', before),
  );
}

function oneOf(ids: readonly number[]): Condition {
  return { sql: ids.length === 0 ? '1 = 0' : `id IN (${ids.map(() => '?').join(', ')})`, params: ids };
}

function named(term: string): Condition | undefined {
  const folded = fold(term);
  return either(
    contains('folded', folded),
    contains('email_folded', folded),
    mentions('display_name', term),
    condition('id = ?', ID.test(term) ? Number(term) : undefined),
  );
}

/**
 * Writes only the changed columns, so that concurrent changes of others are kept. `must`: fails as `as it was` if the account or its
 * settings changed since they were read, or if the name or the address was taken.
 */
export function changeStep(
  { id, name: formerName, scope_name, settings: before }: PersonRow,
  changes: AccountChanges,
): Step {
  const { name, renamesScope = false, email, displayName, group, remark, role, enabled, settings } = changes;
  const scopeName = name === undefined ? undefined : renamesScope ? null : (scope_name ?? formerName);
  const columns: readonly (readonly [column: string, value: Value | undefined])[] = [
    ['name', name],
    ['folded', name && fold(name)],
    ['scope_name', scopeName],
    ['scope_folded', scopeName && fold(scopeName)],
    ['email', email],
    ['email_folded', email && fold(email)],
    ['display_name', displayName],
    ['group_name', group],
    ['remark', remark],
    ['role', role],
    ['enabled', enabled === undefined ? undefined : enabled ? 1 : 0],
    ['settings', settings && JSON.stringify(merged(JSON.parse(before) as JsonObject, settings))],
  ];
  const written = columns.filter((pair): pair is [string, Value] => pair[1] !== undefined);
  const isFree = (column: string): string =>
    `NOT EXISTS (SELECT 1 FROM account AS other WHERE other.${column} = ? AND other.id <> account.id)`;
  return {
    sql: `UPDATE account SET ${['id = id', ...written.map(([column]) => `${column} = ?`)].join(', ')}
      WHERE id = ? AND deleted_ms IS NULL AND settings = ? AND ${isFree('folded')}
        AND ${isFree('scope_folded')} AND ${isFree('email_folded')}`,
    params: [
      ...written.map(([, value]) => value),
      id,
      before,
      name === undefined ? null : fold(name),
      name === undefined ? null : fold(name),
      email ? fold(email) : null,
    ],
    must: 'as it was',
  };
}

/** Merges settings: null members are removed, others replace the stored ones. */
function merged(settings: JsonObject, changes: JsonObject): JsonObject {
  const entries: [string, Json][] = Object.entries({ ...settings, ...changes });
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}
