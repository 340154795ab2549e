/** Converts usage by time and group from `/api` into chart series. */
import type { UsageTrendItem } from '../api/operations.ts';
import type { Series } from './chart-plot.ts';

/** A row of a trend; the same for the team and the viewer's own usage. */
export type TrendItem = UsageTrendItem;
/** The measures. */
export type Sums = Pick<TrendItem, 'requests' | 'errors' | 'quota' | 'prompt_tokens' | 'completion_tokens'>;

/** The measure of a page. */
export const MEASURES = ['cost', 'requests', 'tokens'] as const;
/** A value of `MEASURES`. */
export type Measure = (typeof MEASURES)[number];

/** The value of a row; for calls, all of them including failures. */
export function measureOf(measure: Measure, sums: Sums): number {
  if (measure === 'cost') return sums.quota;
  if (measure === 'tokens') return sums.prompt_tokens + sums.completion_tokens;
  return sums.requests + sums.errors;
}

/** Groups in the order of `/api`: by cost, then by calls. */
export function dearestFirst(a: Sums, b: Sums): number {
  return b.quota - a.quota || b.requests - a.requests;
}

/**
 * One series per group, the most expensive first and all others last; missing moments are zero.
 * Groups without a value are left out; the others keep their colours.
 */
export function trendSeries(
  items: readonly TrendItem[],
  moments: readonly number[],
  measure: Measure,
  name: (group: string | null, name: string) => string,
): readonly Series[] {
  const at = new Map(moments.map((moment, index) => [moment, index]));
  const groups = new Map<string | null, { name: string; total: Sums; values: number[] }>();
  for (const item of items) {
    const index = at.get(item.timestamp);
    if (index === undefined) continue;
    let group = groups.get(item.group);
    if (group === undefined) {
      group = { name: name(item.group, item.name), total: NOTHING, values: moments.map(() => 0) };
      groups.set(item.group, group);
    }
    group.total = addSums(group.total, item);
    group.values[index] = measureOf(measure, item);
  }
  return [...groups]
    .sort(([a, row], [b, other]) => Number(a === null) - Number(b === null) || dearestFirst(row.total, other.total))
    .map(([group, of], place) => ({ name: of.name, values: of.values, rest: group === null, place }))
    .filter(({ values }) => values.some((value) => value !== 0));
}

/** Empty totals. */
export const NOTHING: Sums = { requests: 0, errors: 0, quota: 0, prompt_tokens: 0, completion_tokens: 0 };

/** Adds two totals. */
export function addSums(a: Sums, b: Sums): Sums {
  return {
    requests: a.requests + b.requests,
    errors: a.errors + b.errors,
    quota: a.quota + b.quota,
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
  };
}
