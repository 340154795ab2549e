/** How much of what is generated a run tries: a part, or all of it with `node scripts/test.mjs --whole`. */

/** Whether this run tries everything. */
export const isWhole = process.env.TURNPIKE_TEST_WHOLE !== undefined;
const PART = 4;
/** What is slow has few cases already. */
const LEAST = 12;

/** Of so many generated cases, as many as this run tries. */
export function share(cases: number): number {
  return isWhole ? cases : Math.max(Math.ceil(cases / PART), Math.min(cases, LEAST));
}

/** Of a list, as many: each `turn` (0 and up) has others, and four turns have all. */
export function some<T>(items: readonly T[], turn = 0): readonly T[] {
  return isWhole ? items : items.filter((_, i) => i % PART === turn % PART);
}
