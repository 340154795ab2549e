/**
 * List prices that `genai-prices` does not have, because they are not per token, or apply to some calls only: as their
 * vendors publish them.
 */
import type { PriceRow, ServicePrices, UsePrices } from './price-row.ts';
import { type PriceFields, readPrice } from './section.ts';

const DALL_E_2: PriceFields = { perImage: { '256x256': 0.016, '512x512': 0.018, '1024x1024': 0.02 } };
const DALL_E_3: PriceFields = {
  perImage: {
    default: 0.04,
    '1024x1792': 0.08,
    '1792x1024': 0.08,
    hd: 0.08,
    'hd/1024x1792': 0.12,
    'hd/1792x1024': 0.12,
  },
};
const TTS_1: PriceFields = { characters: 15 };
const TTS_1_HD: PriceFields = { characters: 30 };

/**
 * By the provider's name in the data, and the model's. Uncertain prices are omitted: without a price, a call is refused
 * with an explicit error.
 */
const PUBLISHED: Readonly<Record<string, Readonly<Record<string, PriceFields>>>> = {
  // platform.openai.com/docs/pricing: dall-e-2 since November 2022, the others since November 2023.
  openai: {
    'dall-e-2': DALL_E_2,
    'dall-e-3': DALL_E_3,
    'tts-1': TTS_1,
    'tts-1-1106': TTS_1,
    'tts-1-hd': TTS_1_HD,
    'tts-1-hd-1106': TTS_1_HD,
  },
};

const rows = new Map<string, PriceRow>();

/** The same object each time; undefined if nothing is published here. */
export function publishedPrice(provider: string, model: string): PriceRow | undefined {
  const name = `${provider} ${model}`;
  const cached = rows.get(name);
  if (cached !== undefined) return cached;
  const models = Object.hasOwn(PUBLISHED, provider) ? PUBLISHED[provider]! : {};
  if (!Object.hasOwn(models, model)) return undefined;
  const row = readPrice(models[model], [provider, model], (path, message) => {
    throw new Error(`${path.join('.')}: ${message}`);
  })?.[0]?.row;
  if (row !== undefined) rows.set(name, row);
  return row;
}

/** Prices of units other than tokens, for models in the data. */
export type PublishedBeside = { readonly perUse?: UsePrices | undefined; readonly service?: ServicePrices | undefined };

const BESIDE: readonly { readonly provider: string; readonly models: RegExp; readonly price: PriceFields }[] = [
  // platform.claude.com/docs/en/about-claude/pricing: inference in the US costs a tenth more; older models refuse
  // `inference_geo`.
  { provider: 'anthropic', models: /./, price: { service: { us: 1.1 } } },
  // ai.google.dev/gemini-api/docs/pricing: 35 per thousand prompts that are grounded, for later models 14 per thousand searches.
  { provider: 'google', models: /^gemini-[12][.-]/, price: { perUse: { web_search: 0.035 } } },
  { provider: 'google', models: /^gemini-[3-9]/, price: { perUse: { web_search: 0.014 } } },
];

/** Empty if nothing is published. */
export function publishedBeside(provider: string, model: string): PublishedBeside {
  const entry = BESIDE.find((each) => each.provider === provider && each.models.test(model));
  if (entry === undefined) return {};
  const row = readPrice({ input: 0, ...entry.price }, [provider, model], (path, message) => {
    throw new Error(`${path.join('.')}: ${message}`);
  })?.[0]?.row;
  return { perUse: row?.units?.perUse, service: row?.service };
}
