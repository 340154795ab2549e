/** The targets of a call, returned one at a time: each is chosen after the previous attempt failed. */

import { coreErrors } from '../../core/contracts/errors.ts';
import type { Known, Offer, Style, StyleName } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import type { BudgetEntry, RetryBudget } from './budget.ts';
import { answers, type ModelCatalog, type ServedModel } from './catalog.ts';
import { boundTo, inOrder, keysInOrder } from './choose.ts';
import { type Health, isOfKey } from './health.ts';
import type { Serving, Source } from './source.ts';

/** The number of names whose targets are cached; more than gateway.yaml has, and fewer than clients can invent. */
const MOST_NAMES = 10_000;

/** The inputs of the choice. */
export interface OfferTools {
  readonly catalog: ModelCatalog;
  readonly health: Health;
  readonly budget: RetryBudget;
  readonly styles: ReadonlyMap<StyleName, Style>;
  /** Whether the caller's key may call a model. */
  allows(x: Known, model: string): boolean;
}

/** A model that can serve a call, and its targets for clients of this style. */
interface Server {
  readonly model: ServedModel;
  readonly sources: readonly (Pick<Source, 'channel' | 'keys' | 'model'> & Serving)[];
  /** More than one channel, or more than one key. */
  readonly isChoice: boolean;
}

export function createOffers(tools: OfferTools) {
  const { catalog, budget } = tools;
  // Targets depend on gateway.yaml only, so they are computed once per style and public name.
  const byStyle = new Map<StyleName, Map<string, readonly Server[]>>();

  const serversOf = (x: Known, style: StyleName): readonly Server[] => {
    const name = x.call.model;
    let byName = byStyle.get(style);
    const cached = byName?.get(name);
    if (cached !== undefined) return cached;
    const requested = catalog.require(name, x.identity);
    if (!answers(requested, style)) refuseStyle(requested, style, tools);
    const servers = catalog.chain(name, style).map((model) => serverFor(model, style));
    byName ??= boundedMap(MOST_NAMES);
    byStyle.set(style, byName.set(name, servers));
    return servers;
  };

  return {
    /** Available targets, one at a time; pulling one counts as trying it. */
    pull(x: Known, style: StyleName): Iterable<Offer> {
      const servers = serversOf(x, style);
      const budgetEntry = budget.enter();
      const begun: Offer[] = [];
      x.defer(() => {
        for (const offer of begun) tools.health.release(offer);
        budgetEntry.leave();
      });
      return choose(x, servers, begun, budgetEntry, tools);
    },
    /** All targets in order, available or not, without trying them. */
    all: (x: Known, style: StyleName): readonly Offer[] => candidates(x, serversOf(x, style), 0, tools),
  };
}

/** The targets of a call. Both methods refuse (404) an unknown model, and a style that the model does not support. */
export type Offers = ReturnType<typeof createOffers>;

function serverFor(model: ServedModel, clientStyle: StyleName): Server {
  const sources = model.from.flatMap((source) => {
    const way = source.way(clientStyle);
    return way === undefined ? [] : [{ channel: source.channel, keys: source.keys, model: source.model, ...way }];
  });
  return { model, sources, isChoice: sources.length > 1 || sources.some(({ keys }) => keys.channels.length > 1) };
}

/**
 * All candidates in order: the requested model, then those fallbacks that the caller's key may call. `turns`: 1 if the next call is to begin
 * with the next key of each channel.
 */
function candidates(x: Known, servers: readonly Server[], turns: 0 | 1, tools: OfferTools): readonly Offer[] {
  const { key } = x.identity;
  const offers: Offer[] = [];
  // The body is searched only if there is a choice.
  const first = servers.some(({ isChoice }) => isChoice) ? boundTo(x.call) : undefined;
  for (let i = 0; i < servers.length; i++) {
    const { model, sources } = servers[i]!;
    if (i > 0 && !tools.allows(x, model.name)) continue;
    const strict = model.strict || key.strict;
    for (const { keys, model: upstream, style, quirks } of inOrder(sources, key.id, model.name, first)) {
      const channels = keysInOrder(keys.channels, keys.turn, x.call, first);
      keys.turn += turns;
      for (const channel of channels) {
        offers.push({ channel, model: upstream, style, quirks, strict, priced: model.name });
      }
    }
  }
  return offers;
}

/**
 * The available candidates in order. If there is none, the one that recovers first, because one attempt is better than none. Stops when the
 * retry budget is used up.
 */
function* choose(
  x: Known,
  servers: readonly Server[],
  begun: Offer[],
  budgetEntry: BudgetEntry,
  tools: OfferTools,
): Iterable<Offer> {
  const { health } = tools;
  let soonest: Offer | undefined;
  for (const offer of candidates(x, servers, 1, tools)) {
    if (!health.ready(offer)) {
      if (soonest === undefined || health.readyAtMs(offer) < health.readyAtMs(soonest)) soonest = offer;
      continue;
    }
    if (sharesFailure(x, begun.at(-1), offer)) continue;
    if (begun.length > 0 && !budgetEntry.retry()) {
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

/** Whether the last attempt failed at this channel, and not because of its key: with another key it would fail, too. */
function sharesFailure({ attempts }: Known, last: Offer | undefined, { channel, model }: Offer): boolean {
  if (last === undefined || last.channel.name !== channel.name || last.model !== model) return false;
  const { failure, status } = attempts.at(-1)!;
  return !isOfKey(failure, status);
}

function refuseStyle(model: ServedModel, style: StyleName, tools: OfferTools): never {
  const others = [...tools.styles.values()]
    .filter(({ name, ingress }) => ingress !== undefined && answers(model, name))
    .map(({ name, ingress }) => `${name} (POST ${ingress!.path})`);
  const advice = others.length === 0 ? ' or any other style.' : `. Use ${others.join(' or ')}.`;
  throw coreErrors.model_not_found(`The model '${model.name}' does not support ${style}${advice}`);
}
