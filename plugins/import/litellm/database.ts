/**
 * Reads LiteLLM's database (`schema.prisma`): teams, users, budgets and keys, whose rows have the SHA-256 of the key.
 * There, budgets count up to a maximum, in dollars; here, what is left of one is a balance, an allowance or a budget.
 */
import type { Database } from '../databases.ts';
import { EMPTY, type Inventory, type Note, type Source } from '../inventory.ts';
import { readableName } from '../names.ts';
import { asObject, isTrue, jsonOf, objectOf, type Row, textOf } from '../values.ts';
import { type ConfigFile, mergedSettings, NO_FILE, readConfig } from './config.ts';
import { type CostMap, readCostMap } from './cost-map.ts';
import type { Deployment } from './deployments.ts';
import { type Keyed, readKeys } from './keys.ts';
import { columnsLeft, tablesLeft, titleOf } from './left.ts';
import { readPeople } from './people.ts';
import { splitModel } from './providers.ts';
import type { Published } from './published.ts';
import { createBoxOpener, isSealed, type OpenBox } from './secrets.ts';
import type { Settings } from './settings.ts';
import { readSite } from './site.ts';
import { daysOf, recordedPrices, usageOf } from './usage.ts';

/** The team of the keys that LiteLLM makes for a session of its own pages. */
const UI_TEAM = 'litellm-dashboard';
const SEALED =
  'they are encrypted with another key: pass LITELLM_SALT_KEY, or the master key if there was none, in the second line of standard input';

/** What belongs to a database. */
export interface LiteLlmOptions {
  /** The path of config.yaml of the same site. */
  readonly configFile?: string | undefined;
  /** The path of LiteLLM's cost map. */
  readonly costsFile?: string | undefined;
  /** List prices that ship with this gateway. */
  readonly published?: Published | undefined;
}

/**
 * Such a database, open. `perUnit`: quota units in one dollar here. `saltKey`: `LITELLM_SALT_KEY`, or the master key; undefined: what is
 * encrypted is left.
 */
export function liteLlmSource(
  database: Database,
  perUnit: number,
  saltKey: string | undefined,
  { configFile, costsFile, published }: LiteLlmOptions = {},
): Source {
  return {
    program: 'litellm',
    family: 'litellm',
    inventory: async () => {
      const openBox = await createBoxOpener(saltKey);
      const file = configFile === undefined ? NO_FILE : readConfig(configFile);
      const costMap = costsFile === undefined ? undefined : readCostMap(costsFile);
      return (await read(database, perUnit, openBox, file, { published, costMap })).inventory;
    },
    usage: (most) => usageOf(database, perUnit, most),
    async *history() {
      const { keyed } = await read(database, perUnit, () => undefined, NO_FILE, {});
      yield* daysOf(database, perUnit, (key, user) => keyed.ownerOf.get(key) ?? `user ${user ?? ''}`);
    },
    close: () => database.close(),
  };
}

async function read(
  database: Database,
  perUnit: number,
  openBox: OpenBox,
  file: ConfigFile,
  { published, costMap }: { readonly published?: Published | undefined; readonly costMap?: CostMap | undefined },
): Promise<{ readonly inventory: Inventory; readonly keyed: Keyed }> {
  const tokens = await database.rows('LiteLLM_VerificationToken');
  if (tokens === undefined)
    throw new Error('this is not a database of LiteLLM: it does not have the table LiteLLM_VerificationToken');
  const rowsOf = async (table: string): Promise<readonly Row[]> => (await database.rows(`LiteLLM_${table}`)) ?? [];
  const notes: Note[] = [];

  const teams = await rowsOf('TeamTable');
  const teamNames = new Map(
    teams.map((row) => {
      const id = textOf(row, 'team_id') ?? '';
      return [id, readableName(textOf(row, 'team_alias'), id)] as const;
    }),
  );
  // Keys of a session of its own pages are not for clients.
  const keyRows = tokens.filter((row) => textOf(row, 'token') !== undefined && textOf(row, 'team_id') !== UI_TEAM);
  if (keyRows.length < tokens.length)
    notes.push({
      kind: 'left',
      where: 'LiteLLM_VerificationToken',
      what: 'keys of sessions of its own pages',
      why: 'they are for the pages of LiteLLM, and no client has them',
      count: tokens.length - keyRows.length,
    });

  const teamAliases = aliasesOfTeams(teams, await rowsOf('ModelTable'));
  const early = await isEarly(database);
  const site = readSite({
    deployments: [...file.deployments, ...deploymentsOf(await rowsOf('ProxyModelTable'), openBox, notes)],
    settings: mergedSettings(
      file.settings,
      settingsOf(await rowsOf('Config'), await rowsOf('SSOConfig'), openBox, notes),
    ),
    credentials: new Map([...file.credentials, ...credentialsOf(await rowsOf('CredentialsTable'), openBox, notes)]),
    teams: teamNames,
    teamNames: internalNames(teamAliases),
    recorded: await recordedPrices(database, early),
    published,
    costMap,
    isEarly: early,
  });

  const tables = {
    teams,
    people: (await rowsOf('UserTable')).filter((row) => textOf(row, 'user_id') !== undefined),
    keys: keyRows,
    budgets: await rowsOf('BudgetTable'),
    memberships: await rowsOf('TeamMembership'),
    projects: await rowsOf('ProjectTable'),
    accessGroups: await rowsOf('AccessGroupTable'),
    deprecated: await rowsOf('DeprecatedVerificationToken'),
  };
  const people = readPeople(tables, teamNames, site, perUnit, notes);
  const keyed = readKeys(tables, people, teamNames, teamAliases, site, perUnit, notes);
  const { channels, models, groups } = site.upstreams;
  return {
    keyed,
    inventory: {
      ...EMPTY,
      channels,
      models,
      groups,
      aliases: keyed.aliases,
      sections: site.sections,
      departments: people.departments,
      users: [...people.users, ...keyed.owners],
      keys: keyed.keys,
      notes: [
        ...notes,
        ...site.notes,
        ...columnsLeft('LiteLLM_TeamTable', teams, (row) => `team ${titleOf(row, 'team_alias', 'team_id')}`),
        ...columnsLeft('LiteLLM_UserTable', people.rows, (row) => `user ${titleOf(row, 'user_email', 'user_id')}`),
        ...columnsLeft('LiteLLM_VerificationToken', keyRows, (row) => `key ${titleOf(row, 'key_alias', 'key_name')}`),
        ...(await tablesLeft(database)),
      ],
    },
  };
}

/** The first migration of LiteLLM 1.103. */
const MIGRATION = '20260913000000_add_tpd_limit';

/** Whether the migrations say that it is LiteLLM before 1.103. */
async function isEarly(database: Database): Promise<boolean> {
  const names = ((await database.rows('_prisma_migrations')) ?? []).map((row) => textOf(row, 'migration_name') ?? '');
  return names.length > 0 && !names.includes(MIGRATION);
}

/** Models in the database, decrypted. Those whose key does not fit are left; without any key, LiteLLM encrypts nothing. */
function deploymentsOf(rows: readonly Row[], openBox: OpenBox, notes: Note[]): readonly Deployment[] {
  const opened = rows.flatMap((row): readonly Deployment[] => {
    const params = openedValues(objectOf(row, 'litellm_params'), openBox);
    const model = textOf(params, 'model');
    if (model === undefined || (splitModel(model) === undefined && isSealed(model))) return [];
    return [
      {
        where: 'LiteLLM_ProxyModelTable',
        name: textOf(row, 'model_name') ?? '',
        params,
        info: objectOf(row, 'model_info'),
        isBlocked: isTrue(row, 'blocked'),
      },
    ];
  });
  noteSealed('LiteLLM_ProxyModelTable', 'models in the database', rows.length - opened.length, notes);
  return opened;
}

function credentialsOf(rows: readonly Row[], openBox: OpenBox, notes: Note[]): readonly (readonly [string, Row])[] {
  const opened = rows.flatMap((row): readonly (readonly [string, Row])[] => {
    const values = openedValues(objectOf(row, 'credential_values'), openBox);
    const isOpen = Object.values(values).every((value) => typeof value !== 'string' || !isSealed(value));
    return isOpen ? [[textOf(row, 'credential_name') ?? '', values]] : [];
  });
  noteSealed('LiteLLM_CredentialsTable', 'credentials in the database', rows.length - opened.length, notes);
  return opened;
}

/** The parts of the configuration in the database; values of variables are sealed. */
function settingsOf(rows: readonly Row[], sso: readonly Row[], openBox: OpenBox, notes: Note[]): Settings {
  const parts = new Map(rows.map((row) => [textOf(row, 'param_name') ?? '', jsonOf(row, 'param_value')]));
  const take = (part: string): Row => {
    const value = asObject(parts.get(part));
    parts.delete(part);
    return value;
  };
  const written = take('environment_variables');
  const opened = Object.entries(written).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? (openBox(value) ?? (isSealed(value) ? undefined : value)) : undefined;
    return text === undefined ? [] : [[name, text] as const];
  });
  noteSealed('LiteLLM_Config', 'variables in the database', Object.keys(written).length - opened.length, notes);
  return {
    general: take('general_settings'),
    router: take('router_settings'),
    litellm: take('litellm_settings'),
    variables: new Map(opened),
    sso: openedValues(Object.assign({}, ...sso.map((row) => objectOf(row, 'sso_settings'))) as Row, openBox),
    others: Object.fromEntries(parts),
  };
}

function openedValues(values: Row, openBox: OpenBox): Row {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? (openBox(value) ?? value) : value,
    ]),
  );
}

function noteSealed(where: string, what: string, count: number, notes: Note[]): void {
  if (count > 0) notes.push({ kind: 'decide', where, what, why: SEALED, count });
}

/** Other names of models for a team, by its id. */
function aliasesOfTeams(teams: readonly Row[], rows: readonly Row[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const byId = new Map(rows.map((row) => [textOf(row, 'id'), objectOf(row, 'aliases')]));
  return new Map(
    teams.map((row) => {
      const written = Object.entries(byId.get(textOf(row, 'model_id')) ?? {});
      const aliases = written.flatMap(([alias, model]) => (typeof model === 'string' ? [[alias, model] as const] : []));
      return [textOf(row, 'team_id') ?? '', new Map(aliases)];
    }),
  );
}

/** Older versions name a team's own deployments by an alias of the team: the names by the internal one. */
function internalNames(
  teamAliases: ReadonlyMap<string, ReadonlyMap<string, string>>,
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const [team, aliases] of teamAliases) {
    for (const [alias, model] of aliases) {
      if (model.startsWith(`model_name_${team}_`)) names.set(model, [...(names.get(model) ?? []), alias]);
    }
  }
  return names;
}
