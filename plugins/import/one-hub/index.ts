/**
 * Reads one-hub, a fork of one-api with tables of its own for prices and groups, and limits of keys in a JSON column. Read on 2026-11-29:
 * `model/token.go`, `model/user_group.go`, `model/balancer.go`, `middleware/auth.go`, `middleware/distributor.go`, `relay/common.go` (387f8bf1).
 */
import { type Cells, cellsOf, factorIn } from '../cells.ts';
import type { Database } from '../databases.ts';
import type { Inventory, Note, Source } from '../inventory.ts';
import { readChannels, type Site, type Upstreams } from '../one-api/channels.ts';
import { readHistory } from '../one-api/history.ts';
import {
  amountsIn,
  coreTables,
  inventoryOf,
  type People,
  readKeys,
  readPeople,
  unservedNote,
} from '../one-api/index.ts';
import { type Options, optionsOf } from '../one-api/options.ts';
import { withPrices } from '../one-api/prices.ts';
import { addressList, type GroupRules, type KeyList, modelList, type Placement, placement } from '../one-api/rights.ts';
import { readUsage } from '../one-api/usage.ts';
import { asObject, asTexts, type Row, textOf } from '../values.ts';
import { oneHubTypeOf } from './channel-types.ts';
import { oneHubPrices } from './prices.ts';

/** Such a database, open. `perUnit`: quota units in one currency unit here. */
export function oneHubSource(database: Database, perUnit: number): Source {
  return {
    program: 'one-hub',
    family: 'one-hub',
    inventory: () => read(database, BigInt(perUnit)),
    usage: (most) => readUsage('one-hub', database, BigInt(perUnit), most),
    history: (unitOf) => readHistory('one-hub', database, BigInt(perUnit), unitOf),
    close: () => database.close(),
  };
}

const SITE: Site = {
  program: 'one-hub',
  isLate: true,
  typeOf: oneHubTypeOf,
  gemini: { version: 'v1beta', safety: undefined },
  thinkers: new Set(),
};

async function read(database: Database, perUnit: bigint): Promise<Inventory> {
  const { channels, options: optionRows } = await coreTables('one-hub', database);
  const options = optionsOf(optionRows);
  const storedGroups = await database.rows('user_groups');
  const list = oneHubPrices((await database.rows('prices')) ?? [], options.texts, await database.columns('prices'));
  const { quotaPerUnit } = list;
  const amounts = amountsIn(perUnit, quotaPerUnit);
  const upstreams = readChannels({ ...SITE, isLate: storedGroups !== undefined }, channels);
  const groupRows = storedGroups ?? groupsOfOption(options, upstreams);
  const people = await readPeople('one-hub', database, amounts.micro);
  const placing = placement(rulesOf(groupRows, upstreams, people));
  const keys = await readKeys(database, people, placing, upstreams, {
    micro: amounts.micro,
    models: modelsOf,
    addresses: addressesOf,
    place: (cells, userGroup) => placeOf(placing, cells, userGroup),
  });
  const priced = withPrices(list, upstreams.models, new Map());
  const around = { program: 'one-hub', database, channels, options, perUnit, quotaPerUnit, amounts } as const;
  return inventoryOf(around, { people, placing, keys, upstreams, priced }, () => [
    ...groupNotes(groupRows, upstreams, people),
    ...settingNotes(keys.sample),
  ]);
}

/** Groups before November 2024, when they became a table: their ratios in the option or the program, otherwise 1. A key had no group of its own. */
function groupsOfOption(options: Options, { allGroups }: Upstreams): readonly Row[] {
  const stored = options.object('GroupRatio') ?? {};
  const ratios = {
    ...Object.fromEntries([...allGroups, 'default', 'vip', 'svip'].map((name) => [name, 1])),
    ...stored,
  };
  return Object.entries(ratios).map(([symbol, ratio], index) => ({ id: index + 1, symbol, ratio }));
}

/** The groups that are in use: without one, a call is refused there. */
function rulesOf(rows: readonly Row[], { groups }: Upstreams, people: People): GroupRules {
  const entries = rows
    .map((row) => cellsOf('user_groups', row))
    .filter((cells) => cells.row.enable === undefined || cells.truth('enable'));
  const factors = new Map(
    entries.map((cells) => {
      const symbol = cells.text('symbol') ?? '';
      return [symbol, factorIn(`user_groups, id ${cells.text('id')}, ratio`, cells.row.ratio ?? 1)] as const;
    }),
  );
  const open = new Set(entries.filter((cells) => cells.truth('public')).map((cells) => cells.text('symbol') ?? ''));
  const all = new Set(factors.keys());
  return {
    known: all,
    channels: new Map([...groups].filter(([group]) => all.has(group))),
    factors,
    ownFactors: new Map(),
    usable: () => all,
    choosable: () => open,
    auto: [],
    ofUsers: new Set([...people.groupOf.values(), ...all]),
  };
}

/** A key has a group, and another one for models that this does not serve. */
function placeOf(placing: Placement, cells: Cells, userGroup: string): ReturnType<Placement['of']> {
  const first = placing.of(userGroup, cells.text('group'));
  const backup = cells.text('backup_group');
  if (backup === undefined) return first;
  const second = placing.of(userGroup, backup);
  if ('refused' in second) return first;
  // Without a group of its own it has to be usable there, too, or it is refused before its second one counts.
  if ('refused' in first) return first;
  const own = first.group ?? userGroup;
  if (own === backup) return first;
  const group = `${own}-or-${backup}`;
  placing.anyOf(group, [own, backup]);
  return { group };
}

/** `setting.limits` of `tokens`. */
const limitsOf = (cells: Cells): Row => asObject(cells.object('setting').limits);

/** With a limit and an empty list, no model is allowed. */
function modelsOf(cells: Cells): KeyList {
  const setting = asObject(limitsOf(cells).limit_model_setting);
  return modelList(setting.enabled === true ? asTexts(setting.models) : undefined);
}

/** With a limit and an empty list, every address is allowed. */
function addressesOf(cells: Cells): KeyList {
  const setting = asObject(limitsOf(cells).limits_ip_setting);
  return addressList(setting.enabled === true ? asTexts(setting.whitelist) : [], 'both');
}

/** Members of `setting` that have no place here. */
function settingNotes(tokens: readonly Row[]): readonly Note[] {
  const others = new Map<string, number>();
  for (const row of tokens) {
    for (const [name, value] of Object.entries(cellsOf('tokens', row).object('setting'))) {
      const isUsed =
        name === 'heartbeat' ? asObject(value).enabled === true : value !== null && value !== '' && value !== false;
      if (name !== 'limits' && isUsed) others.set(name, (others.get(name) ?? 0) + 1);
    }
  }
  return [...others].map(([name, count]) => ({
    kind: 'left',
    where: `tokens.setting.${name}`,
    what: `${name} of keys`,
    why: name === 'heartbeat' ? 'streams are kept open by themselves here' : 'this import does not know it',
    count,
  }));
}

function groupNotes(rows: readonly Row[], upstreams: Upstreams, people: People): readonly Note[] {
  const { groups } = upstreams;
  const known = new Map(rows.map((row) => [textOf(row, 'symbol') ?? '', cellsOf('user_groups', row)]));
  const isOn = (group: string): boolean => {
    const cells = known.get(group);
    return cells !== undefined && (cells.row.enable === undefined || cells.truth('enable'));
  };
  const counts = new Map<string, number>();
  for (const group of people.groupOf.values()) counts.set(group, (counts.get(group) ?? 0) + 1);
  const refused = [...counts].filter(([group]) => !isOn(group) || !groups.has(group));
  const rates = [...known].filter(([group, cells]) => isOn(group) && (cells.number('api_rate') ?? 0) > 0);
  return [
    ...refused.map(([group, count]): Note => {
      if (isOn(group)) return unservedNote(group, count, upstreams);
      const why = 'it is not in use there: calls of its users are refused, as there';
      return { kind: 'left', where: 'groups', what: `users of the group ${group}`, why, count };
    }),
    ...[...known.keys()]
      .filter((group) => !groups.has(group) && !counts.has(group))
      .map(
        (group): Note => ({
          kind: 'left',
          where: 'user_groups',
          what: `group ${group}`,
          why: 'no channel serves it, and no user is in it',
        }),
      ),
    ...rates.map(([group, cells]): Note => {
      const why = `at most ${cells.text('api_rate')} requests of a user within a minute: see \`limits.perAccount\``;
      return { kind: 'decide', where: 'user_groups.api_rate', what: `group ${group}`, why };
    }),
  ];
}
