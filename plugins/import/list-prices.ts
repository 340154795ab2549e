/** Compares the prices of another gateway with the vendors' list prices. */
import type { Prices } from '../../core/contracts/prices.ts';
import { decimal, inUnitsOf } from '../../core/sdk.ts';
import type { Inventory } from './inventory.ts';

/** An amount that differs from the list price. */
export interface Difference {
  readonly model: string;
  /** `input 3, list price 2.5`. */
  readonly text: string;
}

/** All amounts that differ from those of the first channel of each model. */
export function differencesOf(
  { channels, models }: Pick<Inventory, 'channels' | 'models'>,
  prices: Pick<Prices, 'published'>,
): readonly Difference[] {
  const byName = new Map(channels.map((channel) => [channel.name, channel]));
  return [...models].flatMap(([model, { from, price = {} }]) => {
    const first = from[0];
    const channel = first && byName.get(first.channel);
    const list = channel && prices.published({ vendor: channel.vendor, url: channel.url ?? '', model: first.model });
    if (list === undefined) return [];
    return Object.entries(price).flatMap(([unit, amount]) => {
      const listed = list[unit as keyof typeof list];
      if (typeof listed !== 'string' || typeof amount !== 'string' || isEqual(amount, listed)) return [];
      return [{ model, text: `${unit} ${amount}, list price ${listed}` }];
    });
  });
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [decimal(one), decimal(other)];
  const scale = Math.max(a.scale, b.scale);
  return inUnitsOf(a, scale) === inUnitsOf(b, scale);
}
