/**
 * How laws are tested: fast-check makes up cases and looks for one that breaks the law. They are the same in every run;
 * `TURNPIKE_LAW_SEED=7` makes up others, and `TURNPIKE_LAW_RUNS=10` ten times as many. A law that fails prints its seed, and the
 * smallest case that was found.
 */
import { it } from 'node:test';
import fc from '../kit/fast-check.ts';

const times = Number(process.env.TURNPIKE_LAW_RUNS ?? 1);

/** Declares the test of a law: `holds` throws where a case breaks it. */
export function law<T>(
  name: string,
  runs: number,
  cases: fc.Arbitrary<T>,
  holds: (one: T) => void | Promise<void>,
): void {
  it(name, () =>
    fc.assert(
      fc.asyncProperty(cases, async (one) => holds(one)),
      { numRuns: runs * times, includeErrorInReport: true },
    ),
  );
}
