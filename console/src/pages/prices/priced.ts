/** Order and filters of models with prices; the source of a price in words. */
import type { PricedModel } from '../../api/operations.ts';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

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

/** Formats a source: the place in gateway.yaml, or the price list. */
export function useSource(): (source: NonNullable<Priced['source']>) => string {
  const { sources } = useText();
  return ({ kind, text }) => (kind === 'published' ? `${sources.published}: ${text}` : sources[kind]);
}

/** Formats a day that begins at midnight UTC: `2026-01-31`. */
export function useDay(): (day: string) => string {
  const write = useFormat().dates({ dateStyle: 'medium' }, true);
  return (day) => {
    const at = Date.parse(`${day}T00:00:00Z`);
    return Number.isNaN(at) ? day : write(at / 1_000);
  };
}
