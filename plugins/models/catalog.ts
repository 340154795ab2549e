/** The catalog: the section `models`, validated and prepared for lookups. */

import type { Catalog, Model } from '../../core/contracts/catalog.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { Groups, type Reach, reached } from '../../core/contracts/groups.ts';
import type { Holder } from '../../core/contracts/identity.ts';
import type { Host, StyleName } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import type { Channels } from './channels.ts';
import { createEntries, didYouMean, type Entries } from './entries.ts';
import type { ModelEntry } from './sections.ts';
import { createSource, type Source } from './source.ts';

/** A model with the fields that only this plugin uses. */
export interface ServedModel extends Model {
  readonly from: readonly Source[];
  /** Translations with warnings are refused. */
  readonly strict: boolean;
}

/** The sections, with the fields that only this plugin uses. */
export interface ModelCatalog extends Omit<Catalog, 'facts' | 'channels' | 'probe' | 'offered'> {
  find(name: string): ServedModel | undefined;
  require(name: string, holder?: Holder): ServedModel;
  chain(name: string, style?: StyleName): readonly ServedModel[];
  /** The number of configured models and aliases, and the models that are off because all their channels are. */
  readonly counts: { readonly models: number; readonly aliases: number };
  readonly off: readonly string[];
}

/** The number of cached names that match patterns. */
const MOST_STARRED = 1_000;
/** Names that clients sent are cut to this length in errors. */
const MAX_SHOWN = 100;

/**
 * Reads the section. Errors go to `host.problem`, and their entries are left out. `created` keeps over reloads when a name was first seen
 * (Unix seconds).
 */
export function readModels(
  host: Host,
  section: Readonly<Record<string, ModelEntry>>,
  channels: Channels,
  created: Map<string, number>,
): ModelCatalog {
  const entries = createEntries(section);
  const publicNames = entries.names;
  const aliasCount = [...entries.all.values()].filter((entry) => entry.alias !== undefined).length;

  checkPatterns(host, entries);
  checkAliases(host, entries);
  checkFallbacks(host, entries);

  // Models that gateway.yaml names; a pattern is stored under its own name.
  const models = new Map<string, ServedModel>();
  for (const [name, entry] of entries.all) {
    if (entry.alias !== undefined) continue;
    const sources = readSources(host, name, entry, channels);
    checkStyles(host, name, entry, sources);
    const from = sources.filter(({ off }) => !off);
    if (from.length === 0) continue;
    if (!created.has(name)) created.set(name, Math.floor(host.clock.now() / 1_000));
    models.set(name, {
      name,
      entry: name,
      free: entry.free,
      only: entry.only,
      strict: entry.strict ?? false,
      from: from.map(({ source }) => source),
      fallback: entry.fallback ?? [],
      price: entry.price,
      created: created.get(name)!,
    });
  }

  /** Models that match patterns and were requested. */
  const starred = boundedMap<string, ServedModel>(MOST_STARRED);
  const modelAt = (name: string): ServedModel | undefined => {
    const cachedModel = models.get(name) ?? starred.get(name);
    if (cachedModel !== undefined || entries.all.has(name)) return cachedModel;
    const pattern = entries.patternOf(name);
    const model = pattern === undefined ? undefined : models.get(pattern.name);
    if (model === undefined) return undefined;
    const { quirks = {} } = pattern!.entry;
    const from = model.from.map(({ channel, model: upstream }) => {
      const own = upstream.replace('*', () => pattern!.star);
      return createSource(channels.get(channel.name)!, own, quirks, host.styles());
    });
    const matched = { ...model, name, from };
    starred.set(name, matched);
    return matched;
  };

  const find = (name: string): ServedModel | undefined => {
    if (name.includes('*')) return undefined;
    const itself = models.get(name);
    if (itself !== undefined) return itself;
    const target = entries.resolve(name);
    return target === undefined ? undefined : modelAt(target);
  };
  const callable = publicNames.filter((name) => find(name) !== undefined);
  const patterns = entries.patterns.flatMap((name) => models.get(name) ?? []);

  const require = (name: string, holder?: Holder): ServedModel => {
    const model = find(name);
    if (model !== undefined) return model;
    // A suggestion must not reveal models that the key, or its group, may not call.
    const isOpen = holder !== undefined && holder.key.models === undefined;
    const groups = host.find(Groups);
    const open = groups === undefined ? callable : callable.filter((each) => isOpen && groups.reachOf(holder, each));
    const hint = isOpen ? didYouMean(name, open) : '';
    const shortName = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
    if (isOpen && groups === undefined && !name.includes('*') && entries.resolve(name) !== undefined) {
      throw coreErrors.model_not_found(`The model '${shortName}' is off: none of its channels has a key.`);
    }
    throw coreErrors.model_not_found(`There is no model '${shortName}'${hint === '' ? '.' : hint}`);
  };

  /** The model and its fallbacks, depth first. */
  const chainOf = (first: ServedModel, style: StyleName | undefined): readonly ServedModel[] => {
    const chain = [first];
    for (let i = 0; i < chain.length; i++) {
      for (const next of chain[i]!.fallback) {
        const model = find(next);
        if (model !== undefined && chain.every((other) => other.name !== model.name)) chain.push(model);
      }
    }
    if (style === undefined) return chain;
    return answers(first, style) ? chain.filter((model) => answers(model, style)) : [];
  };

  /** Chains of the models in gateway.yaml, because every call needs one. */
  const chains = new Map<ServedModel, Map<StyleName | undefined, readonly ServedModel[]>>();
  const chain = (name: string, style?: StyleName): readonly ServedModel[] => {
    const first = require(name);
    // Models that match patterns are cached.
    if (models.get(first.name) !== first) return chainOf(first, style);
    const byStyle = chains.get(first) ?? new Map<StyleName | undefined, readonly ServedModel[]>();
    const cachedModel = byStyle.get(style) ?? chainOf(first, style);
    if (byStyle.size === 0) chains.set(first, byStyle);
    byStyle.set(style, cachedModel);
    return cachedModel;
  };

  return {
    find,
    require,
    chain,
    path: entries.path,
    names: () => callable,
    patterns: () => patterns,
    serves: (name) => find(name) !== undefined,
    isOff: (name) =>
      (entries.all.has(name) || entries.resolve(name) !== undefined) && find(name) === undefined && !models.has(name),
    channel: (name) => channels.withKey(name),
    counts: { models: entries.all.size - aliasCount, aliases: aliasCount },
    off: [...entries.all].flatMap(([name, { alias }]) => (alias === undefined && !models.has(name) ? [name] : [])),
  };
}

/** A model as a reach has it: at its channels alone. */
export function within(model: ServedModel, reach: Reach | undefined): ServedModel {
  const from = reached(model.from, reach);
  return from === model.from ? model : { ...model, from };
}

/** Whether a model can serve clients of a style. */
export function answers({ only, from }: ServedModel, style: StyleName): boolean {
  if (only !== undefined && !only.includes(style)) return false;
  return from.some((source) => source.way(style) !== undefined);
}

/** A source with its validation state. */
interface ReadSource {
  readonly source: Source;
  /** The styles of its channel. */
  readonly speaks: readonly StyleName[];
  readonly off: boolean;
}

/** The upstream model of a channel that names none: the public name, without the prefix of a pattern such as `openai/*`. */
function upstreamOf(name: string): string {
  return name.endsWith('/*') ? '*' : name;
}

function readSources(host: Host, name: string, entry: ModelEntry, channels: Channels): ReadSource[] {
  if (entry.from === undefined) {
    host.problem(['models', name], `the model '${name}' has no channel: name one in \`from\``);
    return [];
  }
  const sources: ReadSource[] = [];
  for (const [i, written] of entry.from.entries()) {
    const [channel, model] = typeof written === 'string' ? [written, upstreamOf(name)] : Object.entries(written)[0]!;
    if (!channels.names.has(channel)) {
      const path = ['models', name, 'from', i, ...(typeof written === 'string' ? [] : [channel])];
      host.problem(path, `there is no channel '${channel}'${didYouMean(channel, [...channels.names])}`);
    }
    const configured = channels.get(channel);
    if (configured === undefined) continue;
    const source = createSource(configured, model, entry.quirks ?? {}, host.styles());
    sources.push({ source, speaks: configured.styles, off: configured.off });
  }
  return sources;
}

/** Checks the styles in an entry: those of its clients in `only`, that of its vendors in `quirks`. */
function checkStyles(host: Host, name: string, entry: ModelEntry, sources: readonly ReadSource[]): void {
  // Without channels, an error was reported already.
  if (sources.length === 0) return;
  const spoken = [...new Set(sources.flatMap(({ speaks }) => speaks))];
  const quirksStyle = entry.quirks?.style;
  if (quirksStyle !== undefined && !spoken.includes(quirksStyle)) {
    const hint = didYouMean(quirksStyle, spoken);
    host.problem(
      ['models', name, 'quirks', 'style'],
      `no channel of the model '${name}' supports '${quirksStyle}'${hint}`,
    );
  }
  const answered = [...new Set([...spoken, ...host.styles().keys()])].filter((style) =>
    sources.some(({ source }) => source.way(style) !== undefined),
  );
  for (const [i, style] of (entry.only ?? []).entries()) {
    if (answered.includes(style)) continue;
    const hint = didYouMean(style, answered);
    host.problem(['models', name, 'only', i], `no channel of the model '${name}' supports '${style}'${hint}`);
  }
}

/** A pattern has one `*`, and matches model names; it must not match names that no channel would serve. */
function checkPatterns(host: Host, entries: Entries): void {
  for (const name of entries.patterns) {
    if (name.indexOf('*') !== name.lastIndexOf('*')) {
      host.problem(['models', name], `a name may contain only one '*', which matches any characters`);
    }
  }
  for (const name of entries.names) {
    for (const [i, written] of (entries.all.get(name)?.from ?? []).entries()) {
      const [channel, model] = typeof written === 'string' ? [] : Object.entries(written)[0]!;
      if (channel !== undefined && model?.includes('*')) {
        host.problem(
          ['models', name, 'from', i, channel],
          `'*' is replaced only if the name '${name}' contains one, too`,
        );
      }
    }
  }
}

function checkAliases(host: Host, entries: Entries): void {
  const inLoop = new Set<string>();
  for (const [name, entry] of entries.all) {
    if (entry.alias === undefined) continue;
    const extra = (['from', 'fallback', 'only', 'strict', 'quirks', 'price'] as const).find(
      (field) => entry[field] !== undefined,
    );
    if (extra !== undefined)
      host.problem(['models', name, extra], `an alias has no other fields; '${extra}' belongs to a model`);
    if (entries.entryOf(entry.alias) === undefined) {
      const others = entries.names.filter((other) => other !== name);
      host.problem(['models', name, 'alias'], `there is no model '${entry.alias}'${didYouMean(entry.alias, others)}`);
    }
    // Follows aliases to their end, or until they repeat; a cycle is reported once, at the first of its members.
    const walk: string[] = [];
    let at: string | undefined = name;
    while (at !== undefined && !walk.includes(at)) {
      walk.push(at);
      at = entries.keyOf(entries.entryOf(at)?.alias);
    }
    if (at !== name || inLoop.has(name)) continue;
    for (const member of walk) inLoop.add(member);
    host.problem(['models', name, 'alias'], `aliases form a cycle: ${[...walk, name].join(' → ')}`);
  }
}

function checkFallbacks(host: Host, entries: Entries): void {
  const done = new Set<string>();
  const visit = (name: string, above: readonly string[]): void => {
    const walk = [...above, name];
    for (const [i, fallback] of (entries.all.get(name)?.fallback ?? []).entries()) {
      const path = ['models', name, 'fallback', i];
      const target = entries.resolve(fallback);
      if (entries.entryOf(fallback) === undefined) {
        const others = entries.names.filter((other) => other !== name);
        host.problem(path, `there is no model '${fallback}'${didYouMean(fallback, others)}`);
      } else if (target !== undefined && walk.includes(target)) {
        const circle = [...walk.slice(walk.indexOf(target)), target].join(' → ');
        host.problem(path, `fallbacks form a cycle: ${circle}`);
      } else if (target !== undefined && !done.has(target)) {
        visit(target, walk);
      }
    }
    done.add(name);
  };
  for (const name of entries.all.keys()) if (!done.has(name)) visit(name, []);
}
