/**
 * Reads LiteLLM's keys. A key here never does more than there: what cannot be said of it here disables it, with the reason. Facts: BerriAI/litellm
 * 1.110.2, litellm/proxy/auth/auth_checks.py (`sharedchecks`), litellm/proxy/auth/user_api_key_auth.py.
 */
import { hash } from 'node:crypto';
import type { ForeignKey, ForeignUser, Note } from '../inventory.ts';
import { readableName, withSuffix } from '../names.ts';
import { isTrue, type Row, textOf } from '../values.ts';
import { columnsOf, listOf } from './columns.ts';
import type { PublicName } from './deployments.ts';
import { limitsOf, periodOf } from './limits.ts';
import type { People, Tables } from './people.ts';
import { type Check, isCovered, modelsOf, type Naming, NONE, OF_TEAM } from './rights.ts';
import { routesOf } from './routes.ts';
import type { FoundSite } from './site.ts';

const TABLE = 'LiteLLM_VerificationToken';
const HASH = /^[0-9a-f]{64}$/;
/** The owner of keys of neither a user nor a team. */
const NO_OWNER = 'keys without owner';

/** What keys become. */
export interface Keyed {
  readonly keys: readonly ForeignKey[];
  /** Accounts that only own keys. */
  readonly owners: readonly ForeignUser[];
  /** The identifier of the owner of each key, by its hash. */
  readonly ownerOf: ReadonlyMap<string, string>;
  /** Other names of models: those of everybody, and those of keys and teams. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** A key before the names that only some keys have are decided. */
interface Draft {
  readonly key: ForeignKey;
  /** Its models; undefined: all. */
  readonly models: readonly string[] | undefined;
  readonly naming: Naming;
}

/** Reads them. */
export function readKeys(
  tables: Tables,
  people: People,
  teamNames: ReadonlyMap<string, string>,
  teamAliases: ReadonlyMap<string, ReadonlyMap<string, string>>,
  site: FoundSite,
  perUnit: number,
  notes: Note[],
): Keyed {
  const { columns, teamOf, userOf, projectOf, groupModels, membershipOf } = indexed(tables);
  const known = new Set(people.rows.map((row) => textOf(row, 'user_id')));
  const userNames = new Map(people.users.map(({ id, name }) => [id, name]));
  const owners = new Map<string, ForeignUser>();
  const allNames = site.upstreams.names;
  const common = allNames.flatMap(({ name, team }) => (team === undefined ? [name] : []));
  const namings = new Map<
    string | undefined,
    Pick<Naming, 'names' | 'accessGroups' | 'allGroups' | 'aliases' | 'teamAliases'>
  >();
  const namingOf = (team: string | undefined) => {
    const found = namings.get(team) ?? namingFor(team, allNames, site.aliases, teamAliases.get(team ?? ''));
    namings.set(team, found);
    return found;
  };

  /** The account that a key belongs to; new ones are added to `owners`. */
  function ownerOf(user: string | undefined, team: string | undefined): string {
    if (user !== undefined && known.has(user) && (team === undefined || people.homes.get(user) === team))
      return `user ${user}`;
    const membership = user === undefined || team === undefined ? undefined : membershipOf(user, team);
    const budget = membership && people.remaining(membership, 'LiteLLM_TeamMembership', 'user_id');
    const isOfMember = budget?.amount !== undefined;
    const id = isOfMember ? `member ${user} of ${team}` : team === undefined ? NO_OWNER : `team ${team}`;
    if (owners.has(id)) return id;
    const teamName = teamNames.get(team ?? '');
    const name = isOfMember
      ? withSuffix(userNames.get(`user ${user}`) ?? user!, ` in ${[...teamName!].slice(0, 30).join('')}`)
      : team === undefined
        ? NO_OWNER
        : `team ${teamName}`;
    if (isOfMember) people.noteRenewal('LiteLLM_TeamMembership', `account ${name}`, budget);
    owners.set(id, {
      id,
      name: readableName(name, NO_OWNER),
      role: 'member',
      enabled: true,
      group: team === undefined ? undefined : site.upstreams.groupOf.get(team),
      balance: budget?.amount,
      department: team,
      isPerson: false,
    });
    return id;
  }

  /** The lists that must allow a model. */
  function checksOf(row: Row, team: Row | undefined, user: string | undefined): readonly Check[] {
    const own = listOf(row, 'models');
    // In the list of a team, the word stands for the models of everybody.
    const ofTeam = listOf(team, 'models').flatMap((name) => (name === OF_TEAM ? common : [name]));
    const ofUser = listOf(userOf.get(user), 'models');
    const ofGroups = listOf(row, 'access_group_ids').flatMap((id) => groupModels(id));
    const teamGroups = listOf(team, 'access_group_ids').flatMap((id) => groupModels(id));
    const authorized = listOf(row, 'access_group_ids').flatMap((id) =>
      groupModels(id, textOf(row, 'token'), textOf(row, 'team_id')),
    );
    const member =
      team === undefined || user === undefined ? undefined : membershipOf(user, textOf(team, 'team_id') ?? '');
    const ofMember = member === undefined ? [] : listOf(people.sharedOf(member), 'allowed_models');
    const ofProject = listOf(projectOf.get(textOf(row, 'project_id')), 'models');
    const some = (list: readonly string[]): readonly (readonly string[])[] => (list.length > 0 ? [list] : []);
    const ofKey = [own.includes(OF_TEAM) ? ofTeam : own, ...some(ofGroups)];
    const ofItsTeam = [ofTeam, ...some(teamGroups.length > 0 ? [...ofTeam, ...teamGroups] : []), ...some(authorized)];
    return [
      { lists: ofKey, allowsTeamAliases: true },
      ...(team === undefined ? [] : [{ lists: ofItsTeam, allowsTeamAliases: true as const }]),
      ...(ofMember.length > 0 ? [{ lists: [ofMember] }] : []),
      ...(ofProject.length > 0 ? [{ lists: [ofProject] }] : []),
      ...(team === undefined && userOf.has(user) ? [{ lists: [ofUser.includes(NONE) ? [NONE] : ofUser] }] : []),
    ];
  }

  const drafts = tables.keys.map((row): Draft => {
    const user = textOf(row, 'user_id');
    const token = textOf(row, 'token')!;
    const hint = /\u2026|\.\.\./.test(textOf(row, 'key_name') ?? '') ? textOf(row, 'key_name')!.slice(-4) : '';
    const name = readableName(textOf(row, 'key_alias'), `key-${hint || token.slice(0, 8)}`);
    const what = `key ${name}`;
    const team = teamOf.get(textOf(row, 'team_id'));
    const teamId = team && textOf(team, 'team_id');
    const budget = people.remaining(row, TABLE, 'token');
    const { limits, others } = limitsOf(
      { ...row, metadata: columns.object(row, 'metadata'), model_max_budget: columns.object(row, 'model_max_budget') },
      people.sharedOf(row),
      perUnit,
    );
    if (others.length > 0)
      notes.push({ kind: 'decide', where: TABLE, what, why: `${others.join(', ')}: there is no such limit here` });
    const isPeriod = periodOf(budget.duration) !== undefined;
    if (limits.some(({ budgets }) => budgets !== undefined)) {
      const why =
        'its budgets are of calendar days, weeks or months (UTC); spending of the current ones is not imported';
      notes.push({ kind: 'changed', where: TABLE, what, why });
    }
    if (!isPeriod) people.noteRenewal(TABLE, what, budget);
    const ownAliases = new Map(
      Object.entries(columns.object(row, 'aliases')).flatMap(([alias, model]) =>
        typeof model === 'string' && model !== alias ? [[alias, model] as const] : [],
      ),
    );
    const shared = namingOf(teamId);
    // A name of the team may stand for a name of the key.
    for (const [alias, model] of shared.teamAliases) {
      const behind = ownAliases.get(model);
      if (behind !== undefined) ownAliases.set(alias, behind);
    }
    const naming: Naming = { ...shared, ownAliases };
    const { models, dropped } = modelsOf(checksOf(row, team, user), naming);
    if (dropped.length > 0) {
      const why = `a pattern allows all that it matches here, which is more than there: ${dropped.join(', ')}`;
      notes.push({ kind: 'decide', where: `${TABLE}.models`, what, why });
    }
    const reason = disabledBecause(row, projectOf.get(textOf(row, 'project_id')), models);
    if (reason !== undefined) {
      // What calls nothing there needs no decision.
      const kind = reason.startsWith(CALLS_SOME) ? 'decide' : 'changed';
      notes.push({ kind, where: TABLE, what, why: `${reason}; it is disabled here` });
    }
    const hashed = token.startsWith('sk-') ? hash('sha256', token, 'hex') : token;
    return {
      models,
      naming,
      key: {
        id: hashed,
        user: ownerOf(user, teamId),
        name,
        secret: HASH.test(hashed) ? { hash: hashed, prefix: 'sk-', suffix: hint } : undefined,
        allowance: isPeriod ? undefined : budget.amount,
        limits: limits.length === 0 ? undefined : limits,
        addresses: site.addresses,
        expiresMs: columns.time(row, 'expires'),
        group: teamId === undefined ? undefined : site.upstreams.groupOf.get(teamId),
        enabled: !isTrue(row, 'blocked') && reason === undefined,
      },
    };
  });
  const { aliases, keys } = withAliases(drafts, site, notes);
  const all = [...keys, ...gracedKeys(tables.deprecated, keys, notes)];
  return { keys: all, owners: [...owners.values()], ownerOf: new Map(all.map(({ id, user }) => [id, user])), aliases };
}

function indexed({ teams, people, projects, accessGroups, memberships }: Tables) {
  const groupOf = new Map(accessGroups.map((row) => [textOf(row, 'access_group_id'), row]));
  const membershipRows = new Map(
    memberships.map((row) => [`${textOf(row, 'user_id')} ${textOf(row, 'team_id')}`, row]),
  );
  return {
    columns: columnsOf({ table: TABLE, id: 'token' }),
    teamOf: new Map(teams.map((row) => [textOf(row, 'team_id'), row])),
    userOf: new Map(people.map((row) => [textOf(row, 'user_id'), row])),
    projectOf: new Map(projects.map((row) => [textOf(row, 'project_id'), row])),
    membershipOf: (user: string, team: string) => membershipRows.get(`${user} ${team}`),
    /** The models of an access group; with a key and a team, only if it is assigned to one of them. */
    groupModels(id: string, key?: string, team?: string): readonly string[] {
      const row = groupOf.get(id);
      const isAssigned =
        key === undefined ||
        listOf(row, 'assigned_key_ids').includes(key) ||
        (team !== undefined && listOf(row, 'assigned_team_ids').includes(team));
      return isAssigned ? listOf(row, 'access_model_names') : [];
    },
  };
}

function namingFor(
  team: string | undefined,
  all: readonly PublicName[],
  aliases: ReadonlyMap<string, string>,
  teamAliases: ReadonlyMap<string, string> = new Map(),
): Omit<Naming, 'ownAliases'> {
  // A team with deployments of its own under a name never reaches those of everybody under it.
  const own = new Set(all.flatMap((each) => (team !== undefined && each.team === team ? each.name : [])));
  const mine = all.filter((each) => (each.team === undefined ? !own.has(each.name) : each.team === team));
  const byName = new Map<string, Set<string>>();
  for (const { name, accessGroups } of mine) byName.set(name, new Set([...(byName.get(name) ?? []), ...accessGroups]));
  const patterns = [...byName.keys()].filter((name) => name.includes('*')).sort((a, b) => b.length - a.length);
  const none = new Set<string>();
  return {
    names: new Set(byName.keys()),
    allGroups: new Set(all.flatMap(({ accessGroups }) => [...accessGroups])),
    accessGroups(name) {
      const exact = byName.get(name);
      if (exact !== undefined) return exact;
      const pattern = patterns.find((each) => isCovered([each], name));
      return pattern === undefined ? none : byName.get(pattern)!;
    },
    aliases,
    teamAliases: new Map([...teamAliases].filter(([, model]) => !model.startsWith(`model_name_${team}_`))),
  };
}

/** The reason of a key that can call something there. */
const CALLS_SOME = 'it may only call';

/** Why a key cannot be used here; undefined: it can. */
function disabledBecause(
  row: Row,
  project: Row | undefined,
  models: readonly string[] | undefined,
): string | undefined {
  const allowed = listOf(row, 'allowed_routes');
  const kind = textOf(row, 'key_type');
  const routes = allowed.length === 0 && (kind === 'management' || kind === 'read_only') ? 'none' : routesOf(allowed);
  if (routes === 'none') return 'it may not call any route of models there';
  if (routes === 'some') return `${CALLS_SOME} ${allowed.join(', ')} there, and a key here calls every route`;
  if (project !== undefined && isTrue(project, 'blocked')) return 'its project is blocked there';
  // Access groups in the list of a project are those of its team.
  const isOfAnother = textOf(project ?? {}, 'team_id') !== textOf(row, 'team_id');
  if (listOf(project, 'models').length > 0 && isOfAnother) return 'its project belongs to another team';
  if (models?.length === 0) return 'it may not call any model there';
  return undefined;
}

/**
 * Other names that only a key or a team has there are names for all keys here. That gives no key a model: a key that may call the model behind it may
 * call it by either name, and a key whose list has such a name without being meant loses the name.
 */
function withAliases(
  drafts: readonly Draft[],
  site: FoundSite,
  notes: Note[],
): { readonly aliases: ReadonlyMap<string, string>; readonly keys: readonly ForeignKey[] } {
  const { models } = site.upstreams;
  const common = new Set(site.upstreams.names.flatMap(({ name, team }) => (team === undefined ? name : [])));
  const targets = new Map<string, Set<string>>();
  const ownOf = ({ naming }: Draft): ReadonlyMap<string, string> =>
    new Map([...naming.teamAliases, ...naming.ownAliases]);
  for (const draft of drafts)
    for (const [alias, model] of ownOf(draft)) targets.set(alias, (targets.get(alias) ?? new Set()).add(model));
  const made = new Map<string, string>();
  const refused = new Map<string, string>();
  for (const [alias, of] of targets) {
    const [model = ''] = of;
    const behind = site.aliases.get(model) ?? model;
    const isWrong = (draft: Draft): boolean =>
      !ownOf(draft).has(alias) &&
      draft.models !== undefined &&
      isCovered(draft.models, alias) &&
      !isCovered(draft.models, behind);
    if (site.aliases.get(alias) === behind) continue;
    if (models.has(alias) || site.aliases.has(alias))
      refused.set(alias, 'the name means another model for everybody here');
    else if (of.size > 1) refused.set(alias, 'it means different models for different keys');
    else if (!models.has(behind) || !common.has(behind)) refused.set(alias, `there is no model ${behind}`);
    else if (drafts.some(isWrong)) refused.set(alias, 'lists of other keys have the name, too');
    else made.set(alias, behind);
  }
  for (const [alias, why] of refused)
    notes.push({
      kind: 'decide',
      where: `${TABLE}.aliases`,
      what: `alias ${alias}`,
      why: `${why}: keys that have it cannot use it here`,
    });
  for (const [alias, model] of made) {
    const why = `it was a name of ${model} for some keys or teams only; here it is one for every key that may call ${model}`;
    notes.push({ kind: 'changed', where: `${TABLE}.aliases`, what: `alias ${alias}`, why });
  }
  const keys = drafts.map((draft): ForeignKey => {
    const shadowed = [...ownOf(draft).keys()].filter((alias) => refused.has(alias));
    const list = shadowed.some((alias) => models.has(alias) || site.aliases.has(alias))
      ? (draft.models ?? [
          ...draft.naming.names,
          ...site.aliases.keys(),
          ...[...made.keys()].filter((alias) => ownOf(draft).has(alias)),
        ])
      : draft.models;
    // A pattern would allow the name, too.
    const left = list?.filter((name) => !shadowed.some((alias) => isCovered([name], alias)));
    const isNothing = left !== undefined && left.length === 0;
    if (isNothing && list!.length > 0) {
      const why =
        'its list of models has only aliases that name other models here: it is disabled; give it other models, and enable it';
      notes.push({ kind: 'decide', where: TABLE, what: `key ${draft.key.name}`, why });
    }
    return { ...draft.key, models: isNothing ? undefined : left, enabled: draft.key.enabled && !isNothing };
  });
  return { aliases: new Map([...site.aliases, ...made]), keys };
}

/** Old secrets of replaced keys, which go on working for a time. A budget or limit would count twice, so with one they are disabled. */
function gracedKeys(rows: readonly Row[], keys: readonly ForeignKey[], notes: Note[]): readonly ForeignKey[] {
  const table = 'LiteLLM_DeprecatedVerificationToken';
  const columns = columnsOf({ table, id: 'id' });
  const byId = new Map(keys.map((key) => [key.id, key]));
  return rows.flatMap((row): readonly ForeignKey[] => {
    const token = textOf(row, 'token') ?? '';
    const active = byId.get(textOf(row, 'active_token_id') ?? '');
    const untilMs = columns.time(row, 'revoke_at');
    if (active === undefined || !HASH.test(token) || byId.has(token)) {
      notes.push({
        kind: 'left',
        where: table,
        what: `old secret ${token.slice(0, 8)}`,
        why: 'the key that replaced it is not there',
      });
      return [];
    }
    const isLimited = active.allowance !== undefined || active.limits !== undefined;
    const what = `old secret of key ${active.name}`;
    if (isLimited) {
      const why = 'the key that replaced it has a budget or limits, which would count twice; it is disabled here';
      notes.push({ kind: 'decide', where: table, what, why });
    }
    const ends = [untilMs, active.expiresMs].filter((each) => each !== undefined);
    return [
      {
        ...active,
        id: token,
        name: withSuffix(active.name, ' (old secret)'),
        secret: { hash: token, prefix: 'sk-', suffix: '' },
        expiresMs: ends.length === 0 ? undefined : Math.min(...ends),
        enabled: active.enabled && !isLimited,
      },
    ];
  });
}
