/** Reads one-api and new-api, which grew out of it and kept its tables and identifiers. */
import { MICRO } from '../../../core/contracts/ledger.ts';
import { type Decimal, decimalText } from '../../../core/sdk.ts';
import { type Cells, cellsOf, factorIn, objectIn, unreadable } from '../cells.ts';
import type { Database } from '../databases.ts';
import { EMPTY, type ForeignKey, type ForeignUser, type Inventory, type Note, type Source } from '../inventory.ts';
import { groupRenamed, readableName } from '../names.ts';
import { Packed, type Things, viewed } from '../packed.ts';
import { asTexts, floored, grantable, partsOf, type Row, textOf } from '../values.ts';
import { channelTypeOf } from './channel-types.ts';
import { readChannels, type Site, type Upstreams, USUAL_GROUP } from './channels.ts';
import { groupNames } from './group-names.ts';
import { readHistory } from './history.ts';
import { readHoldings } from './holdings.ts';
import { identityOf, readIdentities } from './identities.ts';
import { keyIdOf, secretOf } from './key-id.ts';
import { namesOf, type Options, optionsOf } from './options.ts';
import {
  acceptsUnpriced,
  type PricedModels,
  quotaPerUnitOf,
  recordedPriceList,
  schemaOf,
  servingsOf,
  withoutUnpriced,
  withPrices,
} from './prices.ts';
import {
  type AddressRule,
  addressList,
  type GroupRules,
  isGizmo,
  type KeyList,
  modelList,
  type Placement,
  placement,
  stateOf,
} from './rights.ts';
import { readSettings } from './settings.ts';
import { tableNotes, unreadColumns, userNotes } from './unread.ts';
import { readUsage } from './usage.ts';

/** `users.role`. */
const ADMIN = 10;
const ROOT = 100;
/** `users.status`: 1 enabled, 2 disabled, 3 deleted by one-api. */
const ENABLED = 1;
const DELETED = 3;
/** What a header can carry. */
const SECRET = /^[\x21-\x2b\x2d-\x7e]{1,253}$/;
/** The ratios of groups if none were saved: `setting/ratio_setting/group_ratio.go`, `relay/billing/ratio/group.go`. */
const USUAL_RATIOS: Row = { default: 1, vip: 1, svip: 1 };

/** Such a database, open. `perUnit`: quota units in one currency unit here. */
export function oneApiSource(program: 'one-api' | 'new-api', database: Database, perUnit: number): Source {
  return {
    program,
    family: 'one-api',
    inventory: () => read(program, database, BigInt(perUnit)),
    usage: (most) => readUsage(program, database, BigInt(perUnit), most),
    history: (unitOf) => readHistory(program, database, BigInt(perUnit), unitOf),
    close: () => database.close(),
  };
}

async function read(program: 'one-api' | 'new-api', database: Database, perUnit: bigint): Promise<Inventory> {
  const { channels, options: optionRows } = await coreTables(program, database);
  const options = optionsOf(optionRows);
  const quotaPerUnit = quotaPerUnitOf(options.texts);
  const amounts = amountsIn(perUnit, quotaPerUnit);
  const site = await siteOf(program, database, options);
  const upstreams = readChannels(site, channels);
  const people = await readPeople(program, database, amounts.micro);
  const placing = placement(rulesOf(program, options, upstreams, people));
  const servings = servingsOf(channels);
  const facts = {
    program,
    options: options.texts,
    schema: await schemaOf(database),
    isUnsetAccepted: people.accepting.size > 0,
  };
  const list = await recordedPriceList(facts, servings, (most) => readUsage(program, database, perUnit, most));
  const priced = withPrices(list, upstreams.models, servings);
  const keys = await readKeys(database, people, placing, upstreams, {
    micro: amounts.micro,
    models: program === 'new-api' ? newApiModels : oneApiModels,
    addresses: program === 'new-api' ? newApiAddresses(await database.columns('tokens')) : oneApiAddresses,
    place: (cells, userGroup) => placing.of(userGroup, cells.text('group')),
    limited: limiting(people, placing, upstreams, priced),
  });
  const around = { program, database, channels, options, perUnit, quotaPerUnit, amounts };
  return inventoryOf(around, { people, placing, keys, upstreams, priced }, (renamed) =>
    groupNotes(options, upstreams, people, renamed),
  );
}

/** What is read of a site of any of these programs. */
interface ReadParts {
  readonly people: People;
  readonly placing: Placement;
  readonly keys: Awaited<ReturnType<typeof readKeys>>;
  readonly upstreams: Upstreams;
  readonly priced: PricedModels;
}

/** The site itself. */
interface ReadSite {
  readonly program: 'one-api' | 'new-api' | 'one-hub';
  readonly database: Database;
  /** The rows of `channels`. */
  readonly channels: readonly Row[];
  readonly options: Options;
  readonly perUnit: bigint;
  readonly quotaPerUnit: Decimal;
  readonly amounts: Amounts;
}

/**
 * All of it, with holdings, settings, what is left, and the names that groups have here. `groupNotes`: what is to be told of groups; `renamed`: those
 * that have another name here.
 */
export async function inventoryOf(
  { program, database, channels, options, perUnit, quotaPerUnit, amounts }: ReadSite,
  { people, placing, keys, upstreams, priced }: ReadParts,
  groupNotes: (renamed: ReadonlyMap<string, string>) => readonly Note[],
): Promise<Inventory> {
  const holdings = await readHoldings(program, database, amounts.micro, perUnit);
  const settings = readSettings({ program, options, perUnit, quotaPerUnit });
  const names = groupNames();
  const renamed = renameGroups({ groups: placing.groups(), keys: keys.keys }, names.of);
  const owners = people.owners.map((user) => inRenamed(user, names.of, USUAL_GROUP));
  return {
    ...EMPTY,
    ...holdings,
    groups: renamed.groups,
    users: owners,
    keys: renamed.keys,
    channels: upstreams.channels,
    models: priced.models,
    sections: { ...settings.sections, ...holdings.sections },
    notes: [
      ...amounts.notes,
      ...people.notes,
      ...groupNotes(names.renamed),
      ...keys.notes,
      ...upstreams.notes,
      ...priced.notes,
      ...settings.notes,
      ...holdings.notes,
      ...people.unread,
      ...unreadColumns({ channels, tokens: keys.sample }),
      ...(await tableNotes(database)),
    ],
  };
}

/** Takes from keys what has no price there, unless their users accept such models. A list that a key has not got itself is one for its whole group. */
function limiting(
  people: People,
  placing: Placement,
  upstreams: Upstreams,
  priced: PricedModels,
): (key: ForeignKey) => ForeignKey {
  const ofGroups = new Map<string, readonly string[]>();
  return (key) => {
    const own = people.accepting.has(key.user) ? key : withoutUnpriced(key, priced);
    if (key.models === own.models) return own;
    const group = groupOf(key, people);
    const models =
      (key.models === undefined ? ofGroups.get(group) : undefined) ?? inGroup(own, people, placing, upstreams);
    if (key.models === undefined) ofGroups.set(group, models);
    return { ...own, models };
  };
}

const groupOf = ({ group, user }: ForeignKey, people: People): string =>
  group ?? people.groupOf.get(user) ?? USUAL_GROUP;

/** The models of a key that its group serves; all of them if it serves none. */
function inGroup(key: ForeignKey, people: People, placing: Placement, { modelsOf }: Upstreams): readonly string[] {
  const { models = [] } = key;
  const groups = placing.members(groupOf(key, people));
  const served = models.filter((model) => groups.some((name) => modelsOf.get(name)?.has(model) === true));
  return served.length === 0 ? models : served;
}

/** The tables without which it is no such database; without the rows of `users` and `tokens`, which may be very many. */
export async function coreTables(
  program: string,
  database: Database,
): Promise<{ readonly channels: readonly Row[]; readonly options: readonly Row[] }> {
  const [channels, options] = [await database.rows('channels'), await database.rows('options')];
  const [users, tokens] = [await database.columns('users'), await database.columns('tokens')];
  if (users.length === 0 || tokens.length === 0 || channels === undefined) {
    throw new Error(`this is not a database of ${program}: it does not have the tables users, tokens and channels`);
  }
  // Without it, all ratios and settings would be the program's defaults.
  if (options === undefined)
    throw new Error(`this is not a whole database of ${program}: it does not have the table options`);
  return { channels, options };
}

/** Amounts of quota, in micro-quota of this gateway. */
export interface Amounts {
  /** The amount in a column. `table` is for errors. */
  micro(row: Row, column: string, table?: string): bigint;
  readonly notes: readonly Note[];
}

/** `quotaPerUnit`: quota units per currency unit there. */
export function amountsIn(perUnit: bigint, quotaPerUnit: Decimal): Amounts {
  const [there, here] = [quotaPerUnit.digits, MICRO * perUnit * 10n ** BigInt(quotaPerUnit.scale)];
  const why = `${decimalText(quotaPerUnit)} per currency unit there, ${perUnit} here: amounts are rounded down to a millionth of a quota unit`;
  return {
    micro: (row, column, table = 'redemptions') => floored((cellsOf(table, row).whole(column) ?? 0n) * here, there),
    notes:
      here % there === 0n ? [] : [{ kind: 'changed', where: 'options.QuotaPerUnit', what: 'balances and limits', why }],
  };
}

async function siteOf(program: 'one-api' | 'new-api', database: Database, options: Options): Promise<Site> {
  const columns = await database.columns('channels');
  const isLate = columns.includes('channel_info');
  const safety = options.object('gemini.safety_settings');
  const versions = options.object('gemini.version_settings');
  return {
    program,
    isLate,
    typeOf: (type) => channelTypeOf(program, type, isLate),
    gemini: {
      version: textOf(versions ?? {}, 'default') ?? 'v1beta',
      // `setting/model_setting/gemini.go`; one-api: GEMINI_SAFETY_SETTING.
      safety: program === 'one-api' ? 'BLOCK_NONE' : thresholdOf(safety),
    },
    thinkers: new Set(
      textsIn(options, 'global.thinking_model_blacklist') ?? ['moonshotai/kimi-k2-thinking', 'kimi-k2-thinking'],
    ),
  };
}

/** The texts in a JSON list. */
function textsIn(options: Options, name: string): readonly string[] | undefined {
  const list = options.list(name);
  return list && asTexts(list);
}

/** Thresholds that the vendor `gemini` knows; another one would be refused by it anyhow. */
function thresholdOf(settings: Row | undefined): string | undefined {
  const threshold = settings === undefined ? 'OFF' : textOf(settings, 'default');
  return ['BLOCK_LOW_AND_ABOVE', 'BLOCK_MEDIUM_AND_ABOVE', 'BLOCK_ONLY_HIGH', 'BLOCK_NONE', 'OFF'].find(
    (each) => each === threshold,
  );
}

/** The users of a site. */
export interface People {
  /** With the groups that they have there. */
  readonly owners: readonly ForeignUser[];
  /** The groups of users, by their identifiers. */
  readonly groupOf: ReadonlyMap<string, string>;
  readonly nameOf: ReadonlyMap<string, string>;
  /** Users who accept models without a price. */
  readonly accepting: ReadonlySet<string>;
  readonly notes: readonly Note[];
  /** What of their rows is not read. */
  readonly unread: readonly Note[];
}

/** Reads the table `users`. Its rows, of which each has much more than is needed, are not kept. */
export async function readPeople(
  program: 'one-api' | 'new-api' | 'one-hub',
  database: Database,
  micro: Amounts['micro'],
): Promise<People> {
  const identities = await readIdentities(program, database, micro);
  const users = (await database.rows('users')) ?? [];
  const isDeleted = (row: Row): boolean =>
    textOf(row, 'deleted_at') !== undefined || cellsOf('users', row).number('status') === DELETED;
  const living = users.filter((row) => !isDeleted(row)).map((row) => cellsOf('users', row));
  const deleted = users.length - living.length;
  const why = 'they were deleted there';
  return {
    owners: living.map((cells) => ({ ...userOf(cells, micro), ...identityOf(cells.row, identities) })),
    groupOf: new Map(living.map((cells) => [cells.text('id') ?? '', cells.text('group') ?? USUAL_GROUP])),
    nameOf: new Map(living.map((cells) => [cells.text('id') ?? '', cells.text('username') ?? ''])),
    accepting: new Set(users.filter(acceptsUnpriced).map((row) => textOf(row, 'id') ?? '')),
    notes: [
      ...(deleted === 0 ? [] : [{ kind: 'left', where: 'users', what: 'deleted users', why, count: deleted } as const]),
      ...identities.notes,
    ],
    unread: [...unreadColumns({ users }), ...userNotes(living)],
  };
}

/** A user, without what `identityOf` adds. */
function userOf(cells: Cells, micro: Amounts['micro']): ForeignUser {
  const role = cells.number('role') ?? 1;
  const id = cells.text('id') ?? '';
  const displayName = cells.text('display_name');
  return {
    id,
    name: readableName(cells.text('username'), `user-${id}`),
    displayName: displayName && readableName(displayName, `user-${id}`),
    email: cells.text('email'),
    role: role >= ROOT ? 'root' : role >= ADMIN ? 'admin' : 'member',
    enabled: (cells.number('status') ?? ENABLED) === ENABLED,
    group: cells.text('group') ?? USUAL_GROUP,
    remark: cells.text('remark'),
    balance: micro(cells.row, 'quota', 'users'),
    isPerson: true,
  };
}

/** What the programs say differently about their keys. */
export interface KeyRules {
  readonly micro: Amounts['micro'];
  models(cells: Cells): KeyList;
  addresses(cells: Cells): KeyList;
  /** Its group, or why it is refused there. */
  place(cells: Cells, userGroup: string): ReturnType<Placement['of']>;
  /** Takes models from it that it cannot use there. */
  limited?(key: ForeignKey): ForeignKey;
}

export interface ReadKeys {
  readonly keys: Things<ForeignKey>;
  readonly notes: readonly Note[];
  /** Some of the rows. */
  readonly sample: readonly Row[];
}

/**
 * Reads the table `tokens`. A key that could do more here than there is disabled, with the reason. Each row becomes at once what is kept of it: there
 * may be a hundred thousand.
 */
export async function readKeys(
  database: Database,
  people: People,
  placing: Placement,
  { modelsOf, models }: Pick<Upstreams, 'modelsOf' | 'models'>,
  rules: KeyRules,
): Promise<ReadKeys> {
  const keys = new Packed<ForeignKey>();
  const notes: Note[] = [];
  const sample: Row[] = [];
  let deleted = 0;
  const servedIn = (groups: readonly string[], name: string): boolean =>
    groups.some((group) => modelsOf.get(group)?.has(name) === true);
  for await (const row of database.each('tokens')) {
    if (textOf(row, 'deleted_at') !== undefined) {
      deleted++;
      continue;
    }
    if (sample.length < MOST_SAMPLES) sample.push(row);
    const cells = cellsOf('tokens', row);
    const user = cells.text('user_id') ?? '';
    const name = readableName(cells.text('name'), `key-${cells.text('id') ?? ''}`);
    const userGroup = people.groupOf.get(user);
    const what = `key ${name}${userGroup === undefined ? '' : ` of ${people.nameOf.get(user)}`}`;
    const tell = (kind: Note['kind'], why: string): void => void notes.push({ kind, where: 'tokens', what, why });
    if (userGroup === undefined) {
      tell('left', 'its user was deleted');
      continue;
    }
    const state = stateOf(cells);
    const place = rules.place(cells, userGroup);
    const listed = rules.models(cells);
    const addresses = rules.addresses(cells);
    const group = 'refused' in place ? undefined : place.group;
    const groups = placing.members(group ?? userGroup);
    // Models of other groups only would be refused there; those that no channel serves yet are kept.
    const served = listed.list?.filter((model) => !models.has(model) || servedIn(groups, model));
    const list = served?.length === 0 ? listed.list : served;
    // There, calls of such a key are refused, too.
    const refusals = [
      ...('refused' in place ? [place.refused] : []),
      ...(list?.length === 0 ? ['it is limited to models, and its list has none'] : []),
      ...(addresses.list?.length === 0
        ? ['it is limited to addresses, and its list has none that is valid there']
        : []),
    ];
    const isUsed = (cells.number('status') ?? ENABLED) !== 2;
    if (isUsed && state.refused !== undefined) tell('decide', `it is disabled here: ${state.refused}`);
    if (isUsed)
      for (const why of refusals) tell('changed', `its calls are refused there, so it is disabled here: ${why}`);
    if (listed.ignored.length > 0)
      tell('changed', `names of models that match nothing there are left out: ${listed.ignored.join(', ')}`);
    if (addresses.ignored.length > 0)
      tell('changed', `addresses that match nothing there are left out: ${addresses.ignored.join(', ')}`);
    if (cells.truth('cross_group_retry')) {
      tell('changed', 'a call that fails in one group is not tried in the next one (cross_group_retry)');
    }
    const secret = secretOf(row);
    const digest = keyIdOf(row);
    const key: ForeignKey = {
      id: digest,
      user,
      name,
      secret: SECRET.test(secret.slice(3))
        ? { hash: digest, prefix: secret.slice(0, 7), suffix: secret.slice(-4) }
        : undefined,
      allowance: cells.truth('unlimited_quota') ? undefined : grantable(rules.micro(row, 'remain_quota', 'tokens')),
      models: list?.length === 0 ? undefined : list,
      addresses: addresses.list?.length === 0 ? undefined : addresses.list,
      expiresMs: state.expiresMs,
      group,
      enabled: state.enabled && refusals.length === 0,
    };
    keys.push(rules.limited?.(key) ?? key);
  }
  if (deleted > 0)
    notes.push({ kind: 'left', where: 'tokens', what: 'deleted keys', why: 'they were deleted there', count: deleted });
  return { keys, notes, sample };
}

const MOST_SAMPLES = 1_000;

/** one-api: a list of names, or none. */
function oneApiModels({ row }: Cells): KeyList {
  const text = typeof row.models === 'string' ? row.models : '';
  return modelList(text === '' ? undefined : text.split(','));
}

/** new-api: a switch and a list; with an empty list, no model is allowed. */
function newApiModels(cells: Cells): KeyList {
  if (!cells.truth('model_limits_enabled')) return modelList(undefined);
  const text = typeof cells.row.model_limits === 'string' ? cells.row.model_limits : '';
  return modelList(text.split(','), isGizmo);
}

/** one-api: networks, separated by commas. */
function oneApiAddresses({ row }: Cells): KeyList {
  const text = typeof row.subnet === 'string' ? row.subnet : '';
  return addressList(text === '' ? [] : text.split(','), 'networks');
}

/** new-api: one in each line, without spaces and commas; networks since it has `cross_group_retry`, before that they match no address. */
function newApiAddresses(columns: readonly string[]): (cells: Cells) => KeyList {
  const rule: AddressRule = columns.includes('cross_group_retry') ? 'both' : 'addresses';
  return ({ row }) => {
    const text = typeof row.allow_ips === 'string' ? row.allow_ips : '';
    return addressList(partsOf(text.replaceAll(/[ ,]/g, ''), '\n'), rule);
  };
}

/** The ratios of groups, and who may use which. */
function rulesOf(
  program: 'one-api' | 'new-api',
  options: Options,
  { groups, allGroups }: Upstreams,
  people: People,
): GroupRules {
  const ratios = options.object('GroupRatio') ?? options.object('group_ratio_setting.group_ratio') ?? USUAL_RATIOS;
  const others = options.object('GroupGroupRatio') ?? options.object('group_ratio_setting.group_group_ratio') ?? {};
  const factors = new Map(
    Object.entries(ratios).map(([group, ratio]) => [group, factorIn(`options, GroupRatio, ${group}`, ratio)]),
  );
  const ownFactors = new Map(
    Object.entries(others).map(([userGroup, value]) => {
      const where = `options, GroupGroupRatio, ${userGroup}`;
      const of = objectIn(value, (what) => unreadable(where, value, what));
      return [
        userGroup,
        new Map(Object.entries(of).map(([group, ratio]) => [group, factorIn(`${where}, ${group}`, ratio)])),
      ] as const;
    }),
  );
  const ofUsers = new Set([...people.groupOf.values(), ...factors.keys()]);
  const known = new Set([...factors.keys(), ...allGroups]);
  const shared = { known, channels: groups, factors, ownFactors, ofUsers };
  if (program === 'one-api') return { ...shared, usable: () => new Set(), auto: [] };
  const usual = namesOf(options.object('UserUsableGroups') ?? { default: '', vip: '' });
  const special = options.object('group_ratio_setting.group_special_usable_group') ?? {};
  return {
    ...shared,
    auto: textsIn(options, 'AutoGroups') ?? ['default'],
    usable(userGroup) {
      const usable = new Set([...usual, userGroup]);
      const own = Object.hasOwn(special, userGroup) ? special[userGroup] : undefined;
      const changes = objectIn(own, (what) =>
        unreadable(`options, group_ratio_setting.group_special_usable_group, ${userGroup}`, own, what),
      );
      for (const name of Object.keys(changes)) {
        if (name.startsWith('-:')) usable.delete(name.slice(2));
        else usable.add(name.startsWith('+:') ? name.slice(2) : name);
      }
      return usable;
    },
  };
}

/** Tells of users in a group that serves nothing here: a decision only if it serves something there. */
export function unservedNote(group: string, count: number, { allGroups }: Upstreams): Note {
  const about = { where: 'groups', what: `users of the group ${group}`, count };
  return allGroups.has(group)
    ? {
        ...about,
        kind: 'decide',
        why: 'none of its channels is taken over: calls of its users are refused, unless their keys have another group',
      }
    : {
        ...about,
        kind: 'left',
        why: 'no channel in use serves it: calls of its users are refused, as there, unless their keys have another group',
      };
}

/** Groups of users that serve nothing, pay no ratio of their own, or have another name here. */
function groupNotes(
  options: Options,
  upstreams: Upstreams,
  people: People,
  renamed: ReadonlyMap<string, string>,
): readonly Note[] {
  const { groups } = upstreams;
  const ratios = options.object('GroupRatio') ?? options.object('group_ratio_setting.group_ratio') ?? USUAL_RATIOS;
  const counts = new Map<string, number>();
  for (const group of people.groupOf.values()) counts.set(group, (counts.get(group) ?? 0) + 1);
  return [
    ...[...counts].flatMap(([group, count]): readonly Note[] => {
      if (!groups.has(group)) return [unservedNote(group, count, upstreams)];
      if (Object.hasOwn(ratios, group)) return [];
      return [
        {
          kind: 'changed',
          where: 'groups',
          what: `group ${group}`,
          why: 'it has no ratio: its users pay the full price, as there',
        },
      ];
    }),
    ...(ratios === USUAL_RATIOS ? [] : Object.keys(ratios))
      .filter((group) => !groups.has(group) && !counts.has(group))
      .map(
        (group): Note => ({
          kind: 'left',
          where: 'groups',
          what: `group ${group}`,
          why: 'no channel serves it, and no user is in it',
        }),
      ),
    ...[...renamed].map(
      ([name, own]): Note => ({
        kind: 'changed',
        where: 'groups',
        what: `group ${name}`,
        why: `its name is ${own} here`,
      }),
    ),
  ];
}

/** Groups and keys with the names that groups have here. */
function renameGroups(
  { groups, keys }: Pick<Inventory, 'groups' | 'keys'>,
  nameOf: (name: string) => string,
): Pick<Inventory, 'groups' | 'keys'> {
  return {
    groups: groups.map((group) => groupRenamed(group, nameOf)),
    keys: viewed(keys, (key) => (key.group === undefined ? key : inRenamed(key, nameOf, key.group))),
  };
}

/** The same thing in the group with the name that this has here: itself, if it is the same name. `usual`: its group if it names none. */
function inRenamed<T extends { readonly group?: string | undefined }>(
  thing: T,
  nameOf: (name: string) => string,
  usual: string,
): T {
  const name = nameOf(thing.group ?? usual);
  return name === thing.group ? thing : { ...thing, group: name };
}
