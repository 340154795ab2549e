/** The targets of a call, returned one at a time: each is chosen after the previous attempt failed. */

import { coreErrors } from '../../core/contracts/errors.ts';
import type { FailureKind } from '../../core/contracts/formats/call.ts';
import type { Reach } from '../../core/contracts/groups.ts';
import type { Known, Offer, Ordered, Style, StyleName, ToolUse } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import type { BudgetEntry, RetryBudget } from './budget.ts';
import { answers, type ModelCatalog, type ServedModel, within } from './catalog.ts';
import { boundTo, inOrder, keysInOrder } from './choose.ts';
import { conversationOf } from './conversation.ts';
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
  /** What the caller's group reaches; undefined: everything. Refuses (403) a model that it does not reach. */
  reachOf(x: Known): Reach | undefined;
  /** Whether the caller's key may call a model. */
  allows(x: Known, model: string): boolean;
}

/** A model that can serve a call, and its targets for clients of this style. */
interface Server {
  readonly model: ServedModel;
  readonly sources: readonly (Pick<Source, 'channel' | 'keys' | 'model'> & Serving)[];
  /** More than one channel, or more than one key. */
  readonly isChoice: boolean;
  /** A channel has more than one key. */
  readonly hasPool: boolean;
}

export function createOffers(tools: OfferTools) {
  const { catalog, budget } = tools;
  // Targets depend on gateway.yaml only, so they are computed once per style, use of tools, group, and public name.
  const byStyle = new Map<StyleName, Map<string, readonly Server[]>>();

  const serversOf = (x: Known, style: StyleName): readonly Server[] => {
    const { model: name, toolUse } = x.call;
    const plain = toolUse === undefined ? style : `${style} ${toolUse}`;
    const reach = tools.reachOf(x);
    // Names of groups have no space.
    const form = reach?.channels === undefined ? plain : `${plain} ${reach.group} group`;
    let byName = byStyle.get(form);
    const cached = byName?.get(name);
    if (cached !== undefined) return cached;
    const requested = within(catalog.require(name, x.identity), reach);
    if (!answers(requested, style)) refuseStyle(requested, style, tools);
    const servers = catalog.chain(name, style).map((model) => serverFor(within(model, reach), style, toolUse));
    byName ??= boundedMap(MOST_NAMES);
    byStyle.set(form, byName.set(name, servers));
    return servers;
  };

  return {
    /** Available targets, one at a time; pulling one counts as trying it. `ordered`: what other plugins make of their order. */
    pull(x: Known, style: StyleName, ordered: Ordered): Iterable<Offer> {
      const servers = serversOf(x, style);
      const budgetEntry = budget.enter(() => hasAnswer(x));
      const begun: Offer[] = [];
      x.defer(() => {
        for (const offer of begun) tools.health.release(offer);
        budgetEntry.leave();
      });
      return choose(x, ordered(candidates(x, servers, 1, tools)), begun, budgetEntry, tools);
    },
    /** All targets in order, available or not, without trying them. */
    all: (x: Known, style: StyleName): readonly Offer[] => candidates(x, serversOf(x, style), 0, tools),
  };
}

/** The targets of a call. Both methods refuse (404) an unknown model, and a style that the model does not support. */
export type Offers = ReturnType<typeof createOffers>;

function serverFor(model: ServedModel, clientStyle: StyleName, toolUse: ToolUse | undefined): Server {
  const sources = model.from.flatMap((source) => {
    const way = source.way(clientStyle, toolUse);
    return way === undefined ? [] : [{ channel: source.channel, keys: source.keys, model: source.model, ...way }];
  });
  const hasPool = sources.some(({ keys }) => keys.channels.length > 1);
  return { model, sources, isChoice: sources.length > 1 || hasPool, hasPool };
}

/**
 * All candidates in order: the requested model, then those fallbacks that the caller's key may call. `turns`: 1 if the next call without a
 * conversation is to begin with the next key of each channel.
 */
function candidates(x: Known, servers: readonly Server[], turns: 0 | 1, tools: OfferTools): readonly Offer[] {
  const { key } = x.identity;
  const offers: Offer[] = [];
  // The body is searched only if there is a choice.
  const bond = servers.some(({ isChoice }) => isChoice) ? boundTo(x.call) : undefined;
  const conversation = servers.some(({ hasPool }) => hasPool) ? conversationOf(x) : undefined;
  for (let i = 0; i < servers.length; i++) {
    const { model, sources } = servers[i]!;
    if (i > 0 && !tools.allows(x, model.name)) continue;
    const strict = model.strict || key.strict;
    for (const { keys, model: upstream, style, quirks } of inOrder(sources, key.id, model.name, bond)) {
      const channels = keysInOrder(keys.channels, x.call, { conversation, turn: keys.turn, bond });
      if (conversation === undefined) keys.turn += turns;
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
  offers: readonly Offer[],
  begun: Offer[],
  budgetEntry: BudgetEntry,
  tools: OfferTools,
): Iterable<Offer> {
  const { health } = tools;
  let soonest: Offer | undefined;
  for (const offer of offers) {
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
  // The account that made the reasoning of a conversation may be paused: its error tells the client to try again.
  if (soonest === undefined) return;
  if (begun.length > 0 && !(isOfOtherKey(x.attempts.at(-1)?.failure) && budgetEntry.retry())) return;
  health.begin(soonest, x);
  begun.push(soonest);
  yield soonest;
}

/** Whether the latest attempt has begun to answer, and did not fail. */
function hasAnswer({ attempts }: Known): boolean {
  const attempt = attempts.at(-1);
  return attempt?.firstByteMs !== undefined && attempt.failure === undefined;
}

/** Whether a vendor refused a request that another key may be able to serve: after other refusals, no offer is pulled. */
const isOfOtherKey = (failure: FailureKind | undefined): boolean => failure === 'refused';

/** Whether the last attempt failed at this channel, and not because of its key: with another key it would fail, too. */
function sharesFailure({ attempts }: Known, last: Offer | undefined, { channel, model }: Offer): boolean {
  if (last === undefined || last.channel.name !== channel.name || last.model !== model) return false;
  const { failure, status } = attempts.at(-1)!;
  return !(isOfOtherKey(failure) || isOfKey(failure, status));
}

function refuseStyle(model: ServedModel, style: StyleName, tools: OfferTools): never {
  const others = [...tools.styles.values()]
    .filter(({ name, ingress }) => ingress !== undefined && answers(model, name))
    .map(({ name, ingress }) => `${name} (POST ${ingress!.path})`);
  const advice = others.length === 0 ? ' or any other style.' : `. Use ${others.join(' or ')}.`;
  throw coreErrors.model_not_found(`The model '${model.name}' does not support ${style}${advice}`);
}
