/** Prices of the section `prices` that charge nothing, because another place decides or because no model has the name. */
import type { Catalog, Model } from '../../core/contracts/catalog.ts';
import { nearest } from '../../core/sdk.ts';
import { isListPrice } from './book.ts';

/** The names in `prices` that have no effect, with the reason. The only place that decides this: `check`, start, reload and review report it. */
export function unusedPrices(catalog: Catalog, names: readonly string[]): readonly (readonly [string, string])[] {
  const entries = new Map(catalog.patterns().map((model) => [model.name, model]));
  return names.flatMap((name) => {
    const model = entries.get(name) ?? (catalog.serves(name) ? catalog.require(name) : undefined);
    const why = model === undefined ? whyOrphaned(catalog, name) : whyShadowed(model, name);
    return why === undefined ? [] : [[name, why] as const];
  });
}

function whyShadowed({ name, entry, price, free }: Model, written: string): string | undefined {
  const pattern = entry !== name ? `, which "${entry}" in \`models\` serves,` : '';
  if (name !== written) return `has no effect: it is an alias of ${name}, so write the price for ${name}`;
  if (free) return `has no effect: the model${pattern} is \`free: true\`; remove one of the two`;
  if (isListPrice(price)) return `has no effect: the model${pattern} has \`price: list\`; remove one of the two`;
  if (price === undefined) return undefined;
  return `has no effect: the model${pattern} has its own \`price\` in \`models\`, which decides; remove one of the two`;
}

/** A model that is off keeps its price for the day when its channel has a key. */
function whyOrphaned(catalog: Catalog, name: string): string | undefined {
  if (catalog.isOff(name)) return undefined;
  const near = nearest(name, [...catalog.names(), ...catalog.patterns().map((model) => model.name)]);
  return `has no effect: there is no model of this name${near === undefined ? '' : `; did you mean ${near}?`}`;
}
