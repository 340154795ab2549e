/** A user in the API for administrators: everything except secrets. */

import type { Person } from '../../../../core/contracts/accounts.ts';
import { Departments } from '../../../../core/contracts/departments.ts';
import type { Role } from '../../../../core/contracts/identity.ts';
import { Ledger } from '../../../../core/contracts/ledger.ts';
import { OAuth } from '../../../../core/contracts/oauth.ts';
import { SecondFactors } from '../../../../core/contracts/second-factors.ts';
import { shownAccount } from '../../../../core/contracts/shown.ts';
import type { Host } from '../../../../core/plugin.ts';
import { roleNumber } from '../../access/guards.ts';
import { boolean, integer, record, text, unixSeconds } from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';
import type { Revised } from '../../revisions.ts';

/** 1 enabled, 2 disabled; deleted users are disabled. */
export function statusOf({ enabled }: { readonly enabled: boolean }): 1 | 2 {
  return enabled ? 1 : 2;
}

/** The role of a number. */
export function roleOf(number: number): Role | undefined {
  return (['member', 'admin', 'root'] as const).find((role) => roleNumber(role) === number);
}

/** The revision of a user: everything but the last sign-in can be set. */
export function revisedPerson({ lastLoginMs: _, ...content }: Person): Revised {
  return { object: `user ${content.id}`, content };
}

/** Converts several users with one query for their balances. Amounts in quota units, times in Unix seconds. */
export async function shownUsers(host: Host, people: readonly Person[]) {
  const ids = people.map(({ id }) => id);
  const balances = await host.find(Ledger)?.balances('account', ids);
  return people.map((person) => {
    const department = host.find(Departments)?.departmentOf(person.id);
    return {
      ...shownAccount(person, balances?.get(person.id)),
      display_name: person.displayName,
      email: person.email ?? '',
      group: person.group,
      remark: person.remark,
      department_id: department?.id ?? null,
      department_name: department?.name ?? '',
      has_password: person.hasPassword,
      last_login_at: secondsOf(person.lastLoginMs),
      DeletedAt: person.deletedMs === undefined ? null : new Date(person.deletedMs).toISOString(),
    };
  });
}

/** The record of one user, with the sign-in methods. */
export async function shownDetail(host: Host, person: Person) {
  const [user] = await shownUsers(host, [person]);
  const factors = await host.find(SecondFactors)?.status(person.id);
  const bindings = (await host.find(OAuth)?.bindings(person.id)) ?? [];
  return {
    ...user!,
    two_factor: factors?.totp ?? false,
    passkey: factors?.passkey !== undefined,
    bindings: bindings.map(({ provider }) => provider),
  };
}

export const userProperties = {
  id: integer,
  username: text,
  display_name: text,
  role: { enum: [1, 10, 100], description: '1 member, 10 administrator, 100 root.' },
  status: { enum: [1, 2], description: '1 enabled, 2 disabled.' },
  email: { ...text, description: 'Verified; empty if there is none.' },
  group: text,
  quota: {
    ...integer,
    description: 'The balance in quota units; negative: owed, more than running calls hold; 0 if it is unlimited.',
  },
  used_quota: integer,
  held_quota: { ...integer, description: 'Reserved for running calls: what they do not cost comes back.' },
  debt: {
    ...integer,
    description: 'Debt in quota units; calls are refused until it is paid, at first from what running calls return.',
  },
  unlimited_quota: boolean,
  remark: text,
  department_id: { type: ['integer', 'null'] },
  department_name: text,
  has_password: boolean,
  created_at: unixSeconds,
  last_login_at: { ...integer, description: 'Unix seconds; 0: never.' },
  DeletedAt: { type: ['string', 'null'], description: 'When it was deleted, ISO 8601; null: it is not deleted.' },
} as const;

/** The same as a named schema. */
export const userSchema = record('User', userProperties);
