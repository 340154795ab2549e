/** A price as `/api` shows it. */
import type { ModelPrice } from '../../../core/contracts/prices.ts';
import { boolean, text } from '../schemas.ts';

const perMillion = (of: string) => ({ ...text, description: `Currency units per million tokens of ${of}.` });

const amounts = {
  input: perMillion('input'),
  output: perMillion('output'),
  cacheRead: perMillion('input that is read from a cache'),
  cacheWrite: perMillion('input that is written to a cache'),
  cacheWriteLong: perMillion('input that is written to a cache for an hour'),
  inputAudio: perMillion('sound that is heard'),
  inputImage: perMillion('pictures that are looked at'),
  reasoning: perMillion('thoughts'),
  outputAudio: perMillion('sound that is made'),
  outputImage: perMillion('pictures that are made'),
  perImage: { ...text, description: 'Currency units per image, where nothing more is known of it.' },
  characters: { ...text, description: 'Currency units per million characters that are spoken.' },
  perHour: { ...text, description: 'Currency units per hour of sound that is heard.' },
  perRequest: { ...text, description: 'Currency units per call, beside everything else.' },
} as const satisfies Readonly<Record<Exclude<keyof ModelPrice, 'free' | 'text'>, object>>;

/** Its schema: decimal numbers as text; what is missing is charged as `input` or `output`, or not at all. */
export const priceSchema = {
  title: 'Price',
  type: ['object', 'null'],
  description: 'Decimal numbers as text; what is missing is charged as input or output. null: it has no price.',
  required: ['free', 'text'],
  properties: { free: boolean, text: { ...text, description: 'All of it on one line.' }, ...amounts },
} as const;
