/** A user's own profile in the API, and the names of its fields. */
import type { AccountChanges, Person } from '../../../../core/contracts/accounts.ts';
import type { Balance } from '../../../../core/contracts/ledger.ts';
import type { Json, JsonObject } from '../../../../core/plugin.ts';
import { reaches, roleNumber } from '../../access/guards.ts';
import { boolean, constants, integer, text } from '../../format/schemas.ts';
import { quotaOf } from '../keys/key.ts';

/** The names of an account's fields in the API. */
export const PERSON_WORDS = { name: 'username' } as const;

/** The refusals of a form with a name, an email address and a password. */
export const PERSON_ERRORS = [
  'invalid_name',
  'invalid_email',
  'invalid_password',
  'common_password',
  'name_taken',
  'email_taken',
] as const;

/** The old and new values of a change, for the audit log. */
export function differences(person: Person, changes: AccountChanges): JsonObject {
  const before: Readonly<Record<string, unknown>> = { ...person };
  const facts = Object.entries(changes).flatMap(([name, to]) => {
    const from = before[name] ?? null;
    return from === to ? [] : [[name, { from, to } as Json] as const];
  });
  return Object.fromEntries(facts);
}

/** Members that API clients expect, for features that do not exist. */
const ABSENT = {
  aff_code: '',
  aff_count: 0,
  aff_history_quota: 0,
  aff_quota: 0,
  discord_id: '',
  inviter_id: 0,
  linux_do_id: '',
  stripe_customer: '',
  telegram_id: '',
  wechat_id: '',
};

/** Values in addition to those of the user. */
export interface Surroundings {
  readonly balance: Balance | undefined;
  readonly bindings: readonly { readonly provider: string; readonly subject: string }[];
  /** All calls so far, whatever their outcome. */
  readonly calls: number;
}

/** The profile, without password, secrets and the remarks of administrators. */
export function shownPerson(person: Person, { balance, bindings, calls }: Surroundings) {
  const subjectOf = (name: string): string => bindings.find(({ provider }) => provider === name)?.subject ?? '';
  const { sidebar_modules: sidebar = '' } = person.settings;
  const { remain, used, held, debt, unlimited } = quotaOf(balance);
  return {
    ...ABSENT,
    id: person.id,
    username: person.name,
    display_name: person.displayName,
    role: roleNumber(person.role),
    status: person.enabled ? 1 : 2,
    email: person.email ?? '',
    github_id: subjectOf('github'),
    oidc_id: subjectOf('oidc'),
    bindings: Object.fromEntries(bindings.map(({ provider, subject }) => [provider, subject])),
    has_password: person.hasPassword,
    group: person.group,
    quota: remain,
    used_quota: used,
    held_quota: held,
    debt,
    request_count: calls,
    unlimited_quota: unlimited,
    setting: JSON.stringify(shownSettings(person.settings)),
    sidebar_modules: sidebar,
    permissions: {
      sidebar_settings: true,
      sidebar_modules: { admin: reaches(person.role, 'admin') },
      admin_permissions: {},
    },
  };
}

/** Without secrets, and without what has a route of its own. */
function shownSettings({ webhook_secret: secret, billing: _, ...settings }: JsonObject): JsonObject {
  return { ...settings, webhook_secret: '', webhook_secret_set: secret !== undefined };
}

export const personSchema = {
  title: 'Self',
  type: 'object',
  required: ['id', 'username', 'display_name', 'role', 'status', 'email', 'group', 'quota', 'used_quota', 'setting'],
  properties: {
    id: integer,
    username: text,
    display_name: text,
    role: { ...integer, description: '1 member, 10 administrator, 100 root.' },
    status: { ...integer, description: '1 enabled.' },
    email: { ...text, description: 'Empty if none is verified.' },
    github_id: text,
    oidc_id: text,
    bindings: {
      description: 'The linked OAuth accounts: their names by provider.',
      type: 'object',
      additionalProperties: text,
    },
    has_password: boolean,
    group: text,
    quota: {
      ...integer,
      description: 'The balance in quota units; negative: owed, more than running calls hold; 0 if it is unlimited.',
    },
    used_quota: integer,
    held_quota: { ...integer, description: 'Reserved for running calls: what they do not cost comes back.' },
    debt: { ...integer, description: 'Debt in quota units; calls are refused until it is paid.' },
    request_count: { ...integer, description: 'All calls so far, refused ones included.' },
    unlimited_quota: boolean,
    setting: { ...text, description: 'The settings that PUT /api/user/setting stores, as JSON text without secrets.' },
    sidebar_modules: text,
    permissions: { type: 'object' },
    ...constants(ABSENT),
  },
} as const;
