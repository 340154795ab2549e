/** The matchers of a section: what is replaced by placeholders. */
import { patternFinder, wordFinder } from '../../core/contracts/matching.ts';
import { BUILT_IN, builtIn, type PseudonymsSection } from './section.ts';
import { type KindFinder, placeholderFinders } from './table.ts';

/** `problem`: told of a pattern that is not valid, by its index; it is left out then. */
export function findersOf(
  section: PseudonymsSection,
  problem: (index: number, message: string) => void = () => {},
): readonly KindFinder[] {
  const listed: readonly KindFinder[] = [
    ...section.lists.map(({ kind, words }) => ({ kind, ...wordFinder(words) })),
    ...section.patterns.flatMap(({ kind, pattern }, i) => {
      try {
        return [{ kind, ...patternFinder(pattern) }];
      } catch (error) {
        problem(i, (error as Error).message);
        return [];
      }
    }),
    ...section.find.map((name) => ({ kind: BUILT_IN[name].kind, ...builtIn(name) })),
  ];
  return [...listed, ...placeholderFinders(listed.map(({ kind }) => kind))];
}
