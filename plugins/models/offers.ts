/** What may serve a call: offers one at a time, each chosen when the one before has failed. */
import type { Model } from '../../core/contracts/catalog.ts';
import { type Channel, type Known, type Offer, refuse, type Style, type StyleName } from '../../core/plugin.ts';
import type { RetryBudget, Seat } from './budget.ts';
import type { ModelCatalog } from './catalog.ts';
import { inOrder, type Source } from './choose.ts';
import type { Health } from './health.ts';

/** What choosing needs. */
export interface OfferTools {
  readonly catalog: ModelCatalog;
  readonly health: Health;
  readonly budget: RetryBudget;
  /** The styles a channel may be used for. */
  stylesOf(channel: Channel): readonly StyleName[];
  readonly styles: ReadonlyMap<StyleName, Style>;
  /** Whether the caller's key may call a model. */
  allows(x: Known, model: string): boolean;
}

/** A model that may serve a call, and those of its channels that speak the style. */
interface Server {
  readonly model: Model;
  readonly sources: readonly Source[];
}

/** Finds the offers for a call. Refuses (404) where there is no such model, or where it does not answer in this style. */
export function createOffers(tools: OfferTools): (x: Known, style: StyleName) => Iterable<Offer> {
  const { catalog, budget } = tools;
  // Who may serve is said by gateway.yaml alone, so it is worked out once for each style and public name.
  const byStyle = new Map<StyleName, Map<string, readonly Server[]>>();

  const serversOf = (x: Known, style: StyleName): readonly Server[] => {
    const name = x.call.model;
    let byName = byStyle.get(style);
    const known = byName?.get(name);
    if (known !== undefined) return known;
    const asked = catalog.require(name, x.identity);
    if (!speaks(asked, style, tools)) refuseStyle(asked, style, tools);
    const servers = catalog
      .chain(name)
      .filter((model) => speaks(model, style, tools))
      .map((model) => ({
        model,
        sources: model.from.filter(({ channel }) => tools.stylesOf(channel).includes(style)),
      }));
    byName ??= new Map();
    byStyle.set(style, byName.set(name, servers));
    return servers;
  };

  return (x, style) => {
    const servers = serversOf(x, style);
    const seat = budget.enter();
    const begun: Offer[] = [];
    x.defer(() => {
      for (const offer of begun) tools.health.release(offer);
      seat.leave();
    });
    return choose(x, servers, begun, seat, tools);
  };
}

/** Everything that could serve, best first: the model asked for, and those of its fallbacks that the caller's key may call. */
function* candidates(x: Known, servers: readonly Server[], tools: OfferTools): Iterable<Offer> {
  for (const [i, { model, sources }] of servers.entries()) {
    if (i > 0 && !tools.allows(x, model.name)) continue;
    for (const { channel, model: upstream } of inOrder(sources, x.identity.key.id, model.name)) {
      yield { channel, model: upstream, priced: model.name };
    }
  }
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

function speaks(model: Model, style: StyleName, tools: OfferTools): boolean {
  if (model.only !== undefined && !model.only.includes(style)) return false;
  return model.from.some(({ channel }) => tools.stylesOf(channel).includes(style));
}

function refuseStyle(model: Model, style: StyleName, tools: OfferTools): never {
  const spoken = [...new Set(model.from.flatMap(({ channel }) => tools.stylesOf(channel)))];
  const others = spoken
    .filter((other) => model.only?.includes(other) ?? true)
    .map((other) => {
      const path = tools.styles.get(other)?.path;
      return path === undefined ? other : `${other} (POST ${path})`;
    });
  const instead = others.length === 0 ? 'nowhere else either' : `on ${others.join(', ')}`;
  refuse(404, 'model_not_found', `The model '${model.name}' does not answer on ${style}, but ${instead}.`, {
    param: 'model',
  });
}
