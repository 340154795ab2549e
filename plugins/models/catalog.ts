/** The catalog: what the section `models` says, checked and made ready to be asked. */

import type { Catalog, Model } from '../../core/contracts/catalog.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import type { Holder } from '../../core/contracts/keys.ts';
import type { Host, StyleName } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import type { Channels } from './channels.ts';
import { createEntries, type Entries } from './entries.ts';
import { didYouMean } from './hint.ts';
import type { ModelEntry } from './sections.ts';
import { createSource, type Source } from './source.ts';

/** A model with what only this plugin asks. */
export interface ServedModel extends Model {
  readonly from: readonly Source[];
  /** A translation that loses something is refused. */
  readonly strict: boolean;
}

/** What the sections say, with what only this plugin asks. */
export interface ModelCatalog extends Omit<Catalog, 'facts' | 'channels' | 'probe'> {
  find(name: string): ServedModel | undefined;
  require(name: string, holder?: Holder): ServedModel;
  chain(name: string, style?: StyleName): readonly ServedModel[];
  /** How many models and aliases are written down, and which of them cannot be called because their channels are off. */
  readonly counts: { readonly models: number; readonly aliases: number };
  readonly off: readonly string[];
}

/** So many names that patterns stand for are remembered. */
const MOST_STARRED = 1_000;
/** Public names of clients are shown back to them no longer than this. */
const MAX_SHOWN = 100;

/**
 * Reads the section. Mistakes go to `host.problem`; what they touch is left out. `created` remembers over reloads when a name
 * was first seen (unix seconds).
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

  // Those that gateway.yaml names; a pattern stands here under its own name.
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

  /** The models behind patterns that have been asked for. */
  const starred = boundedMap<string, ServedModel>(MOST_STARRED);
  const modelAt = (name: string): ServedModel | undefined => {
    const known = models.get(name) ?? starred.get(name);
    if (known !== undefined || entries.all.has(name)) return known;
    const pattern = entries.patternOf(name);
    const model = pattern === undefined ? undefined : models.get(pattern.name);
    if (model === undefined) return undefined;
    const { quirks = {} } = pattern!.entry;
    const from = model.from.map(({ channel, model: upstream }) => {
      const own = upstream.replace('*', () => pattern!.star);
      return createSource(channels.get(channel.name)!, own, quirks, host.styles());
    });
    const one = { ...model, name, from };
    starred.set(name, one);
    return one;
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
    // A key that may call only some models must not learn from a suggestion which others there are.
    const isOpen = holder !== undefined && holder.key.models === undefined;
    const hint = isOpen ? didYouMean(name, callable) : '';
    const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
    if (isOpen && !name.includes('*') && entries.resolve(name) !== undefined) {
      throw coreErrors.model_not_found(`The model '${shown}' is off: none of its channels has a key.`);
    }
    throw coreErrors.model_not_found(`There is no model '${shown}'${hint === '' ? '.' : hint}`);
  };

  /** The model and all that may serve in its place: its own fallbacks come before those of its fallbacks. */
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

  /** Chains of models that gateway.yaml names: every call asks for one. */
  const chains = new Map<ServedModel, Map<StyleName | undefined, readonly ServedModel[]>>();
  const chain = (name: string, style?: StyleName): readonly ServedModel[] => {
    const first = require(name);
    // Those behind patterns come and go.
    if (models.get(first.name) !== first) return chainOf(first, style);
    const byStyle = chains.get(first) ?? new Map<StyleName | undefined, readonly ServedModel[]>();
    const known = byStyle.get(style) ?? chainOf(first, style);
    if (byStyle.size === 0) chains.set(first, byStyle);
    byStyle.set(style, known);
    return known;
  };

  return {
    find,
    require,
    chain,
    names: () => callable,
    patterns: () => patterns,
    serves: (name) => find(name) !== undefined,
    channel: (name) => channels.get(name)?.channel,
    counts: { models: entries.all.size - aliasCount, aliases: aliasCount },
    off: [...entries.all].flatMap(([name, { alias }]) => (alias === undefined && !models.has(name) ? [name] : [])),
  };
}

/** Whether clients of a style are served by a model. */
export function answers({ only, from }: ServedModel, style: StyleName): boolean {
  if (only !== undefined && !only.includes(style)) return false;
  return from.some((source) => source.way(style) !== undefined);
}

/** A source, and what is checked of it. */
interface ReadSource {
  readonly source: Source;
  /** The styles its channel speaks. */
  readonly speaks: readonly StyleName[];
  readonly off: boolean;
}

function readSources(host: Host, name: string, entry: ModelEntry, channels: Channels): ReadSource[] {
  if (entry.from === undefined) {
    host.problem(['models', name], `the model '${name}' has no channel: name one in \`from\``);
    return [];
  }
  const sources: ReadSource[] = [];
  for (const [i, written] of entry.from.entries()) {
    const [channel, model] = typeof written === 'string' ? [written, name] : Object.entries(written)[0]!;
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

/** The styles an entry names: those of its clients in `only`, that of its vendors in `quirks`. */
function checkStyles(host: Host, name: string, entry: ModelEntry, sources: readonly ReadSource[]): void {
  // With no channel to ask, a mistake has been reported already.
  if (sources.length === 0) return;
  const spoken = [...new Set(sources.flatMap(({ speaks }) => speaks))];
  const told = entry.quirks?.style;
  if (told !== undefined && !spoken.includes(told)) {
    const hint = didYouMean(told, spoken);
    host.problem(['models', name, 'quirks', 'style'], `no channel of the model '${name}' speaks '${told}'${hint}`);
  }
  const answered = [...new Set([...spoken, ...host.styles().keys()])].filter((style) =>
    sources.some(({ source }) => source.way(style) !== undefined),
  );
  for (const [i, style] of (entry.only ?? []).entries()) {
    if (answered.includes(style)) continue;
    const hint = didYouMean(style, answered);
    host.problem(['models', name, 'only', i], `no channel of the model '${name}' answers on '${style}'${hint}`);
  }
}

/** A pattern has one `*`, and stands for names of models, not for names that would be served by nobody. */
function checkPatterns(host: Host, entries: Entries): void {
  for (const name of entries.patterns) {
    if (name.indexOf('*') !== name.lastIndexOf('*')) {
      host.problem(['models', name], `a name may have one '*', which stands for any characters`);
    }
  }
  for (const name of entries.names) {
    for (const [i, written] of (entries.all.get(name)?.from ?? []).entries()) {
      const [channel, model] = typeof written === 'string' ? [] : Object.entries(written)[0]!;
      if (channel !== undefined && model?.includes('*')) {
        host.problem(
          ['models', name, 'from', i, channel],
          `'*' stands for something only if the name '${name}' has one, too`,
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
      host.problem(['models', name, extra], `an alias has nothing else; '${extra}' belongs to a model`);
    if (entries.entryOf(entry.alias) === undefined) {
      const others = entries.names.filter((other) => other !== name);
      host.problem(['models', name, 'alias'], `there is no model '${entry.alias}'${didYouMean(entry.alias, others)}`);
    }
    // Follow it until it ends, or comes back; a loop is reported once, at the first of its members.
    const walk: string[] = [];
    let at: string | undefined = name;
    while (at !== undefined && !walk.includes(at)) {
      walk.push(at);
      at = entries.keyOf(entries.entryOf(at)?.alias);
    }
    if (at !== name || inLoop.has(name)) continue;
    for (const member of walk) inLoop.add(member);
    host.problem(['models', name, 'alias'], `aliases go round in a circle: ${[...walk, name].join(' → ')}`);
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
        host.problem(path, `fallbacks go round in a circle: ${circle}`);
      } else if (target !== undefined && !done.has(target)) {
        visit(target, walk);
      }
    }
    done.add(name);
  };
  for (const name of entries.all.keys()) if (!done.has(name)) visit(name, []);
}
