/** What is remembered of an imported thing, to find out later what has changed there. */

import { hash } from 'node:crypto';
import type { KeyLimit } from '../../../core/contracts/identity.ts';
import type { JsonObject } from '../../../core/plugin.ts';
import type { ForeignDepartment, ForeignKey, ForeignLink, ForeignPasskey, ForeignUser } from '../inventory.ts';
import type { Imported } from '../tables.ts';

export function seenDepartment({ name, budget, monthlyBudget, enabled }: ForeignDepartment): JsonObject {
  return {
    name,
    budget: amountText(budget),
    monthlyBudget: amountText(monthlyBudget),
    enabled,
  };
}

/** Its code and its password tell whether a user with the same identifier is the same one. */
export function seenUser(user: ForeignUser): JsonObject {
  const { name, displayName, email, role, enabled, group, remark, balance, department, invitationCode, passwordHash } =
    user;
  const { totpSecret, passkeys = [], links = [], accessToken } = user;
  return {
    name,
    displayName: displayName ?? name,
    email: email ?? null,
    role,
    enabled,
    group: group ?? null,
    remark: remark ?? '',
    balance: amountText(balance),
    department: department ?? null,
    code: invitationCode ?? null,
    password: digestOf(passwordHash),
    authenticator: digestOf(totpSecret),
    passkeys: passkeys.map(passkeyMark).sort(),
    links: links.map(linkMark).sort(),
    'access token': digestOf(accessToken),
  };
}

/** How a linked account is remembered. */
export const linkMark = ({ issuer, subject }: ForeignLink): string => `${issuer} ${subject}`;
/** How a passkey is remembered. */
export const passkeyMark = ({ credentialId }: ForeignPasskey): string => digest(credentialId);

export function seenKey(key: ForeignKey): JsonObject {
  const { name, user, secret, allowance, limits, models, addresses, expiresMs, group, enabled } = key;
  return {
    name,
    user,
    secret: secret === undefined ? null : digest(secret.hash),
    limit: amountText(allowance),
    limits: limitsJson(limits),
    models: models === undefined ? null : [...models],
    addresses: addresses === undefined ? null : [...addresses],
    expires: expiresMs ?? null,
    group: group ?? null,
    enabled,
  };
}

export function amountText(amount: bigint | undefined): string | null {
  return amount === undefined ? null : String(amount);
}

/** Limits as JSON, amounts as texts. */
export function limitsJson(limits: readonly KeyLimit[] | undefined): JsonObject[] | null {
  if (limits === undefined || limits.length === 0) return null;
  return JSON.parse(
    JSON.stringify(limits, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
  ) as JsonObject[];
}

/**
 * Whether a user was imported before as another one: the database may be another one, whose identifiers begin at 1, too. The same one was renamed if
 * its code, its password or its address is the same.
 */
export function isOtherUser(user: ForeignUser, { name, seen }: Imported): boolean {
  // Identifiers that are no numbers of a table are of one user only.
  if (!/^\d+$/.test(user.id)) return false;
  const now = seenUser(user);
  if (seen === undefined) return name !== user.name;
  if (name === user.name)
    return typeof seen.code === 'string' && typeof now.code === 'string' && seen.code !== now.code;
  return !['code', 'password', 'email'].some((mark) => typeof now[mark] === 'string' && now[mark] === seen[mark]);
}

/** The same of a key, by its secret. */
export function isOtherKey(key: ForeignKey, { seen }: Imported): boolean {
  const now = seenKey(key);
  return typeof seen?.secret === 'string' && typeof now.secret === 'string' && seen.secret !== now.secret;
}

const digestOf = (text: string | undefined): string | null => (text === undefined ? null : digest(text));

function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 24);
}
