/** Order and filters of models with prices. */
import type { PricedModel } from '../../api/operations.ts';

/** A model with its price. */
export type Priced = PricedModel;

/** The filters. */
export const VIEWS = ['all', 'unpriced', 'drift', 'upcoming'] as const;
/** A value of `VIEWS`. */
export type View = (typeof VIEWS)[number];

/** True if a filter matches. */
export function isIn(view: View, { unpriced, drift, upcoming }: Priced): boolean {
  if (view === 'unpriced') return unpriced;
  if (view === 'drift') return drift.length > 0;
  return view === 'all' || upcoming.length > 0;
}

/** Models without a price come first, then those that need attention, then the others in the order of the file. */
export function inOrder(models: readonly Priced[]): readonly Priced[] {
  const rank = ({ unpriced, price, drift }: Priced): number =>
    unpriced ? (price === null ? 0 : 1) : drift.length > 0 ? 2 : 3;
  return models.toSorted((a, b) => rank(a) - rank(b));
}

/** True if one of its names or channels contains the text. */
export function priceFits({ name, aliases, channels }: Priced, search: string): boolean {
  const query = search.trim().toLowerCase();
  return [name, ...aliases, ...channels.flatMap(({ channel, model }) => [channel, model])].some((each) =>
    each.toLowerCase().includes(query),
  );
}
