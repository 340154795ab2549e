/**
 * Writes what was imported into the configuration of this gateway: the sections into gateway.yaml (or its text in the database) as one version with an
 * audit entry, the secrets into the database. What would result is checked before anything is written.
 */
import { createHmac } from 'node:crypto';
import { parse } from 'yaml';
import { Accounts } from '../../core/contracts/accounts.ts';
import { type Actor, Audit, COMMAND_LINE } from '../../core/contracts/audit.ts';
import { Configuring } from '../../core/contracts/configuring.ts';
import { DEFAULT_GROUP } from '../../core/contracts/groups.ts';
import type { Remark } from '../../core/contracts/running.ts';
import type { Host, Json, JsonObject, Step } from '../../core/plugin.ts';
import { type Inventory, type Note, Secret, type Setting } from './inventory.ts';
import { type ConfigChange, type Here, type Merge, mergeInto } from './merge.ts';
import { visible } from './names.ts';
import { nextTurn } from './unhurried.ts';

/** From what to import, and as whom. */
export interface ApplyOptions {
  readonly program: string;
  /** Programs that share identifiers share the memory of what was imported. */
  readonly family: string;
  /** Values that are here become those of the other gateway. */
  readonly update: boolean;
  /** `COMMAND_LINE`, or the user of the console, who may not name variables and files of the machine. */
  readonly actor: Actor;
}

/** What the configuration would become. */
export interface ConfigurationPlan {
  /** What can be imported: the inventory without settings that gateway.yaml cannot have. */
  readonly given: Inventory;
  /** The same with the names that channels have here. */
  readonly inventory: Inventory;
  readonly changes: readonly ConfigChange[];
  readonly notes: readonly Note[];
}

/** The same after it was written. */
export interface Applied extends Omit<ConfigurationPlan, 'given'> {
  /** The version of the configuration that was saved; undefined: nothing had to be changed. */
  readonly version: number | undefined;
}

/** The configuration cannot be merged, or would be invalid. Nothing was written. */
export class UnusableConfiguration extends Error {
  /** What is invalid, by path. */
  readonly problems: readonly Remark[];
  constructor(message: string, problems: readonly Remark[] = []) {
    super(message);
    this.problems = problems;
  }
}

/**
 * Finds out what the configuration would become, and checks all of that with the schemas and plugins of this gateway. Settings that make it
 * invalid are left, by name: an incomplete payment provider must not keep users and keys from being imported. Writes nothing. Throws
 * `UnusableConfiguration`.
 */
export async function planConfiguration(
  host: Host,
  inventory: Inventory,
  options: ApplyOptions,
): Promise<ConfigurationPlan> {
  const { here, text, digests } = await readHere(host, options.family);
  const how = { ...options, variables: options.actor === COMMAND_LINE };
  const notes: Note[] = [];
  for (let given = inventory; ; ) {
    const merge = mergeInto(here, given, how);
    await nextTurn();
    try {
      // References to secrets that are not in the database yet could not be read, so the check has the secrets in their place.
      await editedText(host, text, mergeInto(here, given, { ...how, isCheck: true }), options.actor);
    } catch (error) {
      const lesser = error instanceof UnusableConfiguration ? withoutSettings(given, error.problems) : undefined;
      if (lesser === undefined) throw error;
      notes.push(...lesser.notes);
      given = lesser.given;
      continue;
    }
    const plan = planOf(host, merge, digests, options.update);
    return { ...plan, given, notes: [...notes, ...plan.notes] };
  }
}

/** The inventory without the settings that some problems are about; undefined if none is. */
function withoutSettings(
  given: Inventory,
  problems: readonly Remark[],
): { readonly given: Inventory; readonly notes: readonly Note[] } | undefined {
  const sections: Record<string, Setting> = { ...given.sections };
  const notes: Note[] = [];
  for (const { path, message } of problems) {
    const [name = '', member = ''] = path.split(/[.[]/);
    const section = sections[name];
    if (typeof section !== 'object' || section instanceof Secret || Array.isArray(section)) continue;
    const { [member]: wrong, ...others } = section as Readonly<Record<string, Setting>>;
    if (wrong === undefined) continue;
    if (Object.keys(others).length > 0) sections[name] = others;
    else delete sections[name];
    notes.push({
      kind: 'decide',
      where: 'gateway.yaml',
      what: `${name}.${member}`,
      why: `it is not imported: ${path} ${message}`,
    });
  }
  return notes.length === 0 ? undefined : { given: { ...given, sections }, notes };
}

/**
 * Writes it. It reloads the gateway, so that services of the old configuration end: it is the last step of an import. Throws `UnusableConfiguration`
 * also if the configuration cannot be written, or was changed in the meantime.
 */
export async function applyInventory(host: Host, inventory: Inventory, options: ApplyOptions): Promise<Applied> {
  const { program, family, update, actor } = options;
  const configuring = configuringOf(host);
  const { here, text, revision, digests } = await readHere(host, family);
  const how = { ...options, variables: actor === COMMAND_LINE };
  const merge = mergeInto(here, inventory, how);
  await nextTurn();
  await editedText(host, text, mergeInto(here, inventory, { ...how, isCheck: true }), actor);
  const plan = planOf(host, merge, digests, update);

  const audited = (action: string, object: string, facts: JsonObject): readonly Step[] =>
    host.find(Audit)?.steps({ actor, action, object, facts: { imported: program, ...facts } }) ?? [];
  const written = plan.changes.filter(
    ({ kind, state }) => kind === 'secret' && (state === 'new' || state === 'changed'),
  );
  for (const { name } of written) {
    const value = merge.secrets.get(name)!;
    const steps = [noteStep(host, family, name, value), ...audited('config.secret.set', `secret ${name}`, {})];
    await configuring.setSecret(name, value, actor, steps);
  }
  if (merge.edits.length + merge.additions.length === 0) return { ...plan, version: undefined };

  const note = `import ${program}`;
  const saved = await configuring.save({
    text: await editedText(host, text, merge, actor),
    revision,
    note,
    actor,
    steps: (version) => [
      ...plan.inventory.channels.map(({ name }) => channelStep(host, family, name)),
      ...audited('config.save', 'gateway.yaml', { version, note }),
    ],
  });
  switch (saved.outcome) {
    case 'saved':
      return { ...plan, version: saved.version };
    case 'wrong':
      throw new UnusableConfiguration(`the configuration does not load with it:\n${linesOf(saved.problems)}`);
    case 'refused':
      throw new UnusableConfiguration(`the configuration cannot be written: ${saved.reason.message}`);
    case 'conflict':
      throw new UnusableConfiguration('the configuration was changed in the meantime: run the import again');
  }
}

function configuringOf(host: Host): Configuring {
  const configuring = host.find(Configuring);
  if (configuring === undefined) throw new UnusableConfiguration('this process cannot change the configuration');
  return configuring;
}

/** The configuration and the secrets that are here. */
async function readHere(host: Host, family: string) {
  const configuring = configuringOf(host);
  const { source, text, revision } = await configuring.written();
  const rows = await host.store.all<{ readonly name: string; readonly digest: string }>(
    "SELECT foreign_id AS name, name AS digest FROM imported WHERE source = ? AND kind = 'secret'",
    family,
  );
  const channels = await host.store.all<{ readonly name: string }>(
    "SELECT foreign_id AS name FROM imported WHERE source = ? AND kind = 'channel'",
    family,
  );
  const users = await host.store.all<{ readonly id: number }>(
    "SELECT own_id AS id FROM imported WHERE source = ? AND kind = 'user'",
    family,
  );
  const imported = new Set(users.map(({ id }) => id));
  const own = (await host.use(Accounts).list()).filter(({ id, role }) => role !== 'root' && !imported.has(id));
  await nextTurn();
  const digests = new Map(rows.map(({ name, digest }) => [name, digest]));
  const secrets = new Map((await configuring.secrets()).map(({ name }) => [name, digests.has(name)]));
  const here: Here = {
    config: (parse(text) ?? {}) as JsonObject,
    isStored: source === 'store',
    secrets,
    channels: new Set(channels.map(({ name }) => name)),
    accountGroups: new Set(own.map(({ group = DEFAULT_GROUP }) => group)),
  };
  // A secret that was deleted since is new again.
  for (const name of digests.keys()) if (!secrets.has(name)) digests.delete(name);
  return { here, text, revision, digests };
}

function planOf(
  host: Host,
  { inventory, changes, notes, secrets }: Merge,
  digests: ReadonlyMap<string, string>,
  update: boolean,
): Omit<ConfigurationPlan, 'given'> {
  const secretChanges = [...secrets].map(([name, value]): ConfigChange => {
    const before = digests.get(name);
    if (before === undefined) return { kind: 'secret', name, state: 'new', text: '' };
    if (before === digestOf(host, value)) return { kind: 'secret', name, state: 'unchanged', text: '' };
    return { kind: 'secret', name, state: update ? 'changed' : 'differs', text: 'another value there' };
  });
  return { inventory, changes: [...changes, ...secretChanges], notes };
}

/** Tells later imports whether a secret has changed; it cannot be computed back. */
function digestOf({ vault }: Pick<Host, 'vault'>, value: string): string {
  return createHmac('sha256', vault.derive('imported secrets')).update(value).digest('hex');
}

function noteStep(host: Host, family: string, name: string, value: string): Step {
  return {
    sql: `INSERT INTO imported (source, kind, foreign_id, name, own_id, at_ms) VALUES (?, 'secret', ?, ?, 0, ?)
      ON CONFLICT (source, kind, foreign_id) DO UPDATE SET name = excluded.name, at_ms = excluded.at_ms`,
    params: [family, name, digestOf(host, value), host.clock.now()],
  };
}

/** Tells later imports which channels are not of this gateway itself. */
function channelStep(host: Host, family: string, name: string): Step {
  return {
    sql: `INSERT INTO imported (source, kind, foreign_id, name, own_id, at_ms) VALUES (?, 'channel', ?, ?, 0, ?)
      ON CONFLICT DO NOTHING`,
    params: [family, name, name, host.clock.now()],
  };
}

/** The text after the edits, comments and order kept. Throws `UnusableConfiguration` with every problem of it. */
async function editedText(host: Host, text: string, merge: Merge, actor: Actor): Promise<string> {
  const { edits, additions } = merge;
  const configuring = configuringOf(host);
  // Before it is made: reading so much would take seconds.
  if (additions.reduce((sum, { value = null }) => sum + leastSize(value), 0) > LONGEST) throw tooLong(merge);
  await nextTurn();
  let current: string;
  try {
    current = configuring.edited(text, [...edits, ...additions]);
  } catch (error) {
    if (error instanceof RangeError) throw new UnusableConfiguration(`gateway.yaml: ${error.message}`);
    throw error;
  }
  if (Buffer.byteLength(current) > LONGEST) throw tooLong(merge);
  await nextTurn();
  const { problems } = await configuring.check(current, actor);
  if (problems.length === 0) return current;
  const before = (await configuring.check(text, actor)).problems;
  if (before.length > 0)
    throw new UnusableConfiguration(
      `nothing was imported: gateway.yaml has errors of its own, fix them first:\n${linesOf(before)}`,
    );
  const lines = linesOf(problems, (parse(current) ?? {}) as JsonObject);
  throw new UnusableConfiguration(
    `nothing was imported: the configuration that would result is invalid:\n${lines}`,
    problems,
  );
}

/** The most bytes of gateway.yaml. */
const LONGEST = 256 * 1_024;

/** Says what takes the room, and how to make some. */
function tooLong({ inventory: { channels, models } }: Merge): UnusableConfiguration {
  const there = `${models.size} models and ${channels.length} channels`;
  return new UnusableConfiguration(
    `nothing was imported: with the ${there} of the other gateway, gateway.yaml would be larger than 256 KiB: remove there the models that are not used, above all those that many channels have, and import again`,
  );
}

/** The fewest characters that a value can have in a text. */
function leastSize(value: Json): number {
  if (typeof value !== 'object' || value === null) return String(value).length;
  const members = Object.entries(value as Readonly<Record<string, Json>>);
  const names = Array.isArray(value) ? 0 : members.reduce((sum, [name]) => sum + name.length + 2, 0);
  return members.reduce((sum, [, member]) => sum + leastSize(member), names + 2);
}

/** The most problems that are told. */
const MOST_PROBLEMS = 20;

/** The problems; with the configuration, each with the thing that it is about, and whose error it is. */
function linesOf(problems: readonly Remark[], config?: JsonObject): string {
  const lines = problems.slice(0, MOST_PROBLEMS).map(({ path, message }) => {
    const parts = path.split(/[.[\]]+/).filter((part) => part !== '');
    // A section as a whole: the message says what the pipeline lacks.
    if (config === undefined || parts.length < 2) return visible(`  ${path === '' ? '' : `${path}: `}${message}`);
    const name = parts[0] === 'channels' ? valueAt(config, [...parts.slice(0, 2), 'name']) : undefined;
    const value = valueAt(config, parts);
    const whose =
      typeof value !== 'string'
        ? 'an error of the import: please report it'
        : /\$\{\w+\}/.test(value) && message.includes('is not set')
          ? 'the other gateway has it in its environment: give this one its variables, too, and restart it'
          : 'the value comes from the other gateway';
    return visible(`  ${path}${typeof name === 'string' ? ` (channel ${name})` : ''}: ${message} (${whose})`);
  });
  const more = problems.length - lines.length;
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join('\n');
}

function valueAt(config: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (holder, name) =>
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
        ? (holder as Readonly<Record<string, Json>>)[name]
        : undefined,
    config,
  );
}
