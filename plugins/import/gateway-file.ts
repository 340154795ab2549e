/** Channels, models, prices and other sections as gateway.yaml has them, and the files that `turnpike import` writes without `--apply`. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import type { Json, JsonObject } from '../../core/plugin.ts';
import { type Decimal, decimalText } from '../../core/sdk.ts';
import {
  type ForeignChannel,
  type ForeignGroup,
  type ForeignModel,
  type ForeignPrice,
  type Inventory,
  Secret,
  type Setting,
  Variable,
} from './inventory.ts';
import { unhurried } from './unhurried.ts';
import { literal, priceNumber } from './values.ts';

/** A channel with this key needs none; any word. */
const NO_KEY = 'none';

/** The most characters of a variable, as of a secret in the database. */
const LONGEST_VARIABLE = 60;

/** How a secret is written: a reference to it, or in a check the secret itself. */
export type Refer = (secret: Secret) => string;

/** The sections of gateway.yaml that an inventory has; those without content are missing. */
export interface Sections {
  readonly channels: readonly (JsonObject & { readonly name: string })[];
  readonly models: Readonly<Record<string, JsonObject>>;
  readonly prices: Readonly<Record<string, Json>>;
  readonly groups: Readonly<Record<string, JsonObject>>;
  /** All others. */
  readonly others: Readonly<Record<string, Json>>;
}

/** Writes them. */
export function sectionsOf({ channels, models, aliases, groups, sections }: Inventory, refer: Refer): Sections {
  return {
    channels: channels.map((channel) => channelEntry(channel, refer)),
    models: {
      ...Object.fromEntries([...models].map(([name, model]) => [name, modelEntry(name, model)])),
      ...Object.fromEntries([...aliases].map(([name, alias]) => [name, { alias: literal(alias) }])),
    },
    prices: Object.fromEntries([...models].flatMap(([name, { price }]) => (price ? [[name, priceEntry(price)]] : []))),
    groups: Object.fromEntries(groups.map((group) => [group.name, groupEntry(group)])),
    others: Object.fromEntries(Object.entries(sections).map(([name, value]) => [name, settingValue(value, refer)])),
  };
}

function channelEntry(channel: ForeignChannel, refer: Refer): JsonObject & { readonly name: string } {
  const { name, vendor, url, urlFrom, priority, weight, more } = channel;
  return {
    name,
    vendor,
    ...(url !== undefined && { url: literal(url) }),
    ...(urlFrom !== undefined && { url: settingValue(urlFrom, refer) }),
    ...keysEntry(channel, refer),
    ...(priority !== undefined && { priority }),
    ...(weight !== undefined && { weight }),
    ...(more !== undefined && (settingValue(more, refer) as JsonObject)),
  };
}

/** A channel whose variable is empty is off. */
function keysEntry(channel: ForeignChannel, refer: Refer): JsonObject {
  const { key, moreKeys = [] } = channel;
  if ('none' in key) return { key: NO_KEY };
  if ('variable' in key) return { key: `\${${key.variable}:-}` };
  const keys = [key.secret, ...moreKeys].map((value, i) => refer(new Secret(keyVariable(channel, i), value)));
  return keys.length === 1 ? { key: keys[0]! } : { keys };
}

/** The variable of a channel's key, without `IMPORTED_`: `MAIN_KEY`, that of the second one `MAIN_KEY_2`. */
function keyVariable({ name }: ForeignChannel, i: number): string {
  return `${name}_KEY${i === 0 ? '' : `_${i + 1}`}`;
}

function modelEntry(name: string, { from, fallback, free }: ForeignModel): JsonObject {
  const isPattern = name.includes('*');
  return {
    from: from.map(({ channel, model }) => (model === name && !isPattern ? channel : { [channel]: literal(model) })),
    ...(fallback !== undefined && { fallback: fallback.map(literal) }),
    ...(free && { free }),
  };
}

function priceEntry(price: ForeignPrice): JsonObject {
  const numberOf = (value: ForeignPrice[string], field: string): Json => {
    if (Array.isArray(value)) return value.map((each) => priceEntry(each as ForeignPrice));
    if (typeof value === 'object') return priceEntry(value as ForeignPrice);
    return field === 'from' ? value : priceNumber(value);
  };
  return Object.fromEntries(Object.entries(price).map(([field, value]) => [field, numberOf(value, field)]));
}

const factorNumber = (factor: Decimal): number => Number(decimalText(factor));

function groupEntry({ channels, factor, factors, of, for: users }: ForeignGroup): JsonObject {
  return {
    ...(of === undefined ? { channels: [...(channels ?? [])] } : { of: of.map(literal) }),
    ...(factor !== undefined && factorNumber(factor) !== 1 && { factor: factorNumber(factor) }),
    ...(factors !== undefined &&
      factors.size > 0 && {
        factors: Object.fromEntries([...factors].map(([name, each]) => [name, factorNumber(each)])),
      }),
    ...(users !== undefined && { for: [...users] }),
  };
}

function settingValue(value: Setting, refer: Refer): Json {
  if (value instanceof Secret) return refer(value);
  if (value instanceof Variable) return `\${${value.name}}${literal(value.suffix)}`;
  if (typeof value === 'string') return literal(value);
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((each: Setting) => settingValue(each, refer));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, settingValue(each as Setting, refer)]));
}

/** Names of variables, each different: `IMPORTED_MAIN_KEY`. Equal names of different secrets get numbers. */
export function createVariables(isTaken: (name: string) => boolean = () => false): {
  of(secret: Secret): string;
  /** The secrets by their names. */
  readonly all: ReadonlyMap<string, string>;
} {
  const all = new Map<string, string>();
  return {
    all,
    of({ variable, value }) {
      const plain = variable.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
      const base = `IMPORTED_${plain}`.slice(0, LONGEST_VARIABLE);
      let name = base;
      for (let number = 2; (all.has(name) && all.get(name) !== value) || isTaken(name); number++)
        name = `${base}_${number}`;
      all.set(name, value);
      return name;
    },
  };
}

/** What is said of a file that has another content. */
const KEPT = 'exists with other content and was not written';

/** The lines of `writeFiles` about files that a later import would write with another content. */
export const keptFiles = (written: readonly string[]): readonly string[] =>
  written.filter((line) => line.includes(KEPT));

/** The files as text. */
export interface GatewayFiles {
  readonly yaml: string;
  readonly env: string;
  /** Secrets that no file of variables can have, by the name of a file each. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** The files; undefined if there is nothing to write. */
export function gatewayFiles(program: string, inventory: Inventory): GatewayFiles | undefined {
  const variables = createVariables();
  // A channel, and what else needs a secret, is off as long as its variable is empty.
  const { channels, models, prices, groups, others } = sectionsOf(
    inventory,
    (secret) => `\${${variables.of(secret)}:-}`,
  );
  const content = Object.fromEntries(
    Object.entries({ channels, models, prices, groups, ...others }).filter(([, section]) => !isEmpty(section)),
  );
  if (Object.keys(content).length === 0) return undefined;
  const head = `# Imported from ${program} by \`turnpike import\`: copy these sections into gateway.yaml, or let \`--apply\` do it. The secrets are environment
# variables, in the file of the same name that ends in .env.
`;
  const folder = `${program}.gateway.secrets`;
  const secrets = new Map<string, string>();
  const env = [...variables.all].map(([name, value]) => {
    const line = variableLine(name, value);
    if (line !== undefined) return `${line}\n`;
    secrets.set(name, value);
    return `${name}_FILE=${folder}/${name}\n`;
  });
  return {
    yaml:
      head +
      stringify(content, {
        compat: 'yaml-1.1',
        lineWidth: 0,
        flowCollectionPadding: true,
        aliasDuplicateObjects: false,
      }),
    env: env.join(''),
    secrets,
  };
}

const isEmpty = (section: unknown): boolean =>
  typeof section === 'object' && section !== null && Object.keys(section).length === 0;

/**
 * A line that shells, systemd, container platforms, `node --env-file` and this gateway read alike: they differ in quotes and escapes. Undefined: the
 * value has characters that need some, so it goes into a file of its own, which `NAME_FILE` names.
 */
function variableLine(name: string, value: string): string | undefined {
  return /^[\w./:@%+=,-]+$/.test(value) ? `${name}=${value}` : undefined;
}

/**
 * Writes the files into a folder, and returns a line about each for the report. A file that exists with another content is kept. `isDry`: nothing is
 * written.
 */
export function writeFiles(of: {
  readonly folder: string;
  readonly program: string;
  readonly inventory: Inventory;
  readonly isDry: boolean;
}): readonly string[] {
  const { folder, program, inventory, isDry } = of;
  const files = gatewayFiles(program, inventory);
  if (files === undefined) return [];
  const write = (name: string, text: string): 'written' | 'same' | 'kept' =>
    isDry ? 'written' : writeNew(resolve(folder, name), text);
  const line = (name: string, results: readonly ('written' | 'same' | 'kept')[]): readonly string[] => {
    if (results.length === 0) return [];
    const path = resolve(folder, name);
    if (results.includes('kept'))
      return [`${path} ${KEPT}: it was edited, or something has changed there since; move it away, or choose --out`];
    const state = isDry ? 'would be written' : results.includes('written') ? 'written' : 'unchanged';
    return [`${path}: ${state}`];
  };
  const secrets = `${program}.gateway.secrets`;
  if (!isDry && files.secrets.size > 0) mkdirSync(resolve(folder, secrets), { recursive: true, mode: 0o700 });
  return [
    ...line(`${program}.gateway.yaml`, [write(`${program}.gateway.yaml`, files.yaml)]),
    ...line(`${program}.gateway.env`, files.env === '' ? [] : [write(`${program}.gateway.env`, files.env)]),
    ...line(
      secrets,
      [...files.secrets].map(([name, value]) => write(`${secrets}/${name}`, value)),
    ),
  ];
}

/** Writes a new file that only its user can read. `same`: it has this content already; `kept`: it has another one. */
function writeNew(file: string, text: string): 'written' | 'same' | 'kept' {
  if (existsSync(file)) return readFileSync(file, 'utf8') === text ? 'same' : 'kept';
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  return 'written';
}

/** Writes a new file of many pieces in the same way; an existing one is left. Requests are served between the pieces. */
export async function writeLong(file: string, pieces: Iterable<string>): Promise<void> {
  if (existsSync(file)) return;
  const handle = await open(file, 'wx', 0o600);
  try {
    let text = '';
    for await (const piece of unhurried(pieces)) {
      text += piece;
      if (text.length < WRITTEN_AT_ONCE) continue;
      await handle.appendFile(text);
      text = '';
    }
    await handle.appendFile(text);
  } finally {
    await handle.close();
  }
}

/** Characters that are written at once. */
const WRITTEN_AT_ONCE = 65_536;
