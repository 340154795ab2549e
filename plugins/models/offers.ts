/** What may serve a call: offers one at a time, each chosen when the one before has failed. */

import { coreErrors } from '../../core/contracts/errors.ts';
import type { Known, Offer, Style, StyleName } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import type { RetryBudget, Seat } from './budget.ts';
import { answers, type ModelCatalog, type ServedModel } from './catalog.ts';
import { boundTo, inOrder } from './choose.ts';
import type { Health } from './health.ts';
import type { Source, Way } from './source.ts';

/** Of so many names it is remembered who serves them; more than gateway.yaml spells out, and fewer than callers can think of. */
const MOST_NAMES = 10_000;

/** What choosing needs. */
export interface OfferTools {
  readonly catalog: ModelCatalog;
  readonly health: Health;
  readonly budget: RetryBudget;
  readonly styles: ReadonlyMap<StyleName, Style>;
  /** Whether the caller's key may call a model. */
  allows(x: Known, model: string): boolean;
}

/** A model that may serve a call, and where it can for clients of this style. */
interface Server {
  readonly model: ServedModel;
  readonly sources: readonly (Pick<Source, 'channel' | 'model'> & Way)[];
}

/** What may serve a call. Both refuse (404) where there is no such model, or where it does not answer on this style. */
export interface Offers {
  /** Those that are well, one at a time; each is being tried once it is pulled. */
  pull(x: Known, style: StyleName): Iterable<Offer>;
  /** All there are, well or not, in their order; nobody tries them. */
  all(x: Known, style: StyleName): readonly Offer[];
}

/** Finds the offers for calls. */
export function createOffers(tools: OfferTools): Offers {
  const { catalog, budget } = tools;
  // Who may serve is said by gateway.yaml alone, so it is worked out once for each style and public name.
  const byStyle = new Map<StyleName, Map<string, readonly Server[]>>();

  const serversOf = (x: Known, style: StyleName): readonly Server[] => {
    const name = x.call.model;
    let byName = byStyle.get(style);
    const known = byName?.get(name);
    if (known !== undefined) return known;
    const asked = catalog.require(name, x.identity);
    if (!answers(asked, style)) refuseStyle(asked, style, tools);
    const servers = catalog.chain(name, style).map((model) => ({ model, sources: sourcesFor(model, style) }));
    byName ??= boundedMap(MOST_NAMES);
    byStyle.set(style, byName.set(name, servers));
    return servers;
  };

  return {
    pull(x, style) {
      const servers = serversOf(x, style);
      const seat = budget.enter();
      const begun: Offer[] = [];
      x.defer(() => {
        for (const offer of begun) tools.health.release(offer);
        seat.leave();
      });
      return choose(x, servers, begun, seat, tools);
    },
    all: (x, style) => candidates(x, serversOf(x, style), tools),
  };
}

function sourcesFor(model: ServedModel, asked: StyleName): Server['sources'] {
  return model.from.flatMap((source) => {
    const way = source.way(asked);
    return way === undefined ? [] : [{ channel: source.channel, model: source.model, ...way }];
  });
}

/** Everything that could serve, best first: the model asked for, and those of its fallbacks that the caller's key may call. */
function candidates(x: Known, servers: readonly Server[], tools: OfferTools): readonly Offer[] {
  const { key } = x.identity;
  const offers: Offer[] = [];
  // Only where there is a choice is it worth reading the body for.
  const first = servers.some(({ sources }) => sources.length > 1) ? boundTo(x.call) : undefined;
  for (let i = 0; i < servers.length; i++) {
    const { model, sources } = servers[i]!;
    if (i > 0 && !tools.allows(x, model.name)) continue;
    const strict = model.strict || key.strict;
    for (const { channel, model: upstream, style, quirks } of inOrder(sources, key.id, model.name, first)) {
      offers.push({ channel, model: upstream, style, quirks, strict, priced: model.name });
    }
  }
  return offers;
}

/**
 * The candidates that are well, in their order. Where none is, the one that recovers soonest: a try is better than none. Stops
 * when the retry budget is used up.
 */
function* choose(x: Known, servers: readonly Server[], begun: Offer[], seat: Seat, tools: OfferTools): Iterable<Offer> {
  const { health } = tools;
  let soonest: Offer | undefined;
  for (const offer of candidates(x, servers, tools)) {
    if (!health.ready(offer)) {
      if (soonest === undefined || health.readyAtMs(offer) < health.readyAtMs(soonest)) soonest = offer;
      continue;
    }
    if (begun.length > 0 && !seat.retry()) {
      x.note({ retries: 'retry budget used up' });
      return;
    }
    health.begin(offer, x);
    begun.push(offer);
    yield offer;
  }
  if (begun.length > 0 || soonest === undefined) return;
  health.begin(soonest, x);
  begun.push(soonest);
  yield soonest;
}

function refuseStyle(model: ServedModel, style: StyleName, tools: OfferTools): never {
  const others = [...tools.styles.values()]
    .filter(({ name, ingress }) => ingress !== undefined && answers(model, name))
    .map(({ name, ingress }) => `${name} (POST ${ingress!.path})`);
  const instead = others.length === 0 ? 'nowhere else either' : `on ${others.join(', ')}`;
  throw coreErrors.model_not_found(`The model '${model.name}' does not answer on ${style}, but ${instead}.`);
}
