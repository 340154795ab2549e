/** Vendor-side tools and service options: names that styles, prices and records share. */
import type { Json } from './json.ts';

/**
 * How often a vendor ran a tool for an answer, by its name: `web_search`, `web_fetch`, `file_search`, `code_execution`,
 * `image_generation`, `mcp`, `tool_search`; others by their name in requests.
 */
export type Uses = Readonly<Record<string, number>>;

/** The maximum of each that a request allows; undefined: no limit. */
export type UseBounds = Readonly<Record<string, number | undefined>>;

/** The service options of a call: `tier` (`priority`, `flex`), `speed` (`fast`), `region` (`us`). */
export type ServedAs = Readonly<Record<string, string>>;

/** Tools for which vendors charge only tokens. */
export const TOKENS_ONLY: ReadonlySet<string> = new Set(['web_fetch', 'mcp', 'tool_search']);

/** Values that mean the default. */
const USUAL: ReadonlySet<string> = new Set([
  ...['', 'auto', 'default', 'standard', 'standard_only', 'on_demand', 'global', 'not_available'],
]);
/** The form of valid values and tool names; others are ignored. */
const NAME = /^[a-z][a-z0-9_.:-]{0,39}$/;

const NONE: readonly string[] = [];

/** Service options other than the defaults, by value. */
export function unusualIn(service: ServedAs | undefined): readonly string[] {
  if (service === undefined) return NONE;
  let unusual = NONE;
  for (const option in service) {
    const word = service[option as keyof ServedAs];
    if (word !== undefined && !USUAL.has(word)) unusual = [...unusual, word];
  }
  return unusual;
}

/** The options that were chosen or reported; undefined if there are none. */
export function servedAs(choices: Readonly<Record<string, Json | undefined>>): ServedAs | undefined {
  let made: Record<string, string> | undefined;
  for (const name in choices) {
    const word = choices[name];
    if (typeof word !== 'string') continue;
    const value = word.toLowerCase();
    if (!NAME.test(value)) continue;
    made ??= {};
    made[name] = value;
  }
  return made;
}

/** The options that a request chooses: what is none of their names is one without a price. */
export function askedAs(choices: Readonly<Record<string, Json | undefined>>): ServedAs | undefined {
  const made = Object.entries(choices).flatMap(([name, choice]) => {
    if (choice === undefined || choice === null || choice === '') return [];
    const word = typeof choice === 'string' ? choice.trim().toLowerCase() : '';
    return [[name, NAME.test(word) ? word : 'unknown'] as const];
  });
  return made.length === 0 ? undefined : Object.fromEntries(made);
}

/** The name of a tool without a common name. */
export function toolName(type: string): string {
  const name = type.toLowerCase();
  return NAME.test(name) ? name : 'hosted_tool';
}

/** The sum of several counts. */
export function countUses(names: Iterable<string>): Uses | undefined {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts.size === 0 ? undefined : Object.fromEntries(counts);
}

/** A lazily computed value. */
export function remembered<T>(workOut: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: workOut() };
    return known.value;
  };
}
