/** Aliases for names that a vendor does not accept: deterministic, so that a vendor's prompt cache keeps working. */
import { createHash } from 'node:crypto';
import { boundedMap } from '../../helpers/bounded-map.ts';

/** The vendor's rule: maximum length, and a regular expression for the whole name. */
export interface NameRule {
  readonly max: number;
  readonly pattern: string;
}

/** Creates names that follow a rule. */
export interface Aliases {
  /** The name itself if it is valid, otherwise its alias. */
  of(name: string): string;
  /** Always an alias, for a name that is already taken. */
  apart(name: string): string;
}

/** Maximum number of cached rules; gateway.yaml may have more. */
const MOST_RULES = 100;
/** Readable characters of a name in its alias; with `_` and eight of the hash it has 64, which all vendors accept. */
const READABLE = 55;

/** The rules of all models: there are few, and every translated request uses two. */
const rules = boundedMap<string, Aliases>(MOST_RULES);

/** The aliases of one rule. */
export function aliasesOf({ max, pattern }: NameRule): Aliases {
  const name = `${max} ${pattern}`;
  let aliases = rules.get(name);
  if (aliases === undefined) {
    aliases = createAliases(max, new RegExp(`^(?:${pattern})$`));
    rules.set(name, aliases);
  }
  return aliases;
}

/** If no alias can match the rule, the name stays, so that the vendor reports the error. */
function createAliases(max: number, whole: RegExp): Aliases {
  const fits = (name: string): boolean => name.length <= max && whole.test(name);

  function apart(name: string): string {
    const hash = createHash('sha256').update(name).digest('hex');
    const mark = `_${hash.slice(0, 8)}`;
    const clean = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
    const readable = (text: string): string => text.slice(0, Math.max(0, Math.min(READABLE, max - mark.length))) + mark;
    // The second is for vendors whose names must not start with a digit, the last for those that accept only a few
    // letters and digits.
    return [readable(clean), readable(`_${clean}`), hash.slice(0, max)].find(fits) ?? name;
  }
  return { of: (name) => (fits(name) ? name : apart(name)), apart };
}
