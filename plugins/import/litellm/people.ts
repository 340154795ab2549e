/** Reads LiteLLM's teams and users: departments and accounts, with what is left of their budgets. */
import { limitsText } from '../../../core/contracts/key-limits.ts';
import type { Decimal } from '../../../core/sdk.ts';
import type { ForeignDepartment, ForeignUser, Note } from '../inventory.ts';
import { readableName } from '../names.ts';
import { asTexts, grantable, isTrue, jsonOf, microOf, type Row, textOf } from '../values.ts';
import { columnsOf, listOf } from './columns.ts';
import { limitsOf, periodOf } from './limits.ts';
import type { FoundSite } from './site.ts';

/** The rows of the tables that users and keys are read from. */
export interface Tables {
  readonly teams: readonly Row[];
  readonly people: readonly Row[];
  readonly keys: readonly Row[];
  readonly budgets: readonly Row[];
  readonly memberships: readonly Row[];
  readonly projects: readonly Row[];
  readonly accessGroups: readonly Row[];
  readonly deprecated: readonly Row[];
}

/** What is left of a budget. */
export interface Remaining {
  /** Micro-quota; undefined: there is no limit. */
  readonly amount: bigint | undefined;
  /** How often it resets, as written: `30d`. */
  readonly duration: string | undefined;
  /** All of it, micro-quota. */
  readonly whole: bigint | undefined;
}

/** What teams and users become. */
export interface People {
  readonly departments: readonly ForeignDepartment[];
  readonly users: readonly ForeignUser[];
  /** The rows of those users. */
  readonly rows: readonly Row[];
  /** The team of each user who has exactly one, no budget, and no key outside of it. */
  readonly homes: ReadonlyMap<string, string>;
  /** What is left of the budget of a row of a table. */
  remaining(row: Row, table: string, id: string): Remaining;
  /** Notes that a budget resets there, and does not here. */
  noteRenewal(where: string, what: string, budget: Remaining): void;
  /** The budget that a row shares with others. */
  sharedOf(row: Row): Row;
}

/** The user of LiteLLM's own pages. */
export const OWN_USER = 'default_user_id';
const NOTHING: Decimal = { digits: 0n, scale: 0 };
/** Hashes of passwords that can be checked: scrypt, PBKDF2 (FIPS mode), and SHA-256 of older versions. */
const HASHED = /^(?:scrypt:|pbkdf2:|[0-9a-f]{64}$)/;

/** Reads them. */
export function readPeople(
  { teams, people, keys, budgets, memberships }: Tables,
  teamNames: ReadonlyMap<string, string>,
  site: FoundSite,
  perUnit: number,
  notes: Note[],
): People {
  const budgetOf = new Map(budgets.map((row) => [textOf(row, 'budget_id'), row]));
  const sharedOf = (row: Row): Row => budgetOf.get(textOf(row, 'budget_id')) ?? {};
  const ofBudgets = columnsOf({ table: 'LiteLLM_BudgetTable', id: 'budget_id' });

  function remaining(row: Row, table: string, id: string): Remaining {
    const columns = columnsOf({ table, id });
    // A budget of its own comes before one that several share.
    const shared = sharedOf(row);
    const of = columns.amount(row, 'max_budget') ?? ofBudgets.amount(shared, 'max_budget');
    const duration = textOf(row, 'budget_duration') ?? textOf(shared, 'budget_duration');
    if (of === undefined) return { amount: undefined, whole: undefined, duration: undefined };
    const spent = columns.amount(row, 'spend') ?? NOTHING;
    return {
      amount: grantable(microOf(of, spent, perUnit)),
      whole: grantable(microOf(of, NOTHING, perUnit)),
      duration,
    };
  }

  /** The limits of users, teams and memberships. */
  const leaveLimits = (where: string, what: string, row: Row): void => {
    const { limits, others } = limitsOf({ ...row, max_budget: undefined }, {}, perUnit);
    const texts = [...(limits.length > 0 ? [limitsText(limits)] : []), ...others];
    if (texts.length > 0)
      notes.push({ kind: 'decide', where, what, why: `${texts.join(', ')}: only keys have such limits` });
  };
  const noteRenewal = (where: string, what: string, { duration, amount }: Remaining): void => {
    if (duration === undefined || amount === undefined) return;
    const why = `its budget resets every ${duration}; its remaining amount is imported, and does not reset here`;
    notes.push({ kind: 'decide', where, what, why });
  };

  const departments = teams.map((row): ForeignDepartment => {
    const id = textOf(row, 'team_id') ?? '';
    const name = teamNames.get(id) ?? id;
    const what = `team ${name}`;
    const where = 'LiteLLM_TeamTable';
    const budget = remaining(row, where, 'team_id');
    const enabled = !isTrue(row, 'blocked');
    leaveLimits(where, what, row);
    if (periodOf(budget.duration) === 'month') {
      const why = `its budget of ${budget.duration} becomes one per calendar month; spending of the current month is not imported`;
      notes.push({ kind: 'changed', where, what, why });
      return { id, name, enabled, ...(budget.whole !== undefined && { monthlyBudget: budget.whole }) };
    }
    noteRenewal(where, what, budget);
    return { id, name, enabled, ...(budget.amount !== undefined && { budget: budget.amount }) };
  });

  const rows = people.filter((row) => textOf(row, 'user_id') !== OWN_USER);
  if (rows.length < people.length) {
    const why = 'the user of its own pages; sign in as root here';
    notes.push({ kind: 'left', where: 'LiteLLM_UserTable', what: `user ${OWN_USER}`, why });
  }
  const homes = homesOf(rows, teams, keys);
  const membershipOf = new Map(memberships.map((row) => [`${textOf(row, 'user_id')} ${textOf(row, 'team_id')}`, row]));
  const users = rows.map((row): ForeignUser => {
    const id = textOf(row, 'user_id') ?? '';
    const name = readableName(textOf(row, 'user_alias') ?? textOf(row, 'user_email'), readableName(id, 'user'));
    const what = `user ${name}`;
    const where = 'LiteLLM_UserTable';
    const home = homes.get(id);
    // The budget of a membership is all that such a user has.
    const membership = home === undefined ? undefined : membershipOf.get(`${id} ${home}`);
    const own = remaining(row, where, 'user_id');
    const budget =
      own.amount !== undefined || membership === undefined
        ? own
        : remaining(membership, 'LiteLLM_TeamMembership', 'user_id');
    leaveLimits(where, what, row);
    noteRenewal(where, what, budget);
    noteRole(row, what, notes);
    const password = textOf(row, 'password');
    if (password !== undefined && !HASHED.test(password))
      notes.push({ kind: 'decide', where, what, why: 'the password is in plain text there: a new one has to be set' });
    const subject = textOf(row, 'sso_user_id');
    if (subject !== undefined && site.identityProvider === undefined) {
      const why = 'the account at a sign-in provider is not linked: its identifier here would be another one';
      notes.push({ kind: 'left', where: `${where}.sso_user_id`, what, why });
    }
    return {
      id: `user ${id}`,
      name,
      email: textOf(row, 'user_email'),
      role: textOf(row, 'user_role') === 'proxy_admin' ? 'admin' : 'member',
      enabled: true,
      group: home === undefined ? undefined : site.upstreams.groupOf.get(home),
      balance: budget.amount,
      department: home,
      isPerson: true,
      passwordHash: password !== undefined && HASHED.test(password) ? password : undefined,
      links:
        subject === undefined || site.identityProvider === undefined
          ? undefined
          : [{ type: 'oidc', ...site.identityProvider, subject }],
    };
  });
  for (const row of memberships) {
    const what = `membership of ${textOf(row, 'user_id')} in team ${teamNames.get(textOf(row, 'team_id') ?? '') ?? '?'}`;
    leaveLimits('LiteLLM_TeamMembership', what, { ...sharedOf(row), metadata: undefined });
  }
  return { departments, users, rows, homes, remaining, noteRenewal, sharedOf };
}

function noteRole(row: Row, what: string, notes: Note[]): void {
  const role = textOf(row, 'user_role');
  if (role === undefined || ['proxy_admin', 'internal_user'].includes(role)) return;
  const why = `the role ${role} becomes member: it manages its own keys, and sees its own usage`;
  notes.push({ kind: 'changed', where: 'LiteLLM_UserTable.user_role', what, why });
}

/**
 * The team of each user who has exactly one, has no budget and no key outside of it: such a user is a member of its
 * department. Keys of a team that others use belong to an account of the team, because calls of a team's keys are not
 * limited by the user's own budget.
 */
function homesOf(people: readonly Row[], teams: readonly Row[], keys: readonly Row[]): ReadonlyMap<string, string> {
  const teamsOf = new Map<string, Set<string | undefined>>();
  const add = (user: string | undefined, team: string | undefined): void => {
    if (user !== undefined) teamsOf.set(user, (teamsOf.get(user) ?? new Set<string | undefined>()).add(team));
  };
  for (const team of teams) {
    const id = textOf(team, 'team_id');
    const roles = jsonOf(team, 'members_with_roles');
    for (const member of Array.isArray(roles) ? roles : []) add(textOf(member as Row, 'user_id'), id);
    for (const member of asTexts(jsonOf(team, 'members'))) add(member, id);
  }
  for (const row of people) for (const team of listOf(row, 'teams')) add(textOf(row, 'user_id'), team);
  for (const row of keys) add(textOf(row, 'user_id'), textOf(row, 'team_id'));
  const existing = new Set(teams.map((row) => textOf(row, 'team_id')));
  const ofUsers = columnsOf({ table: 'LiteLLM_UserTable', id: 'user_id' });
  return new Map(
    people.flatMap((row) => {
      const user = textOf(row, 'user_id') ?? '';
      const [team, ...more] = [...(teamsOf.get(user) ?? [])];
      const isHome =
        team !== undefined &&
        more.length === 0 &&
        existing.has(team) &&
        ofUsers.amount(row, 'max_budget') === undefined;
      return isHome ? [[user, team] as const] : [];
    }),
  );
}
