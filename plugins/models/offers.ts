/** What may serve a call: offers one at a time, each chosen when the one before has failed. */
import type { Model } from '../../core/contracts/catalog.ts';
import { type Channel, type Known, type Offer, refuse, type Style, type StyleName } from '../../core/plugin.ts';
import type { RetryBudget } from './budget.ts';
import type { ModelCatalog } from './catalog.ts';
import { inOrder } from './choose.ts';
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

/** The offers for a call. Refuses (404) where there is no such model, or where it does not answer in this style. */
export function offersFor(x: Known, style: StyleName, tools: OfferTools): Iterable<Offer> {
  const { catalog, health, budget } = tools;
  const asked = catalog.require(x.call.model, x.identity);
  if (!speaks(asked, style, tools)) refuseStyle(asked, style, tools);
  const chain = catalog
    .chain(x.call.model)
    .filter((model) => model === asked || (speaks(model, style, tools) && tools.allows(x, model.name)));

  const seat = budget.enter();
  const begun: Offer[] = [];
  x.defer(() => {
    for (const offer of begun) health.release(offer);
    seat.leave();
  });
  return choose(x, candidates(chain, style, x.identity.key.id, tools), begun, () => seat.retry(), health);
}

/** Everything that could serve, best first. */
function* candidates(chain: readonly Model[], style: StyleName, keyId: number, tools: OfferTools): Iterable<Offer> {
  for (const { name, from } of chain) {
    const speaking = from.filter(({ channel }) => tools.stylesOf(channel).includes(style));
    for (const { channel, model } of inOrder(speaking, keyId, name)) yield { channel, model, priced: name };
  }
}

/**
 * The candidates that are well, in their order. Where none is, the one that recovers soonest: a try is better than none. Stops
 * when the retry budget is used up.
 */
function* choose(
  x: Known,
  offers: Iterable<Offer>,
  begun: Offer[],
  mayRetry: () => boolean,
  health: Health,
): Iterable<Offer> {
  let soonest: Offer | undefined;
  for (const offer of offers) {
    if (!health.ready(offer)) {
      if (soonest === undefined || health.readyAtMs(offer) < health.readyAtMs(soonest)) soonest = offer;
      continue;
    }
    if (begun.length > 0 && !mayRetry()) {
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
