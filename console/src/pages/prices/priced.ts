/** Models with their prices: which come first, which fit, and what somebody should look at. */
import type { PricedModel } from '../../api/operations.ts';

/** A model and what it costs. */
export type Priced = PricedModel;

/** What may be shown of them. */
export const VIEWS = ['all', 'unpriced', 'drift', 'upcoming'] as const;
/** One of them. */
export type View = (typeof VIEWS)[number];

/** True of what belongs to a view. */
export function isIn(view: View, { unpriced, drift, upcoming }: Priced): boolean {
  if (view === 'unpriced') return unpriced;
  if (view === 'drift') return drift.length > 0;
  return view === 'all' || upcoming.length > 0;
}

/** What has no price comes first: its calls are lost. Then those that may have been forgotten, then all others, as the file has them. */
export function inOrder(models: readonly Priced[]): readonly Priced[] {
  const rank = ({ unpriced, price, drift }: Priced): number =>
    unpriced ? (price === null ? 0 : 1) : drift.length > 0 ? 2 : 3;
  return models.toSorted((a, b) => rank(a) - rank(b));
}

/** True where one of its names, or where it is served, has these words in it. */
export function priceFits({ name, aliases, channels }: Priced, words: string): boolean {
  const asked = words.trim().toLowerCase();
  return [name, ...aliases, ...channels.flatMap(({ channel, model }) => [channel, model])].some((each) =>
    each.toLowerCase().includes(asked),
  );
}
