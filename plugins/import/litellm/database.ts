/**
 * Reads LiteLLM's database (`schema.prisma`): teams, users, budgets and keys, whose rows have the SHA-256 of the key.
 * There, budgets count up to a maximum, in dollars; here, what is left of one is a balance, an allowance or a budget.
 */
import { hash } from 'node:crypto';
import { limitsText } from '../../../core/contracts/key-limits.ts';
import type { Decimal } from '../../../core/sdk.ts';
import { type Database, openDatabase } from '../databases.ts';
import {
  EMPTY,
  type ForeignDepartment,
  type ForeignKey,
  type ForeignUser,
  type Inventory,
  type Left,
} from '../inventory.ts';
import { readableName } from '../names.ts';
import { amountOf, asTexts, grantable, isTrue, jsonOf, microOf, objectOf, type Row, textOf } from '../values.ts';
import { readDeployments } from './deployments.ts';
import { limitsOf, periodOf } from './limits.ts';
import { splitModel } from './providers.ts';
import { createBoxOpener, type OpenBox } from './secrets.ts';

const NOTHING: Decimal = { digits: 0n, scale: 0 };
const HASH = /^[0-9a-f]{64}$/;
/** The owner of keys of neither a user nor a team. */
const NO_OWNER = 'keys without owner';
/** Words in lists of models. */
const ALL = ['all-proxy-models', '*'];
const TEAM = 'all-team-models';
const NONE = 'no-default-models';

/**
 * Everything in such a database. `perUnit`: quota units in one dollar here. `saltKey`: `LITELLM_SALT_KEY`, or the master
 * key; undefined: what is encrypted is left.
 */
export async function readDatabase(address: string, perUnit: number, saltKey: string | undefined): Promise<Inventory> {
  const database = await openDatabase(address);
  try {
    return await read(database, perUnit, saltKey);
  } finally {
    await database.close();
  }
}

/** What is left of a budget. */
interface Remaining {
  /** Micro-quota; undefined: there is no limit. */
  readonly amount: bigint | undefined;
  /** How often it resets, as written: `30d`. */
  readonly duration: string | undefined;
  /** All of it, micro-quota. */
  readonly whole: bigint | undefined;
}

async function read(database: Database, perUnit: number, saltKey: string | undefined): Promise<Inventory> {
  const tokens = await database.rows('LiteLLM_VerificationToken');
  if (tokens === undefined)
    throw new Error('this is not a database of LiteLLM: it does not have the table LiteLLM_VerificationToken');
  const rowsOf = async (table: string): Promise<readonly Row[]> => (await database.rows(`LiteLLM_${table}`)) ?? [];
  const [teams, people, budgets] = [await rowsOf('TeamTable'), await rowsOf('UserTable'), await rowsOf('BudgetTable')];
  const budgetOf = new Map(budgets.map((row) => [textOf(row, 'budget_id'), row]));
  const left: Left[] = [];

  function remaining(row: Row): Remaining {
    // A budget of its own comes before one that several share.
    const shared: Row = budgetOf.get(textOf(row, 'budget_id')) ?? {};
    const of = amountOf(row.max_budget) ?? amountOf(shared.max_budget);
    const duration = textOf(row, 'budget_duration') ?? textOf(shared, 'budget_duration');
    if (of === undefined) return { amount: undefined, whole: undefined, duration: undefined };
    const spent = amountOf(row.spend) ?? NOTHING;
    return {
      amount: grantable(microOf(of, spent, perUnit)),
      whole: grantable(microOf(of, NOTHING, perUnit)),
      duration,
    };
  }

  /** The limits of users and teams. */
  const leaveLimits = (what: string, row: Row): void => {
    const { limits, others } = limitsOf({ ...row, max_budget: undefined }, {}, perUnit);
    const texts = [...(limits.length > 0 ? [limitsText(limits)] : []), ...others];
    if (texts.length > 0) left.push({ what, why: `${texts.join(', ')}: only keys have such limits` });
  };
  const renewal = (what: string, { duration, amount }: Remaining): void => {
    if (duration === undefined || amount === undefined) return;
    left.push({
      what,
      why: `its budget resets every ${duration}; its remaining amount is imported, and does not reset here`,
    });
  };

  const teamOf = new Map(teams.map((row) => [textOf(row, 'team_id'), row]));
  const departments = teams.map((row): ForeignDepartment => {
    const id = textOf(row, 'team_id') ?? '';
    const name = readableName(textOf(row, 'team_alias'), id);
    const what = `team ${name}`;
    const budget = remaining(row);
    leaveLimits(what, row);
    if (periodOf(budget.duration) === 'month') {
      const why = `its budget of ${budget.duration} becomes one per calendar month; spending of the current month is not imported`;
      left.push({ what, why });
      return {
        id,
        name,
        enabled: !isTrue(row, 'blocked'),
        ...(budget.whole !== undefined && { monthlyBudget: budget.whole }),
      };
    }
    renewal(what, budget);
    return {
      id,
      name,
      enabled: !isTrue(row, 'blocked'),
      ...(budget.amount !== undefined && { budget: budget.amount }),
    };
  });

  const keyRows = tokens.filter((row) => textOf(row, 'token') !== undefined);
  const homes = homesOf(people, teams, keyRows);
  const users = people.map((row): ForeignUser => {
    const id = textOf(row, 'user_id') ?? '';
    const name = readableName(textOf(row, 'user_alias') ?? textOf(row, 'user_email'), readableName(id, 'user'));
    const what = `user ${name}`;
    const budget = remaining(row);
    leaveLimits(what, row);
    renewal(what, budget);
    return {
      id: `user ${id}`,
      name,
      email: textOf(row, 'user_email'),
      role: textOf(row, 'user_role') === 'proxy_admin' ? 'admin' : 'member',
      enabled: true,
      balance: budget.amount,
      department: homes.get(id),
      isPerson: true,
    };
  });

  const known = new Set(people.map((row) => textOf(row, 'user_id')));
  const owners = new Map<string, ForeignUser>();
  const keys: ForeignKey[] = [];
  for (const row of keyRows) {
    const user = textOf(row, 'user_id');
    const team = textOf(row, 'team_id');
    const token = textOf(row, 'token')!;
    const hint = /\u2026|\.\.\./.test(textOf(row, 'key_name') ?? '') ? textOf(row, 'key_name')!.slice(-4) : '';
    const name = readableName(textOf(row, 'key_alias'), `key-${hint || token.slice(0, 8)}`);
    const what = `key ${name}`;
    const hasTeam = team !== undefined && teamOf.has(team);
    const isOwn = user !== undefined && known.has(user) && (!hasTeam || homes.get(user) === team);
    const owner = isOwn ? `user ${user}` : ownerOf(hasTeam ? team : undefined, teamOf, owners);
    const budget = remaining(row);
    const { limits, others } = limitsOf(row, budgetOf.get(textOf(row, 'budget_id')) ?? {}, perUnit);
    if (others.length > 0) left.push({ what, why: `${others.join(', ')}: there is no such limit here` });
    const isPeriod = periodOf(budget.duration) !== undefined;
    if (limits.some(({ budgets }) => budgets !== undefined)) {
      const why =
        'its budgets are of calendar days, weeks or months (UTC); spending of the current ones is not imported';
      left.push({ what, why });
    }
    if (!isPeriod) renewal(what, budget);
    const models = modelsOf(
      row,
      hasTeam ? teamOf.get(team) : isOwn ? people.find((each) => textOf(each, 'user_id') === user) : undefined,
    );
    if (models?.length === 0) left.push({ what, why: 'it may not call any model there; it is disabled here' });
    const hashed = token.startsWith('sk-') ? hash('sha256', token, 'hex') : token;
    const expires = textOf(row, 'expires');
    keys.push({
      id: hashed,
      user: owner,
      name,
      secret: HASH.test(hashed) ? { hash: hashed, prefix: 'sk-', suffix: hint } : undefined,
      allowance: isPeriod ? undefined : budget.amount,
      limits: limits.length === 0 ? undefined : limits,
      models: models?.length === 0 ? undefined : models,
      expiresMs:
        expires === undefined ? undefined : Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(expires) ? expires : `${expires}Z`),
      enabled: !isTrue(row, 'blocked') && models?.length !== 0,
    });
  }
  const sealed = await rowsOf('ProxyModelTable');
  const openBox = saltKey === undefined ? () => undefined : await createBoxOpener(saltKey);
  const opened = sealed.map((row) => openedModel(row, openBox)).filter((row) => row !== undefined);
  const upstreams = readDeployments(opened);
  if (opened.length < sealed.length) {
    const why =
      'they are encrypted with another key: pass LITELLM_SALT_KEY, or the master key if there was none, in the second line of standard input';
    left.push({ what: `models in the database (${sealed.length - opened.length})`, why });
  }
  return {
    ...EMPTY,
    channels: upstreams.channels,
    models: upstreams.models,
    departments,
    users: [...users, ...owners.values()],
    keys,
    left: [...left, ...upstreams.left, ...(await othersOf(rowsOf, people))],
  };
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
  for (const row of people) for (const team of asTexts(jsonOf(row, 'teams'))) add(textOf(row, 'user_id'), team);
  for (const row of keys) add(textOf(row, 'user_id'), textOf(row, 'team_id'));
  const existing = new Set(teams.map((row) => textOf(row, 'team_id')));
  return new Map(
    people.flatMap((row) => {
      const user = textOf(row, 'user_id') ?? '';
      const [team, ...more] = [...(teamsOf.get(user) ?? [])];
      const isHome =
        team !== undefined && more.length === 0 && existing.has(team) && amountOf(row.max_budget) === undefined;
      return isHome ? [[user, team] as const] : [];
    }),
  );
}

/** The account of a team's keys, or of those without owner; added to `owners`. */
function ownerOf(
  team: string | undefined,
  teams: ReadonlyMap<string | undefined, Row>,
  owners: Map<string, ForeignUser>,
): string {
  const id = team === undefined ? NO_OWNER : `team ${team}`;
  const name =
    team === undefined ? NO_OWNER : `team ${readableName(textOf(teams.get(team) ?? {}, 'team_alias'), team)}`;
  owners.set(id, {
    id,
    name: readableName(name, NO_OWNER),
    role: 'member',
    enabled: true,
    balance: undefined,
    department: team,
    isPerson: false,
  });
  return id;
}

/** The models of a key, or those of its team or user if it has none; undefined: all; empty: none. */
function modelsOf(row: Row, above: Row | undefined): readonly string[] | undefined {
  const inherited = asTexts(above && jsonOf(above, 'models'));
  const own = asTexts(jsonOf(row, 'models'));
  const names = own.length === 0 || own.includes(TEAM) ? inherited : own;
  if (names.some((name) => ALL.includes(name))) return undefined;
  if (names.length === 0) return undefined;
  return [...new Set(names.filter((name) => name !== NONE && name !== TEAM))];
}

/** A row of the models in the database, decrypted; undefined if the key does not fit. Without any key, LiteLLM encrypts nothing. */
function openedModel(row: Row, openBox: OpenBox): Row | undefined {
  const params = Object.entries(objectOf(row, 'litellm_params')).map(([name, value]) => {
    const opened = typeof value === 'string' ? openBox(value) : undefined;
    return [name, opened ?? value] as const;
  });
  const opened = Object.fromEntries(params);
  const model = textOf(opened, 'model');
  const isSealed = model !== undefined && splitModel(model) === undefined && BOX.test(model);
  if (model === undefined || isSealed) return undefined;
  return { model_name: row.model_name, litellm_params: opened, model_info: objectOf(row, 'model_info') };
}
/** Base64 of a nonce, a tag and at least one byte. */
const BOX = /^[\w+/-]{55,}={0,2}$/;

async function othersOf(
  rowsOf: (table: string) => Promise<readonly Row[]>,
  people: readonly Row[],
): Promise<readonly Left[]> {
  const count = async (table: string): Promise<number> => (await rowsOf(table)).length;
  const withBudget = (await rowsOf('TeamMembership')).filter((row) => textOf(row, 'budget_id') !== undefined);
  const rows: readonly (readonly [number, string, string])[] = [
    [await count('Config'), 'settings in the database', 'set them in gateway.yaml if you need them'],
    [
      await count('CredentialsTable'),
      'credentials in the database',
      'they are encrypted: set them as environment variables',
    ],
    [
      await count('OrganizationTable'),
      'organizations',
      'their budgets and limits are not imported; their teams become departments',
    ],
    [await count('EndUserTable'), 'end users', 'there are no budgets for the `user` of a request'],
    [await count('TagTable'), 'tags', 'tags are not supported'],
    [withBudget.length, 'memberships with a budget in a team', 'a department has one budget for all its members'],
    [people.filter((row) => textOf(row, 'password') !== undefined).length, 'passwords', 'every user sets a new one'],
  ];
  return rows.filter(([number]) => number > 0).map(([number, what, why]) => ({ what: `${what} (${number})`, why }));
}
