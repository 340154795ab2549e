/** Rows of `/api` that tell what was used by time and group, as series of a chart. */
import type { UsageTrendItem } from '../api/operations.ts';
import type { Series } from './chart-plot.ts';

/** A row of a trend; that of the team and that of one's own usage are the same. */
export type TrendItem = UsageTrendItem;
/** What can be drawn of it. */
export type Sums = Pick<TrendItem, 'requests' | 'errors' | 'quota' | 'prompt_tokens' | 'completion_tokens'>;

/** What a page looks at. */
export const MEASURES = ['cost', 'requests', 'tokens'] as const;
/** One of them. */
export type Measure = (typeof MEASURES)[number];

/** Reads it; of requests all that came, those that failed with them. */
export function measured(measure: Measure, sums: Sums): number {
  if (measure === 'cost') return sums.quota;
  if (measure === 'tokens') return sums.prompt_tokens + sums.completion_tokens;
  return sums.requests + sums.errors;
}

/** Groups in the order in which `/api` takes them: those that cost most first, and of those that cost nothing those with most requests. */
export function dearestFirst(a: Sums, b: Sums): number {
  return b.quota - a.quota || b.requests - a.requests;
}

/**
 * One series for each group, the dearest first and all others last; moments without a row are nothing, and no gap.
 * Groups that come to nothing are left out; the others keep their colours.
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
    group.total = added(group.total, item);
    group.values[index] = measured(measure, item);
  }
  return [...groups]
    .sort(([a, one], [b, other]) => Number(a === null) - Number(b === null) || dearestFirst(one.total, other.total))
    .map(([group, of], place) => ({ name: of.name, values: of.values, rest: group === null, place }))
    .filter(({ values }) => values.some((value) => value !== 0));
}

/** Sums of nothing. */
export const NOTHING: Sums = { requests: 0, errors: 0, quota: 0, prompt_tokens: 0, completion_tokens: 0 };

/** Two sums as one. */
export function added(a: Sums, b: Sums): Sums {
  return {
    requests: a.requests + b.requests,
    errors: a.errors + b.errors,
    quota: a.quota + b.quota,
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
  };
}
