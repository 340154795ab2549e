/** Other names for what a vendor does not take as it is called: the same one each time, so that a vendor's prompt cache keeps working. */
import { createHash } from 'node:crypto';
import { boundedMap } from '../bounded.ts';

/** What a vendor takes: how long, and a regular expression for the whole. */
export interface NameRule {
  readonly max: number;
  readonly pattern: string;
}

/** Makes names that keep a rule. */
export interface Aliases {
  /** The name itself where it may stay, else its alias. */
  of(name: string): string;
  /** An alias in any case, for a name that somebody else has already. */
  apart(name: string): string;
}

/** So many rules are remembered; a gateway.yaml may have more. */
const MOST_RULES = 100;
/** Letters of a name that stay readable in its alias; with `_` and eight of the hash it has 64, which all vendors take. */
const READABLE = 55;

/** The rules of all models: there are a few, and every translated request asks for two. */
const rules = boundedMap<string, Aliases>(MOST_RULES);

/** Those of a rule. */
export function aliasesOf({ max, pattern }: NameRule): Aliases {
  const name = `${max} ${pattern}`;
  let aliases = rules.get(name);
  if (aliases === undefined) {
    aliases = createAliases(max, new RegExp(`^(?:${pattern})$`));
    rules.set(name, aliases);
  }
  return aliases;
}

/** A name that no alias of ours could replace stays, so that the vendor says what is wrong with it. */
function createAliases(max: number, whole: RegExp): Aliases {
  const fits = (name: string): boolean => name.length <= max && whole.test(name);

  function apart(name: string): string {
    const hash = createHash('sha256').update(name).digest('hex');
    const mark = `_${hash.slice(0, 8)}`;
    const clean = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
    const readable = (text: string): string => text.slice(0, Math.max(0, Math.min(READABLE, max - mark.length))) + mark;
    // The second is for vendors whose names may not begin with a digit, the last for those that take a few letters and digits only.
    return [readable(clean), readable(`_${clean}`), hash.slice(0, max)].find(fits) ?? name;
  }
  return { of: (name) => (fits(name) ? name : apart(name)), apart };
}
