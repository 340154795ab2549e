/** List prices of well-known vendors, from the data inside the package `@pydantic/genai-prices`; nothing is ever fetched. */
import { createRequire } from 'node:module';
import type { MatchLogic, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import { type Decimal, decimal } from './decimal.ts';
import type { PriceRow, Rate, Tier } from './price.ts';

/** Where a call goes: the name of the channel's vendor, its url, the vendor's name for the model. */
export interface Upstream {
  readonly vendor: string;
  readonly url: string;
  readonly model: string;
}

/** A list price that was found. */
export interface ListPrice {
  /** The same object for the same price, so that work done on it can be kept. */
  readonly row: PriceRow;
  /** The names under which the data knows it: `openai gpt-4o`. */
  readonly known: string;
  /** The first day it is valid, where the data tells. */
  readonly from: string | undefined;
}

/** Looks up list prices; undefined where the data does not know the vendor, or the model there, or cannot price it by tokens. */
export type ListPrices = (upstream: Upstream, atMs: number) => ListPrice | undefined;

/**
 * The data are read when the first price is asked for (about 30 ms and 20 MB), so a gateway whose prices all stand in
 * gateway.yaml never pays for them.
 */
export function listPrices(): ListPrices {
  const found = new Map<string, { readonly provider: Provider; readonly model: ModelInfo } | undefined>();
  const rows = new WeakMap<ModelPrice, { readonly row: PriceRow | undefined }>();

  return (upstream, atMs) => {
    const name = JSON.stringify([upstream.vendor, upstream.url, upstream.model]);
    if (!found.has(name)) found.set(name, find(upstream));
    const match = found.get(name);
    const prices = match && pricesAt(match.provider, match.model, upstream.model, atMs);
    if (!prices) return undefined;
    let known = rows.get(prices);
    if (!known) {
      known = { row: priceRow(prices) };
      rows.set(prices, known);
    }
    if (!known.row) return undefined;
    return { row: known.row, known: `${match.provider.id} ${match.model.id}`, from: startOf(match.model, prices) };
  };
}

type Package = typeof import('@pydantic/genai-prices');
const load = createRequire(import.meta.url);
const data = (): Package => load('@pydantic/genai-prices') as Package;

function find(upstream: Upstream): { readonly provider: Provider; readonly model: ModelInfo } | undefined {
  const provider = findProvider(upstream);
  const match = provider && data().calcPrice({}, upstream.model, { provider });
  return match ? { provider, model: match.model } : undefined;
}

/**
 * The url tells best who is asked. Behind a url the data does not know, the vendor's name counts where it is a provider's own
 * name, letter for letter: its list price is then the best guess an operator can have meant. Nothing is derived from the name
 * of a model alone; a price that is wrong is worse than none.
 */
function findProvider({ vendor, url }: Upstream): Provider | undefined {
  const byUrl = url ? data().findProvider({ providerApiUrl: url }) : undefined;
  if (byUrl) return byUrl;
  const byName = vendor ? data().findProvider({ providerId: vendor }) : undefined;
  return byName && (byName.id === vendor || namesOf(byName.provider_match).includes(vendor)) ? byName : undefined;
}

/** The other names of a provider: `gemini`, `vertex`. */
function namesOf(match: MatchLogic | undefined): readonly string[] {
  if (!match) return [];
  if ('or' in match) return match.or.flatMap(namesOf);
  if ('contains' in match) return [match.contains];
  if ('equals' in match) return [match.equals];
  return [];
}

/** The prices that apply at a time: the data has dates, and hours of the day, for some models. */
function pricesAt(provider: Provider, model: ModelInfo, name: string, atMs: number): ModelPrice | undefined {
  if (!Array.isArray(model.prices)) return model.prices;
  return data().calcPrice({}, name, { provider: { ...provider, models: [model] }, timestamp: new Date(atMs) })
    ?.model_price;
}

function startOf(model: ModelInfo, prices: ModelPrice): string | undefined {
  if (!Array.isArray(model.prices)) return undefined;
  const constraint = model.prices.find((each) => each.prices === prices)?.constraint;
  return constraint?.type === 'start_date' ? constraint.start_date : undefined;
}

/** What the data calls our rates: currency units per million tokens. */
const RATE_OF: Readonly<Record<string, Rate>> = {
  input_mtok: 'input',
  cache_read_mtok: 'cacheRead',
  cache_write_mtok: 'cacheWrite',
  cache_write_1h_mtok: 'cacheWriteLong',
  input_audio_mtok: 'inputAudio',
  output_mtok: 'output',
  output_reasoning_mtok: 'reasoning',
  output_audio_mtok: 'outputAudio',
};
/**
 * Priced in the data and left out here: searches, which a usage record does not count, and cached audio, which costs what other
 * cached input does.
 */
const LEFT_OUT = new Set(['web_searches_kcount', 'storage_searches_kcount', 'cache_audio_read_mtok']);

/**
 * A row of the data in our form. Undefined where it prices by something a usage record does not tell (minutes, pages, tokens of
 * images), since tokens alone would then come out wrong, and where it prices nothing.
 */
function priceRow(prices: ModelPrice): PriceRow | undefined {
  const rates: Partial<Record<Rate, Decimal>> = {};
  const tiers: Tier[] = [];
  let perRequest: Decimal | undefined;
  for (const [key, price] of Object.entries(prices)) {
    const rate = RATE_OF[key];
    if (price === undefined || LEFT_OUT.has(key)) continue;
    if (key === 'requests_kcount' && typeof price === 'number') {
      const { digits, scale } = decimal(price);
      perRequest = { digits, scale: scale + 3 };
    } else if (!rate) {
      return undefined;
    } else if (typeof price === 'number') {
      rates[rate] = decimal(price);
    } else {
      // A tier of the data holds for the whole call once its input has more than `start` tokens, as ours do.
      rates[rate] = decimal(price.base);
      for (const { start, price: above } of price.tiers)
        tiers.push({ above: start, rates: { [rate]: decimal(above) } });
    }
  }
  return Object.keys(rates).length || perRequest ? { rates, perRequest, tiers: joined(tiers) } : undefined;
}

/** One tier for each border. */
function joined(tiers: readonly Tier[]): readonly Tier[] {
  const byBorder = new Map<number, Tier>();
  for (const { above, rates } of tiers) {
    byBorder.set(above, { above, rates: { ...byBorder.get(above)?.rates, ...rates } });
  }
  return [...byBorder.values()];
}
