/** Compiled rules: what each one matches, and which calls it applies to. */
import { type Finder, patternFinder, wordFinder } from '../../core/contracts/matching.ts';
import type { Known } from '../../core/plugin.ts';
import { isInScope } from '../../core/sdk.ts';
import type { RuleEntry } from './section.ts';

/** A compiled rule. */
export interface Rule extends Finder, Pick<RuleEntry, 'name' | 'action' | 'where' | 'replacement'> {
  readonly entry: RuleEntry;
}

/** Compiles a rule. Throws an `Error` that describes what is wrong with its pattern. */
export function createRule(entry: RuleEntry): Rule {
  const { name, action, where, replacement, words, pattern } = entry;
  const { find } = pattern === undefined ? wordFinder(words ?? []) : patternFinder(pattern);
  return { name, action, where, replacement, find, entry };
}

/** The rules that apply to the requests, or to the answers, of a call. */
export function rulesFor(rules: readonly Rule[], x: Known, side: 'input' | 'output'): readonly Rule[] {
  return rules.filter(({ where, entry }) => (where === side || where === 'both') && isInScope(entry, x));
}
