/** All of fast-check, whose `assert` tries a share of the cases. */
import { assert as holdsForAll, type IRawProperty, type Parameters } from 'fast-check';
import { share } from './console/whole.ts';

export * from 'fast-check';

/** As that of fast-check, which has 100 runs where nobody says how many. */
export const assert = ((property: IRawProperty<unknown>, { numRuns = 100, ...more }: Parameters<unknown> = {}) =>
  holdsForAll(property, { ...more, numRuns: share(numRuns) })) as typeof holdsForAll;
