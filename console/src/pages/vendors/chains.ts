/** Routes: channels by priority, then fallbacks, and their current health. */
import type { ModelRoute } from '../../api/operations.ts';
import type { Price } from '../../parts/price-amounts.ts';
import { type Channel, type Condition, conditionOfModel } from './channel-state.tsx';

type Route = ModelRoute;

/** A channel of a route. */
export interface Target {
  readonly channel: string;
  /** The upstream model name. */
  readonly model: string;
  /** Its share of the calls of its priority, from 0 to 1. */
  readonly share: number;
  readonly condition: Condition;
}

/** `fallback`: a fallback serves the calls. */
export type ChainHealth = 'well' | 'degraded' | 'fallback' | 'down';

/** The route of a public name. */
export interface Chain {
  readonly name: string;
  /** The model of the name. */
  readonly model: string;
  readonly free: boolean;
  readonly price: Price | null;
  /** Channels of the same priority share the calls. */
  readonly tiers: readonly (readonly Target[])[];
  readonly fallbacks: readonly { readonly name: string; readonly down: boolean; readonly unpriced: boolean }[];
  readonly health: ChainHealth;
}

/** One route for each public name. */
export function chainsOf(routes: readonly Route[], channels: readonly Channel[]): readonly Chain[] {
  const placesOf = (route: Route): readonly (readonly Target[])[] => {
    const priorities = [...new Set(route.channels.map(({ priority }) => priority))].sort((a, b) => a - b);
    return priorities.map((priority) => {
      const tier = route.channels.filter((each) => each.priority === priority);
      const weight = tier.reduce((sum, each) => sum + each.weight, 0);
      return tier.map((each) => ({
        channel: each.channel,
        model: each.model,
        share: each.weight / weight,
        condition: conditionAt(channels, each.channel, route.model),
      }));
    });
  };
  const isDown = (places: readonly (readonly Target[])[]): boolean =>
    places.flat().every(({ condition }) => condition === 'open');
  const down = new Set(routes.filter((route) => isDown(placesOf(route))).map(({ name }) => name));

  const unpriced = new Set(routes.filter((route) => route.price === null && !route.free).map(({ name }) => name));

  return routes.map((route) => {
    const { name, model, free, price, fallback } = route;
    const tiers = placesOf(route);
    const fallbacks = fallback.map((each) => ({ name: each, down: down.has(each), unpriced: unpriced.has(each) }));
    const isWell = tiers.flat().every(({ condition }) => condition === 'closed');
    const health: ChainHealth = isWell
      ? 'well'
      : !isDown(tiers)
        ? 'degraded'
        : fallbacks.some((each) => !each.down)
          ? 'fallback'
          : 'down';
    return { name, model, free, price, tiers, fallbacks, health };
  });
}

/** True if the route needs attention. */
export function needsAttention({ health, price, free, fallbacks }: Chain): boolean {
  return health !== 'well' || (price === null && !free) || fallbacks.some(({ unpriced }) => unpriced);
}

/** True if its name or one of its channels contains the text. */
export function chainFits({ name, model, tiers, fallbacks }: Chain, search: string): boolean {
  const query = search.trim().toLowerCase();
  const names = [name, model, ...tiers.flat().flatMap((place) => [place.channel, place.model])];
  return [...names, ...fallbacks.map((each) => each.name)].some((each) => each.toLowerCase().includes(query));
}

function conditionAt(channels: readonly Channel[], channel: string, model: string): Condition {
  const served = channels.find(({ name }) => name === channel)?.models.find(({ name }) => name === model);
  return served === undefined ? 'closed' : conditionOfModel(served);
}
