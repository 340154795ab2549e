/** A model as users see it: purpose, abilities, price, health. */
import { ABILITIES, type ChannelStatus, type ModelFacts, type Purpose } from '../../../core/contracts/catalog.ts';
import { RATE_NAMES, RATES, type Rate, type RateKind } from '../../../core/contracts/formats/rates.ts';
import type { GroupChoice } from '../../../core/contracts/groups.ts';
import type { ModelPrice } from '../../../core/contracts/prices.ts';
import { boolean, list, object, record, text } from '../format/schemas.ts';
import { priceSchema } from './price.ts';
import { recentSchema, shownRecent } from './usage/recent.ts';

/** The data of a card. */
export interface CardFacts {
  readonly name: string;
  /** The model behind the name. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly free: boolean;
  readonly price: ModelPrice | undefined;
  /** In tokens, as published by the vendor. */
  readonly publishedContext: number | undefined;
  /** The path of each style. */
  pathOf(style: string): string;
  /** The caller's groups that serve it; undefined: there are no groups. */
  readonly groups: readonly GroupChoice[] | undefined;
  /** For administrators: the channels that serve it. */
  readonly channels: readonly ChannelStatus[] | undefined;
}

export function cardOf({ name, model, facts, free, price, publishedContext, pathOf, groups, channels }: CardFacts) {
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
    groups: groups?.map(({ name: group, factor }) => ({ name: group, factor: factor ?? null })) ?? null,
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
 * The purpose of a model, if it is certain. The styles of a channel do not show what its models support, but a model billed by output tokens returns
 * text.
 */
function purposesOf({ asked, meant }: ModelFacts, price: ModelPrice | undefined): readonly Purpose[] | null {
  if (asked.length === 1) return asked;
  const certainPurposes = meant.filter((purpose) => asked.includes(purpose));
  if (certainPurposes.length > 0) return certainPurposes;
  const sold = price && soldAs(price);
  return sold !== undefined && asked.includes(sold) ? [sold] : null;
}

/** Undefined if several units are billed, or if the unit does not determine it. */
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

function abilitiesOf(configured: ModelFacts['abilities'], price: ModelPrice | undefined) {
  // A model supports what it has a price for.
  const sold: ModelFacts['abilities'] = Object.fromEntries(
    KINDS.flatMap(([rate, { ability }]) =>
      ability === undefined || price?.[rate] === undefined ? [] : [[ability, true]],
    ),
  );
  const abilities = { ...sold, ...configured };
  return Object.fromEntries(ABILITIES.map((ability) => [ability, abilities[ability] ?? null]));
}

const perhaps = { type: ['boolean', 'null'] } as const;
const tokens = { type: ['integer', 'null'], description: 'Tokens; null: unknown.' } as const;

export const cardSchema = record('ModelCard', {
  name: text,
  model: { ...text, description: 'The model behind it, if this name is an alias.' },
  styles: {
    ...list({
      name: text,
      path: { ...text, description: 'The path of the style: `/v1/chat/completions`.' },
      native: { ...boolean, description: 'False: calls are translated to another style.' },
    }),
    description: 'The API styles it can be called with.',
  },
  purposes: {
    type: ['array', 'null'],
    description: 'Its purpose; null: only its styles are known.',
    items: { enum: ['chat', 'embeddings', 'images', 'speech', 'transcription'] },
  },
  context_window: tokens,
  max_output: tokens,
  abilities: {
    type: 'object',
    description: 'null: unknown.',
    required: ABILITIES,
    properties: Object.fromEntries(ABILITIES.map((ability) => [ability, perhaps])),
  },
  free: { ...boolean, description: 'Calls cost nothing.' },
  price: priceSchema,
  health: {
    enum: ['well', 'degraded', 'down'],
    description: 'degraded: some of its channels fail, or a fallback serves it. down: no channel can serve it.',
  },
  recent: recentSchema,
  groups: {
    type: ['array', 'null'],
    description: 'Your groups of channels that serve it, with their price factors; null: there are no groups.',
    items: object({
      name: text,
      factor: {
        type: ['string', 'null'],
        description: 'A decimal number; null: that of the group that serves the call.',
      },
    }),
  },
  channels: {
    type: ['array', 'null'],
    description: 'For administrators: the channels that serve it; otherwise null.',
    items: object({ name: text, vendor: text, state: { enum: ['closed', 'open', 'half-open'] } }),
  },
});
