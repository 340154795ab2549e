/**
 * Merges the imported sections into those of the running gateway.yaml, as edits: what is there stays. A channel whose name is taken gets another one,
 * a model that exists gets the imported channels in addition, and other values that differ are told and left, unless the import updates.
 */
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { TextEdit } from '../../core/contracts/configuring.ts';
import type { Json, JsonObject } from '../../core/plugin.ts';
import { isPublicAddress } from '../../core/sdk.ts';
import { createVariables, sectionsOf } from './gateway-file.ts';
import type { ForeignChannel, ForeignGroup, ForeignModel, Inventory, Note } from './inventory.ts';
import { groupRenamed, withSuffix } from './names.ts';
import { viewed } from './packed.ts';

/** What happens, or would happen, to one thing in gateway.yaml. */
export interface ConfigChange {
  readonly kind: 'channel' | 'model' | 'alias' | 'price' | 'group' | 'section' | 'secret';
  /** Its name here: `main`, `mail.smtp`. */
  readonly name: string;
  /** `differs`: it is here with other values, which stay unless the import updates. */
  readonly state: 'new' | 'changed' | 'unchanged' | 'differs';
  /** What is, or would be, changed, or what differs: `weight 1 here, 2 there`. */
  readonly text: string;
}

/** The result. */
export interface Merge {
  /** Of single values; each changes little. */
  readonly edits: readonly TextEdit[];
  /** What is added to lists and maps, several for each. */
  readonly additions: readonly TextEdit[];
  /** The secrets that the edits refer to, by the names that they have in the database. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly changes: readonly ConfigChange[];
  readonly notes: readonly Note[];
  /** The inventory with the names that channels have here. */
  readonly inventory: Inventory;
}

/** What is here already. */
export interface Here {
  /** The current gateway.yaml as data, with its `${…}` as written. */
  readonly config: JsonObject;
  /** The configuration is in the database: `EARLY` sections are not part of it. */
  readonly isStored: boolean;
  /** The secrets of the database: true for those that an import of the same kind of gateway has written. */
  readonly secrets: ReadonlyMap<string, boolean>;
  /** The channels that imports of the same kind of gateway have written. */
  readonly channels: ReadonlySet<string>;
  /** The groups of accounts that are neither root nor from such an import. */
  readonly accountGroups: ReadonlySet<string>;
}

/** How to merge. */
export interface MergeOptions {
  /** Put behind a name that is taken: `new-api`. */
  readonly program: string;
  /** Values that differ become those of the other gateway. */
  readonly update: boolean;
  /** False: variables of the machine may not be named, so channels that have their key there are off. */
  readonly variables: boolean;
  /** Writes the secrets themselves instead of references to them: for a check. */
  readonly isCheck?: boolean;
}

/** The form of a reference to a secret or a variable. */
const REFERENCE = /^\$\{(secret:)?(IMPORTED_[A-Z0-9_]+)(?::-)?\}$/;

/** Sections that are in the file of each gateway if the others are in the database. */
const EARLY: ReadonlySet<string> = new Set(['listen', 'store', 'config']);

/** The base URL of a channel that is off, because its own is in a variable: a name that never exists (RFC 2606). */
const NOWHERE = 'https://unset.invalid';

/** The group of accounts that have no other. */
const DEFAULT_GROUP = 'default';

/** The longest value that is told in full. */
const LONGEST_TOLD = 60;

/** Merges. */
export function mergeInto(here: Here, given: Inventory, options: MergeOptions): Merge {
  const { program, update, variables: mayName, isCheck = false } = options;
  const config = { ...here.config };
  const edits: TextEdit[] = [];
  const additions: TextEdit[] = [];
  const changes: ConfigChange[] = [];
  const notes: Note[] = [];
  const note = (kind: Note['kind'], what: string, why: string): void =>
    void notes.push({ kind, where: 'gateway.yaml', what, why });
  const differs = (
    kind: ConfigChange['kind'],
    name: string,
    text: string,
    path: TextEdit['path'],
    value: Json,
  ): void => {
    changes.push({ kind, name, state: update ? 'changed' : 'differs', text });
    if (update) edits.push({ path, value });
  };

  // ---- channels: their names here come first, because models and groups refer to them

  const channelsHere = listOf(config.channels);
  const byName = new Map(channelsHere.map((entry, i) => [String(entry.name), { entry, i }]));
  const taken = new Set(byName.keys());
  const names = new Map<string, string>();
  for (const channel of given.channels) {
    const name = firstOf(channel.name, program, (each) => {
      const there = byName.get(each);
      return there === undefined ? !taken.has(each) : isOwn(there.entry, channel, here.secrets);
    });
    names.set(channel.name, name);
    taken.add(name);
    if (name !== channel.name)
      note('changed', `channel ${channel.name}`, `a channel of this name is here: the imported one is called ${name}`);
  }
  const now = new Set(names.values());
  for (const name of here.channels)
    if (byName.has(name) && !now.has(name) && given.channels.length > 0)
      note(
        'decide',
        `channel ${name}`,
        'it is off or deleted there since it was imported: it stays here until you remove it',
      );
  const groupsHere = mapOf(config.groups);
  const grouping = groupsOf(renamed(given, names), {
    program,
    groupsHere,
    channelsHere: [...byName.keys()],
    imported: new Set([...names.values(), ...here.channels]),
    accountGroups: here.accountGroups,
  });
  const { inventory } = grouping;
  notes.push(...grouping.notes);

  // A secret that is here keeps its name, so that a later import finds it.
  const kept = new Map<string, string>();
  for (const { name } of inventory.channels) {
    const there = byName.get(name);
    if (there === undefined) continue;
    for (const [i, text] of keysOf(there.entry).entries()) {
      const found = REFERENCE.exec(text)?.[2];
      if (found !== undefined) kept.set(`${name}_KEY${i === 0 ? '' : `_${i + 1}`}`, found);
    }
  }
  const variables = createVariables((name) => here.secrets.get(name) === false || [...kept.values()].includes(name));
  const secrets = new Map<string, string>();
  const sections = sectionsOf(inventory, (secret) => {
    const name = kept.get(secret.variable) ?? variables.of(secret);
    secrets.set(name, secret.value);
    return isCheck ? secret.value.replaceAll('${', () => '$${') : `\${secret:${name}}`;
  });

  for (const written of sections.channels) {
    const { name } = written;
    const there = byName.get(name);
    const isForeign = !mayName && namesVariable(written);
    const entry = isForeign ? withoutVariables(written) : written;
    if (there === undefined) {
      if (isLocal(entry.url))
        note(
          'decide',
          `channel ${name}`,
          'its base URL is on a private network, or on the machine itself: check that it means the same server from here',
        );
      if (isForeign)
        note(
          'decide',
          `channel ${name}`,
          'it names variables of the machine there: it is off until its key and its URL are set here',
        );
      changes.push({ kind: 'channel', name, state: 'new', text: `vendor ${String(entry.vendor)}` });
      additions.push({ path: ['channels', channelsHere.length + count(additions, 'channels')], value: entry });
      continue;
    }
    const isVariable = keysOf(there.entry).some((text) => text.startsWith('${IMPORTED_'));
    // Its variables were set by hand: they go on.
    const wanted = isVariable || isCheck ? withKeysOf(there.entry, entry) : entry;
    const text = differencesOf(there.entry, wanted);
    if (text === undefined) changes.push({ kind: 'channel', name, state: 'unchanged', text: '' });
    else differs('channel', name, text, ['channels', there.i], { ...withKeysOf(wanted, there.entry), ...wanted });
  }

  // ---- models and aliases

  const modelsHere = mapOf(config.models);
  const isKnown = (name: string): boolean =>
    Object.hasOwn(modelsHere, name) || Object.hasOwn(sections.models, name) || matchesPattern(name, modelsHere);
  const left = new Set<string>();
  const addTo = (section: string, name: string, value: Json): void =>
    void additions.push({ path: [section, name], value });
  for (const [name, wanted] of Object.entries(sections.models)) {
    const isAlias = 'alias' in wanted;
    const kind = isAlias ? 'alias' : 'model';
    if (isAlias && !isKnown(String(wanted.alias))) {
      note('left', `alias ${name}`, `there is no model ${String(wanted.alias)}`);
      left.add(name);
      continue;
    }
    const entry = withKnown(wanted, isKnown, (missing) =>
      note('changed', `model ${name}`, `its fallback ${missing} is no model here and was left out`),
    );
    const there = Object.hasOwn(modelsHere, name) ? mapOf(modelsHere[name]) : undefined;
    if (there === undefined) {
      changes.push({ kind, name, state: 'new', text: '' });
      addTo('models', name, entry);
    } else if (isAlias || 'alias' in there) {
      if (isDeepStrictEqual(there, entry)) changes.push({ kind, name, state: 'unchanged', text: '' });
      else {
        left.add(name);
        note('decide', `${kind} ${name}`, 'another model or alias has this name here, and stays');
      }
    } else mergeModel(name, there, entry);
  }

  function mergeModel(name: string, there: JsonObject, entry: JsonObject): void {
    const [from, wanted] = [arrayOf(there.from), arrayOf(entry.from)];
    const added = wanted.filter((each) => !from.some((one) => isDeepStrictEqual(one, each)));
    if (added.length > 0) {
      const text = `${from.length === 0 ? 'its' : 'more'} channels: ${added.map(told).join(', ')}`;
      changes.push({ kind: 'model', name, state: 'changed', text });
      edits.push({ path: ['models', name, 'from'], value: [...from, ...added] });
      if (from.length > 0)
        note('changed', `model ${name}`, 'it is here already: the imported channels were added behind its own');
    } else changes.push({ kind: 'model', name, state: 'unchanged', text: '' });
    for (const member of ['fallback', 'free'] as const) {
      const value = entry[member];
      if (value === undefined || isDeepStrictEqual(there[member], value)) continue;
      const said = `${member} ${there[member] === undefined ? 'none' : told(there[member])} here, ${told(value)} there`;
      differs('model', name, said, ['models', name, member], value);
    }
  }

  // ---- prices

  const pricesHere = mapOf(config.prices);
  for (const [name, price] of Object.entries(sections.prices)) {
    if (left.has(name)) continue;
    const model = Object.hasOwn(modelsHere, name) ? mapOf(modelsHere[name]) : undefined;
    const own = Object.hasOwn(pricesHere, name) ? pricesHere[name] : undefined;
    const now = own ?? model?.price;
    if (now === undefined && model?.free === true) {
      note('decide', `price of ${name}`, 'the model is free here, and stays so');
    } else if (now === undefined) {
      changes.push({ kind: 'price', name, state: 'new', text: told(price) });
      addTo('prices', name, price);
      if (model !== undefined && model.alias === undefined && arrayOf(model.from).some((each) => !isImported(each)))
        note('changed', `price of ${name}`, 'it had the list price here, and has the imported one');
    } else if (isDeepStrictEqual(now, price)) changes.push({ kind: 'price', name, state: 'unchanged', text: '' });
    else {
      const path = own === undefined ? ['models', name, 'price'] : ['prices', name];
      differs('price', name, `${told(now)} here, ${told(price)} there`, path, price);
    }
  }
  function isImported(from: Json): boolean {
    const channel = typeof from === 'string' ? from : Object.keys(mapOf(from))[0];
    return inventory.channels.some(({ name }) => name === channel);
  }

  // ---- groups, and all other sections

  for (const [name, group] of [...grouping.added, ...Object.entries(sections.groups)]) {
    const there = Object.hasOwn(groupsHere, name) ? mapOf(groupsHere[name]) : undefined;
    if (there === undefined) {
      changes.push({ kind: 'group', name, state: 'new', text: '' });
      addTo('groups', name, group);
      continue;
    }
    const added = arrayOf(group.channels).filter((channel) => !arrayOf(there.channels).includes(channel));
    if (there.channels !== undefined && added.length > 0) {
      changes.push({ kind: 'group', name, state: 'changed', text: `more channels: ${added.map(told).join(', ')}` });
      edits.push({ path: ['groups', name, 'channels'], value: [...arrayOf(there.channels), ...added] });
      continue;
    }
    const text = differencesOf(there, { ...group, ...(there.channels !== undefined && { channels: there.channels }) });
    if (text === undefined) changes.push({ kind: 'group', name, state: 'unchanged', text: '' });
    else
      differs('group', name, text, ['groups', name], {
        ...there,
        ...group,
        ...(there.channels && { channels: there.channels }),
      });
  }
  const pipeline = arrayOf(config.pipeline);
  if (changes.some(({ kind }) => kind === 'group') && pipeline.length > 0 && !pipeline.includes('groups')) {
    // A gateway.yaml of an older release.
    changes.push({ kind: 'section', name: 'pipeline', state: 'changed', text: 'plugin groups' });
    additions.push({ path: ['pipeline', pipeline.length], value: 'groups' });
  }
  for (const [name, section] of Object.entries(sections.others)) {
    if (here.isStored && EARLY.has(name))
      note('decide', name, `set it in gateway.yaml of each gateway: ${told(section)}`);
    else mergeSetting([name], config[name], section);
  }

  /** Maps are merged member by member, lists of named things by their names. */
  function mergeSetting(path: readonly (string | number)[], now: Json | undefined, wanted: Json): void {
    const name = path.join('.');
    if (now === undefined || now === null) {
      changes.push({ kind: 'section', name, state: 'new', text: '' });
      additions.push({ path, value: wanted });
    } else if (isDeepStrictEqual(now, wanted)) {
      changes.push({ kind: 'section', name, state: 'unchanged', text: '' });
    } else if (isMap(now) && isMap(wanted)) {
      for (const [member, value] of Object.entries(wanted)) mergeSetting([...path, member], ownOf(now, member), value);
    } else if (isNamed(now) && isNamed(wanted)) {
      let end = now.length;
      for (const item of wanted) {
        const i = now.findIndex((each) => each.name === item.name);
        if (i === -1) mergeSetting([...path, end++], undefined, item);
        else mergeSetting([...path, i], now[i], item);
      }
    } else {
      const said = hasSecret(wanted) ? 'other secrets' : `${told(now)} here, ${told(wanted)} there`;
      differs('section', name, said, path, wanted);
    }
  }

  return { edits, additions: filled(additions, config), secrets, changes, notes, inventory };
}

/** What is here of groups, and of channels that they could have. */
interface GroupsHere {
  readonly program: string;
  readonly groupsHere: JsonObject;
  readonly channelsHere: readonly string[];
  /** Channels that are, or were, imported. */
  readonly imported: ReadonlySet<string>;
  readonly accountGroups: ReadonlySet<string>;
}

/**
 * Keeps imported accounts and those of this gateway apart: a key must not reach a channel that it did not reach before. An imported group gets another
 * name if accounts of this gateway use its name, and channels that are here are in no imported group.
 */
function groupsOf(
  given: Inventory,
  { program, groupsHere, channelsHere, imported, accountGroups }: GroupsHere,
): { readonly inventory: Inventory; readonly added: [string, JsonObject][]; readonly notes: readonly Note[] } {
  const notes: Note[] = [];
  const note = (what: string, why: string): void =>
    void notes.push({ kind: 'changed', where: 'gateway.yaml', what, why });
  const own = channelsHere.filter((name) => !imported.has(name));
  const isFirst = Object.keys(groupsHere).length === 0;
  const hasCallers = given.users.length + given.keys.length > 0;
  // The models of LiteLLM may all be in a file that was not given, and be set up here by hand.
  const isComplete = program !== 'litellm' || given.channels.length > 0;
  // Later imports of a gateway without groups leave it as it is: what was added to it since is for everyone.
  const isApart = own.length > 0 && (!isFirst || own.length === channelsHere.length);
  const all = [
    ...new Set([...given.channels.map(({ name }) => name), ...channelsHere.filter((each) => imported.has(each))]),
  ];
  const groups =
    given.groups.length === 0 && hasCallers && isComplete && isApart
      ? [{ name: DEFAULT_GROUP, channels: all }]
      : given.groups;
  if (groups.length === 0) return { inventory: given, added: [], notes };

  const isTakenHere = accountGroups.size > 0 && own.length > 0;
  const kept = isFirst && isTakenHere ? new Set([DEFAULT_GROUP, ...accountGroups]) : new Set<string>();
  const names = new Map<string, string>();
  const taken = new Set(groups.map(({ name }) => name));
  for (const group of groups) {
    const { name } = group;
    const other = withSuffix(name, `-${program}`);
    const isFree = (each: string): boolean => {
      if (each !== name && taken.has(each)) return false;
      if (!Object.hasOwn(groupsHere, each)) return !kept.has(each);
      return isImportedGroup(mapOf(groupsHere[each]), group, imported);
    };
    // The name that an earlier import gave it.
    const isOther = !taken.has(other) && Object.hasOwn(groupsHere, other) && isFree(other);
    const found = isOther ? other : firstOf(name, program, isFree);
    names.set(name, found);
    taken.add(found);
    if (found !== name)
      note(`group ${name}`, `accounts of this gateway use a group of this name: the imported one is called ${found}`);
  }

  const added: [string, JsonObject][] = [];
  if (isFirst && own.length > 0) {
    if (kept.size > 0) {
      // What its accounts reach now.
      for (const name of kept) {
        added.push([name, { channels: channelsHere }]);
        note(`group ${name}`, 'accounts of this gateway reach the channels that they reach now, and no imported ones');
      }
    } else {
      const name = firstOf(OWN_GROUP, program, (each) => !taken.has(each));
      added.push([name, { channels: own }]);
      const why = `imported keys do not reach the channels that were here already (${own.join(', ')}): give this group to keys and users that are to use them`;
      note(`group ${name}`, why);
    }
  }
  return { inventory: withGroups({ ...given, groups }, (name) => names.get(name) ?? name), added, notes };
}

/** The group of the channels that are here before the first import. */
const OWN_GROUP = 'own';

/** Whether a group of gateway.yaml was imported: it has an imported channel, or stands for groups, too. */
function isImportedGroup(there: JsonObject, { channels, of }: ForeignGroup, imported: ReadonlySet<string>): boolean {
  if (of !== undefined) return Array.isArray(there.of);
  if (!Array.isArray(there.channels)) return false;
  if ((channels ?? []).length === 0) return there.channels.length === 0;
  return there.channels.some((channel) => imported.has(String(channel)));
}

/** The inventory with other names of groups. */
function withGroups(inventory: Inventory, nameOf: (name: string) => string): Inventory {
  const { groups, keys, users } = inventory;
  const usual = nameOf(DEFAULT_GROUP);
  // Keys of root become keys of our root, whose account keeps its own group.
  const rootGroups = new Map(
    users
      .filter(({ role }) => role === 'root')
      .map(({ id, group }) => [id, group === undefined ? usual : nameOf(group)]),
  );
  return {
    ...inventory,
    groups: groups.map((group) => groupRenamed(group, nameOf)),
    users: users.map((user) => {
      const group = user.group === undefined ? usual : nameOf(user.group);
      return group === (user.group ?? DEFAULT_GROUP) ? user : { ...user, group };
    }),
    keys: viewed(keys, (key) => {
      const group = key.group === undefined ? rootGroups.get(key.user) : nameOf(key.group);
      return group === key.group ? key : { ...key, group };
    }),
  };
}

/** The first name that is free: the name itself, with the program behind it, with a number behind that. */
function firstOf(name: string, program: string, isFree: (name: string) => boolean): string {
  if (isFree(name)) return name;
  const other = withSuffix(name, `-${program}`);
  if (isFree(other)) return other;
  for (let number = 2; ; number++) {
    const next = withSuffix(name, `-${program}-${number}`);
    if (isFree(next)) return next;
  }
}

/** Whether a channel of gateway.yaml came from the same channel of the other gateway. */
function isOwn(entry: JsonObject, channel: ForeignChannel, secrets: Here['secrets']): boolean {
  if (entry.vendor !== channel.vendor) return false;
  const { key } = channel;
  const [first = ''] = keysOf(entry);
  if ('secret' in key) {
    const [, isSecret, name = ''] = REFERENCE.exec(first) ?? [];
    // Others may have a secret of this name, too.
    return name !== '' && (isSecret === undefined || secrets.get(name) === true);
  }
  return first === ('none' in key ? 'none' : `\${${key.variable}:-}`) && (entry.url ?? '') === (channel.url ?? '');
}

/** The keys of a channel of gateway.yaml, as written. */
function keysOf({ key, keys }: JsonObject): readonly string[] {
  return (Array.isArray(keys) ? keys : [key ?? '']).map(String);
}

/** Whether a URL has a private address, or a name of this machine. */
function isLocal(url: Json | undefined): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? /(?:^|\.)(?:localhost|local|internal)$|^[^.]+$/i.test(host) : !isPublicAddress(host);
}

/** Whether a value names an environment variable; secrets of the database are none. */
function namesVariable(value: Json): boolean {
  return /(?<!\$)\$\{(?!secret:)/.test(JSON.stringify(value));
}

/** A channel without what is in variables, off. */
function withoutVariables(channel: JsonObject & { readonly name: string }): JsonObject & { readonly name: string } {
  const kept = Object.entries(channel).filter(([, value]) => !namesVariable(value));
  const { keys: _, ...others } = Object.fromEntries(kept);
  return { ...others, name: channel.name, ...(channel.url !== undefined && { url: others.url ?? NOWHERE }), key: '' };
}

/** A channel with the keys of another one. */
function withKeysOf({ key, keys }: JsonObject, { key: _, keys: __, ...others }: JsonObject): JsonObject {
  return { ...others, ...(key !== undefined && { key }), ...(keys !== undefined && { keys }) };
}

/** The inventory with other names of channels. */
function renamed(inventory: Inventory, names: ReadonlyMap<string, string>): Inventory {
  const nameOf = (name: string): string => names.get(name) ?? name;
  const withNames = (model: ForeignModel): ForeignModel => ({
    ...model,
    from: model.from.map(({ channel, model: upstream }) => ({ channel: nameOf(channel), model: upstream })),
  });
  return {
    ...inventory,
    channels: inventory.channels.map((channel) => ({ ...channel, name: nameOf(channel.name) })),
    models: new Map([...inventory.models].map(([name, model]) => [name, withNames(model)])),
    groups: inventory.groups.map((group) =>
      group.channels === undefined ? group : { ...group, channels: group.channels.map(nameOf) },
    ),
  };
}

/** A model without fallbacks that do not exist. */
function withKnown(entry: JsonObject, isKnown: (name: string) => boolean, tell: (missing: string) => void): JsonObject {
  if (!Array.isArray(entry.fallback)) return entry;
  const { fallback, ...others } = entry;
  const known = fallback.filter((name) => {
    if (isKnown(String(name))) return true;
    tell(String(name));
    return false;
  });
  return { ...others, ...(known.length > 0 && { fallback: known }) };
}

function matchesPattern(name: string, models: JsonObject): boolean {
  return Object.keys(models).some((pattern) => {
    const at = pattern.indexOf('*');
    return at !== -1 && name.startsWith(pattern.slice(0, at)) && name.endsWith(pattern.slice(at + 1));
  });
}

/** The members of `wanted` that differ, in words; undefined: none does. */
function differencesOf(now: JsonObject, wanted: JsonObject): string | undefined {
  const words = Object.entries(wanted).flatMap(([member, value]) => {
    const there = ownOf(now, member);
    if (isDeepStrictEqual(there, value)) return [];
    if (hasSecret(value) || hasSecret(there ?? null)) return [`other ${member}`];
    return [`${member} ${there === undefined ? 'none' : told(there)} here, ${told(value)} there`];
  });
  return words.length === 0 ? undefined : words.join('; ');
}

/** A section that is missing, or empty, is added as a whole: there is no map or list to which single members could be added. */
function filled(additions: readonly TextEdit[], config: JsonObject): readonly TextEdit[] {
  const whole = new Map<string, [name: string | number, value: Json][]>();
  const rest: TextEdit[] = [];
  for (const edit of additions) {
    const [section = '', name] = edit.path;
    const now = config[section];
    const isEmpty = now === undefined || now === null || (typeof now === 'object' && isVacant(now));
    if (!isEmpty || edit.path.length !== 2) {
      rest.push(edit);
      continue;
    }
    const members = whole.get(String(section)) ?? [];
    members.push([name!, edit.value!]);
    whole.set(String(section), members);
  }
  const sections = [...whole].map(([section, members]): TextEdit => {
    const isList = typeof members[0]![0] === 'number';
    return { path: [section], value: isList ? members.map(([, value]) => value) : Object.fromEntries(members) };
  });
  return [...sections, ...rest];
}

/** Whether a map or a list has no member. */
function isVacant(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

const count = (edits: readonly TextEdit[], section: string): number =>
  edits.filter(({ path }) => path[0] === section).length;

function hasSecret(value: Json): boolean {
  return JSON.stringify(value).includes('${secret:');
}

/** A value for people. */
function told(value: Json): string {
  const text =
    isMap(value) && Object.values(value).every((each) => typeof each !== 'object')
      ? Object.entries(value)
          .map(([name, each]) => `${name} ${String(each)}`)
          .join(', ')
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  return text.length > LONGEST_TOLD ? `${text.slice(0, LONGEST_TOLD)}…` : text;
}

function isMap(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNamed(value: Json): value is (JsonObject & { readonly name: string })[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => isMap(each) && typeof each.name === 'string')
  );
}

const mapOf = (value: Json | undefined): JsonObject => (isMap(value) ? value : {});
const arrayOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const listOf = (value: Json | undefined): readonly JsonObject[] => arrayOf(value).map(mapOf);
const ownOf = (map: JsonObject, name: string): Json | undefined => (Object.hasOwn(map, name) ? map[name] : undefined);
