/** What vendors do for an answer beside words, and the ways in which they serve one: names that styles, prices and records share. */
import type { Json } from './json.ts';

/**
 * How often a vendor ran something for an answer, by its name: `web_search`, `web_fetch`, `file_search`, `code_execution`,
 * `image_generation`, `mcp`, `tool_search`; anything else as requests call the tool.
 */
export type Uses = Readonly<Record<string, number>>;

/** The most of each that a request allows; undefined: as often as the vendor likes. */
export type UseBounds = Readonly<Record<string, number | undefined>>;

/** How a call is served, by what there is to choose: `tier` (`priority`, `flex`), `speed` (`fast`), `region` (`us`). */
export type ServedAs = Readonly<Record<string, string>>;

/** Vendors charge for the tokens of these, and for nothing beside. */
export const TOKENS_ONLY: ReadonlySet<string> = new Set(['web_fetch', 'mcp', 'tool_search']);

/** Words for what happens where nobody chooses. */
const USUAL: ReadonlySet<string> = new Set([
  ...['', 'auto', 'default', 'standard', 'standard_only', 'on_demand', 'global', 'not_available'],
]);
/** What a word or a name of a tool looks like; anything else is nobody's. */
const NAME = /^[a-z][a-z0-9_.:-]{0,39}$/;

/** The ways of being served that are not the usual ones, each by its word. */
export function unusualIn(service: ServedAs | undefined): readonly string[] {
  return service === undefined ? [] : Object.values(service).filter((word) => !USUAL.has(word));
}

/** The choices that are made, or told; undefined where there are none. */
export function servedAs(choices: Readonly<Record<string, Json | undefined>>): ServedAs | undefined {
  let made: Record<string, string> | undefined;
  for (const name in choices) {
    const word = choices[name];
    if (typeof word !== 'string') continue;
    const known = word.toLowerCase();
    if (!NAME.test(known)) continue;
    made ??= {};
    made[name] = known;
  }
  return made;
}

/** The name of a tool that has none of ours. */
export function toolName(type: string): string {
  const name = type.toLowerCase();
  return NAME.test(name) ? name : 'hosted_tool';
}

/** Counts of several things, added up. */
export function countUses(names: Iterable<string>): Uses | undefined {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts.size === 0 ? undefined : Object.fromEntries(counts);
}

/** What is worked out when it is first asked for, and once. */
export function remembered<T>(workOut: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: workOut() };
    return known.value;
  };
}
