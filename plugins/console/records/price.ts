/** A price in the API. */
import type { ModelPrice } from '../../../core/contracts/prices.ts';
import { RATE_NAMES, RATES, type Rate } from '../../../core/contracts/rates.ts';
import { boolean, text } from '../schemas.ts';

const rates = Object.fromEntries(
  RATE_NAMES.map((rate) => [rate, { ...text, description: `Currency units per million tokens: ${RATES[rate].of}.` }]),
) as Readonly<Record<Rate, typeof text & { readonly description: string }>>;

const amounts = {
  ...rates,
  perImage: { ...text, description: 'Currency units per image of any other kind.' },
  characters: { ...text, description: 'Currency units per million characters of speech.' },
  perHour: { ...text, description: 'Currency units per hour of audio input.' },
  perRequest: { ...text, description: 'Currency units per call, in addition to everything else.' },
} as const satisfies Readonly<Record<Exclude<keyof ModelPrice, 'free' | 'text'>, object>>;

/** Its schema: decimal numbers as text. Token rates that are missing default to `input` or `output`; other missing rates are free. */
export const priceSchema = {
  title: 'Price',
  type: ['object', 'null'],
  description: 'Decimal numbers as text; missing token rates default to input or output. null: no price.',
  required: ['free', 'text'],
  properties: { free: boolean, text: { ...text, description: 'The whole price on one line.' }, ...amounts },
} as const;
