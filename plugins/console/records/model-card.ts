/** A model as whoever chooses one sees it: what it is for, what it can do, what it costs, how it does. */
import { ABILITIES, type ChannelStatus, type ModelFacts, type Purpose } from '../../../core/contracts/catalog.ts';
import type { ModelPrice } from '../../../core/contracts/prices.ts';
import { RATE_NAMES, RATES, type Rate, type RateKind } from '../../../core/contracts/rates.ts';
import { boolean, text } from '../schemas.ts';
import { priceSchema } from './price.ts';
import { recentSchema, shownRecent } from './recent.ts';

/** What a card is made of. */
export interface CardFacts {
  readonly name: string;
  /** The model behind it. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly free: boolean;
  readonly price: ModelPrice | undefined;
  /** In tokens, as it is published. */
  readonly publishedContext: number | undefined;
  /** Where a style is asked. */
  pathOf(style: string): string;
  /** For administrators: the channels that serve it. */
  readonly channels: readonly ChannelStatus[] | undefined;
}

/** Makes one. */
export function cardOf({ name, model, facts, free, price, publishedContext, pathOf, channels }: CardFacts) {
  const purposes = purposesOf(facts, price);
  return {
    name,
    model,
    styles: facts.styles.map(({ name: style, native }) => ({ name: style, path: pathOf(style), native })),
    purposes,
    context_window: facts.context ?? publishedContext ?? null,
    max_output: facts.maxOutput ?? null,
    abilities: abilitiesOf(purposes?.includes('chat') === true ? facts.abilities : {}, price),
    free,
    price: price ?? null,
    health: facts.health,
    recent: shownRecent(facts.recent),
    channels:
      channels?.map((channel) => ({
        name: channel.name,
        vendor: channel.vendor,
        state: channel.models.find((one) => one.name === model)?.state ?? channel.state,
      })) ?? null,
  };
}

/** The table of rates. */
const KINDS: readonly (readonly [Rate, RateKind])[] = RATE_NAMES.map((rate) => [rate, RATES[rate]]);

/**
 * What a model is for, as far as it is certain. Channels take many styles and tell not which of them a model understands; but what
 * is sold by the word of its answer answers with words.
 */
function purposesOf({ asked, meant }: ModelFacts, price: ModelPrice | undefined): readonly Purpose[] | null {
  if (asked.length === 1) return asked;
  const known = meant.filter((purpose) => asked.includes(purpose));
  if (known.length > 0) return known;
  const sold = price && soldAs(price);
  return sold !== undefined && asked.includes(sold) ? [sold] : null;
}

/** Undefined where several things are sold, or what is sold does not tell. */
function soldAs(price: ModelPrice): Purpose | undefined {
  const { input, output, perImage, perHour, characters } = price;
  const units: readonly (Purpose | false)[] = [
    perImage !== undefined && 'images',
    characters !== undefined && 'speech',
    perHour !== undefined && 'transcription',
  ];
  const [unit, ...others] = units.filter((kind) => kind !== false);
  const isByTheWord = input !== undefined || output !== undefined;
  if (unit !== undefined) return others.length > 0 || isByTheWord ? undefined : unit;
  const isMixed = KINDS.some(([rate, { beyondChat }]) => beyondChat === true && price[rate] !== undefined);
  return output === undefined || isMixed ? undefined : 'chat';
}

function abilitiesOf(said: ModelFacts['abilities'], price: ModelPrice | undefined) {
  // A model can do what it has a price for.
  const sold: ModelFacts['abilities'] = Object.fromEntries(
    KINDS.flatMap(([rate, { ability }]) =>
      ability === undefined || price?.[rate] === undefined ? [] : [[ability, true]],
    ),
  );
  const known = { ...sold, ...said };
  return Object.fromEntries(ABILITIES.map((ability) => [ability, known[ability] ?? null]));
}

const perhaps = { type: ['boolean', 'null'] } as const;
const tokens = { type: ['integer', 'null'], description: 'Tokens; null: nobody knows.' } as const;

/** Its schema. */
export const cardSchema = {
  title: 'ModelCard',
  type: 'object',
  required: [
    ...['name', 'model', 'styles', 'purposes', 'context_window', 'max_output', 'abilities', 'free', 'price', 'health'],
    ...['recent', 'channels'],
  ],
  properties: {
    name: text,
    model: { ...text, description: 'The model behind it, where it is another name of one.' },
    styles: {
      type: 'array',
      description: 'The styles it may be asked in.',
      items: {
        type: 'object',
        required: ['name', 'path', 'native'],
        properties: {
          name: text,
          path: { ...text, description: 'Where: `/v1/chat/completions`.' },
          native: { ...boolean, description: 'False: calls are translated to another style on their way.' },
        },
      },
    },
    purposes: {
      type: ['array', 'null'],
      description: 'What it is for; null: that is not known, only in which styles it may be asked.',
      items: { enum: ['chat', 'embeddings', 'images', 'speech', 'transcription'] },
    },
    context_window: tokens,
    max_output: tokens,
    abilities: {
      type: 'object',
      description: 'null: nobody knows.',
      required: ABILITIES,
      properties: Object.fromEntries(ABILITIES.map((ability) => [ability, perhaps])),
    },
    free: { ...boolean, description: 'Calls cost nothing.' },
    price: priceSchema,
    health: {
      enum: ['well', 'degraded', 'down'],
      description:
        'degraded: some of what may serve it fails, or it is served by another model. down: nothing answers.',
    },
    recent: recentSchema,
    channels: {
      type: ['array', 'null'],
      description: 'For administrators: where it is served; else null.',
      items: {
        type: 'object',
        required: ['name', 'vendor', 'state'],
        properties: { name: text, vendor: text, state: { enum: ['closed', 'open', 'half-open'] } },
      },
    },
  },
} as const;
