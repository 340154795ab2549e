/** Prices of all models and their sources, and differences from the published prices; for administrators. */

import {
  type PricedModel,
  Prices,
  type PriceUpdateRule,
  type SourcedPrice,
  type TakenPrice,
} from '../../../../core/contracts/prices.ts';
import { shownComparison } from '../../../../core/contracts/shown.ts';
import {
  bodyOf,
  boolean,
  integer,
  list,
  listOf,
  object,
  objectOrNull,
  record,
  text,
  unixSeconds,
} from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';
import { priceSchema } from '../../records/price.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Models');

const source = {
  title: 'PriceSource',
  type: ['object', 'null'],
  required: ['kind', 'text'],
  properties: {
    kind: {
      enum: ['model', 'prices', 'published'],
      description:
        'model: `price` of its entry in gateway.yaml. prices: the section `prices` of gateway.yaml. published: a list price that is part of this release.',
    },
    text: { ...text, description: 'The source as text.' },
  },
} as const;
const sentence = { type: ['string', 'null'], description: 'The whole price on one line; null: no price.' } as const;

const modelSchema = record('PricedModel', {
  name: text,
  aliases: { type: 'array', items: text, description: 'Its aliases.' },
  fallback_of: { type: 'array', items: text, description: 'The models it is a fallback of.' },
  free: boolean,
  unpriced: { ...boolean, description: 'The model, or one of its fallbacks, has no price.' },
  calls: { enum: ['charged', 'free', 'refused'], description: 'How its calls are billed.' },
  consequence: { ...text, description: 'The same as a sentence.' },
  price: priceSchema,
  source,
  effective_from: {
    type: ['string', 'null'],
    description: 'First day of the price (UTC), if it has one: `2026-01-31`.',
  },
  upcoming: {
    ...list({ effective_from: text, text, price: priceSchema }),
    description: 'Scheduled prices, in order of their start.',
  },
  channels: {
    ...list({
      channel: text,
      model: { ...text, description: 'The upstream model.' },
      text: sentence,
      source,
    }),
    description: 'The channels that serve it; their list prices may differ.',
  },
  published: objectOrNull('The list price, if gateway.yaml sets another price.', { text, source: text }),
  drift: {
    ...list({
      field: { ...text, description: 'Its name in `price`.' },
      configured: text,
      published: text,
      percent: {
        type: ['number', 'null'],
        description: 'The difference from the published amount, in percent; null: the published amount is 0.',
      },
    }),
    description: 'Amounts that differ from the published ones by more than a tenth.',
  },
});

const comparison = {
  source: { ...text, description: 'The URL of the list.' },
  digest: { ...text, description: 'Identifies the content of the list.' },
  changes: {
    ...listOf('PriceChange', {
      provider: text,
      model: { ...text, description: 'Its name in the list.' },
      names: {
        type: 'array',
        items: text,
        description: 'Models here that cost its list price; empty: none does.',
      },
      fixed: {
        type: 'array',
        items: text,
        description: 'Models here that it serves at a price of gateway.yaml, which the change does not affect.',
      },
      kind: {
        enum: ['new', 'increase', 'decrease', 'mixed', 'structure'],
        description: 'new: it had no price. structure: amounts are added or removed.',
      },
      amounts: list({
        field: text,
        old: { type: ['string', 'null'] },
        new: { type: ['string', 'null'] },
        percent: { type: ['number', 'null'], description: 'Null: there is no ratio.' },
      }),
    }),
    description: 'Models that are sold come first.',
  },
  skipped: { type: 'array', items: text, description: 'Implausible changes, which are never taken over.' },
} as const;

export function priceRoutes({ need }: Tools): readonly ApiRoute[] {
  return [
    route('admin', 'GET', '/api/price/', {
      summary: 'Lists the price of every model and its source; currency units as decimal numbers.',
      answer: object({
        snapshot: {
          ...object({ name: text, version: text }),
          description: 'The version of the list prices in this release.',
        },
        models: { type: 'array', items: modelSchema },
      }),
      handle() {
        const { snapshot, models } = need(Prices).table();
        return { snapshot, models: models.map(shownModel) };
      },
    }),
    route('admin', 'GET', '/api/price/update', {
      errors: ['price_list_refused'],
      summary: 'Downloads the published price list and compares it with the current prices. Nothing is changed.',
      answer: record('PriceComparison', comparison),
      handle: async () => shownComparison(await need(Prices).updates.compare()),
    }),
    route('root', 'POST', '/api/price/update', {
      verified: true,
      errors: ['price_list_refused', 'price_list_changed'],
      summary:
        'Takes over changes of the published price list, for calls that begin in two minutes or later, on all gateways.',
      body: bodyOf(['digest'], {
        digest: { ...text, description: 'Of the list that was compared.' },
        models: {
          type: 'array',
          items: text,
          minItems: 1,
          description: 'Only the changes of these: `PROVIDER MODEL`, as compared. Default: all.',
        },
      }),
      answer: record('PriceUpdate', { ...comparison, taken: object({ count: integer, valid_from: unixSeconds }) }),
      async handle({ actor, body }) {
        const done = await need(Prices).updates.takeOver(actor, body.digest, body.models);
        const { count = 0, fromMs = 0 } = done.taken ?? {};
        return { ...shownComparison(done), taken: { count, valid_from: secondsOf(fromMs) } };
      },
    }),
    route('admin', 'GET', '/api/price/update/history', {
      summary: 'Lists the published prices that were taken over, and the rule that does so. Downloads nothing.',
      answer: object({
        rule: objectOrNull('The section `prices.updates` of gateway.yaml; null: there is none.', {
          every: { type: ['integer', 'null'], description: 'The interval in seconds; null: only on request.' },
          apply: {
            enum: ['none', 'decreases', 'all'],
            description: 'What the scheduled comparison takes over; none: it only logs.',
          },
          max_change: { ...integer, description: 'Refused is a list that changes a sold model by more percent.' },
        }),
        checked_at: { type: ['integer', 'null'], description: 'The last comparison, unix seconds; null: never.' },
        updates: {
          ...list({
            taken_at: unixSeconds,
            taken_by: { ...text, description: 'A username, `command line` or `schedule`.' },
            valid_from: unixSeconds,
            source: { ...text, description: 'The URL or file of the list.' },
            models: { type: 'array', items: text, description: '`PROVIDER MODEL`' },
          }),
          description: 'The last to become valid first.',
        },
      }),
      async handle() {
        const { updates } = need(Prices);
        const [taken, { rule, checkedMs }] = await Promise.all([updates.history(), updates.rule()]);
        return {
          rule: rule === undefined ? null : shownRule(rule),
          checked_at: checkedMs === undefined ? null : secondsOf(checkedMs),
          updates: shownHistory(taken),
        };
      },
    }),
  ];
}

function shownRule({ everyMs, apply, maxChange }: PriceUpdateRule) {
  return { every: everyMs === undefined ? null : secondsOf(everyMs), apply, max_change: maxChange };
}

/** Prices that were taken over together are one update. */
function shownHistory(taken: readonly TakenPrice[]) {
  const updates = new Map<string, { readonly first: TakenPrice; readonly models: string[] }>();
  for (const price of taken) {
    const key = `${price.fromMs} ${price.takenMs} ${price.takenBy} ${price.source}`;
    const name = `${price.provider} ${price.model}`;
    const update = updates.get(key);
    if (update === undefined) updates.set(key, { first: price, models: [name] });
    else update.models.push(name);
  }
  return [...updates.values()].map(({ first, models }) => ({
    taken_at: secondsOf(first.takenMs),
    taken_by: first.takenBy,
    valid_from: secondsOf(first.fromMs),
    source: first.source,
    models,
  }));
}

function shownModel(model: PricedModel) {
  const { name, aliases, fallbackOf, calls, unpriced, now, upcoming, places, published, drift } = model;
  const isFree = now === undefined && !unpriced.includes(name);
  return {
    name,
    aliases,
    fallback_of: fallbackOf,
    free: isFree,
    unpriced: unpriced.length > 0,
    calls,
    consequence: consequenceOf(model),
    price: isFree ? { free: true, text: 'free' } : (now?.price ?? null),
    source: sourceOf(now),
    effective_from: now?.from ?? null,
    upcoming: upcoming.map(({ from = '', price }) => ({ effective_from: from, text: price.text, price })),
    channels: places.map(({ channel, model: there, now: here }) => ({
      channel,
      model: there,
      text: here?.price.text ?? null,
      source: sourceOf(here),
    })),
    published: published === undefined ? null : { text: published.price.text, source: published.source },
    drift: drift.map((each) => ({ ...each, percent: each.percent ?? null })),
  };
}

function sourceOf(price: SourcedPrice | undefined) {
  return price === undefined ? null : { kind: price.kind, text: price.source };
}

function consequenceOf({ calls, unpriced }: PricedModel): string {
  const without = `${unpriced.join(', ')} ${unpriced.length === 1 ? 'has' : 'have'} no price`;
  if (calls === 'refused') return `Calls are refused (402 model_not_priced): ${without}.`;
  if (unpriced.length === 0) return calls === 'free' ? 'Calls cost nothing.' : 'Calls are charged.';
  return calls === 'free' ? `Calls cost nothing: ${without}.` : `Calls are charged, unless another serves: ${without}.`;
}
