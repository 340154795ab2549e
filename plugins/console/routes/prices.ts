/** What everything costs, whence that is known, and where it is not what vendors publish: for administrators. */
import { type PricedModel, Prices, type SourcedPrice } from '../../../core/contracts/prices.ts';
import { priceSchema } from '../records/price.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { boolean, text } from '../schemas.ts';

const source = {
  title: 'PriceSource',
  type: ['object', 'null'],
  required: ['kind', 'text'],
  properties: {
    kind: {
      enum: ['model', 'prices', 'published'],
      description:
        'model: `price` of its entry in gateway.yaml. prices: the section `prices` of it. published: a list price that came with this gateway.',
    },
    text: { ...text, description: 'For people: who says so.' },
  },
} as const;
const sentence = { type: ['string', 'null'], description: 'The price on one line; null: it has none.' } as const;

const modelSchema = {
  title: 'PricedModel',
  type: 'object',
  required: [
    ...['name', 'aliases', 'fallback_of', 'free', 'unpriced', 'calls', 'consequence', 'price', 'source'],
    ...['effective_from', 'upcoming', 'channels', 'published', 'drift'],
  ],
  properties: {
    name: text,
    aliases: { type: 'array', items: text, description: 'Its other names.' },
    fallback_of: { type: 'array', items: text, description: 'The models that it stands in for.' },
    free: boolean,
    unpriced: { ...boolean, description: 'It, or what may serve in its place, has no price.' },
    calls: { enum: ['charged', 'free', 'refused'], description: 'What becomes of its calls.' },
    consequence: { ...text, description: 'The same as a sentence.' },
    price: priceSchema,
    source,
    effective_from: {
      type: ['string', 'null'],
      description: 'The first day of the price (UTC), where that is written: `2026-01-31`.',
    },
    upcoming: {
      type: 'array',
      description: 'Prices that follow, in their order.',
      items: {
        type: 'object',
        required: ['effective_from', 'text', 'price'],
        properties: { effective_from: text, text, price: priceSchema },
      },
    },
    channels: {
      type: 'array',
      description: 'Where it is served; list prices may differ from one to the other.',
      items: {
        type: 'object',
        required: ['channel', 'model', 'text', 'source'],
        properties: {
          channel: text,
          model: { ...text, description: 'What it is called there.' },
          text: sentence,
          source,
        },
      },
    },
    published: {
      type: ['object', 'null'],
      description: 'The list price, where gateway.yaml says another.',
      required: ['text', 'source'],
      properties: { text, source: text },
    },
    drift: {
      type: 'array',
      description: 'Amounts that are more than a tenth away from what is published: to be looked at again.',
      items: {
        type: 'object',
        required: ['field', 'configured', 'published', 'percent'],
        properties: {
          field: { ...text, description: 'Its name in `price`.' },
          configured: text,
          published: text,
          percent: { type: ['number', 'null'], description: 'How far above it; null: the published one is 0.' },
        },
      },
    },
  },
} as const;

/** The rows. */
export function priceRoutes({ need }: Tools): readonly ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/price/',
      alsoAt: ['/api/price'],
      who: 'admin',
      summary: 'What every model costs and whence that is known; currency units as decimal numbers.',
      tag: 'Models',
      answer: {
        type: 'object',
        required: ['snapshot', 'models'],
        properties: {
          snapshot: {
            type: 'object',
            description: 'Which list prices came with this gateway.',
            required: ['name', 'version'],
            properties: { name: text, version: text },
          },
          models: { type: 'array', items: modelSchema },
        },
      },
      handle() {
        const { snapshot, models } = need(Prices).table();
        return { snapshot, models: models.map(shownModel) };
      },
    }),
  ];
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
