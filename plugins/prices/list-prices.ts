/**
 * List prices of well-known vendors, from the package `@pydantic/genai-prices` and, for models that it does not have yet, from newest.ts;
 * nothing is downloaded.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { MatchLogic, ModelInfo, ModelPrice, Provider } from '@pydantic/genai-prices';
import { RATE_NAMES, RATES, type Rate } from '../../core/contracts/formats/rates.ts';
import { boundedMap, type Decimal, decimal } from '../../core/sdk.ts';
import { type Newest, newestPrice } from './newest.ts';
import { pricesNothing } from './price.ts';
import type { PriceRow, Tier } from './price-row.ts';
import { type PublishedBeside, publishedBeside, publishedPrice } from './published.ts';

/** The upstream of a call: the name of the channel's vendor, its URL, and the vendor's model name. */
export interface Upstream {
  readonly vendor: string;
  readonly url: string;
  readonly model: string;
}

/** A list price that was found. */
export interface ListPrice {
  /** The same object for the same price, so that results derived from it can be cached. */
  readonly row: PriceRow;
  /** The source, with its names of vendor and model: `genai-prices data, openai gpt-4o`. */
  readonly source: string;
  /** The first day on which it is valid, if the data has one. */
  readonly from: string | undefined;
}

/** List prices that were taken over, and apply from a time on. */
export interface Epoch {
  /** Unix milliseconds. */
  readonly fromMs: number;
  /** All that were taken over until then, by the names of provider and model in the data. */
  readonly models: ReadonlyMap<string, ReadonlyMap<string, ModelInfo>>;
}

/** All of them. */
export interface Epochs {
  /** The one that applies at a time; the same object each time. Undefined: the data that ships applies. */
  at(atMs: number): Epoch | undefined;
  /** Later ones. */
  after(atMs: number): readonly Epoch[];
}

const NO_EPOCHS: Epochs = { at: () => undefined, after: () => [] };

/** The data is loaded with the first lookup (about 30 ms and 20 MB), so a gateway with all its prices in gateway.yaml does not need it. */
export function listPrices(epochs: Epochs = NO_EPOCHS) {
  const shipped = lookups();
  const taken = new WeakMap<Epoch, Lookups>();
  const rows = new WeakMap<ModelPrice, { readonly row: PriceRow | undefined }>();

  function inData({ provider, model, epoch }: Found, name: string, atMs: number): ListPrice | undefined {
    const prices = model && pricesAt(provider, model, name, atMs);
    if (!prices) return undefined;
    let cached = rows.get(prices);
    if (!cached) {
      cached = { row: priceRow(prices, publishedBeside(provider.id, model.id)) };
      rows.set(prices, cached);
    }
    const version = epoch?.models.get(provider.id)?.has(model.id) === true ? ` of ${dayOf(epoch)}` : '';
    const source = `genai-prices data${version}, ${provider.id} ${model.id}`;
    return cached.row && { row: cached.row, source, from: startOf(model, prices) };
  }

  function foundFor(upstream: Upstream, atMs: number): Found | undefined {
    const epoch = epochs.at(atMs);
    let found = shipped;
    if (epoch !== undefined) {
      found = taken.get(epoch) ?? lookups();
      taken.set(epoch, found);
    }
    const name = JSON.stringify([upstream.vendor, upstream.url, upstream.model]);
    if (!found.has(name)) found.set(name, find(upstream, epoch));
    return found.get(name);
  }

  return {
    /** Undefined if the data has no such vendor or model, or prices it by units that the gateway does not count. */
    at(upstream: Upstream, atMs: number): ListPrice | undefined {
      const match = foundFor(upstream, atMs);
      if (!match) return undefined;
      const newest = newestOf(match, upstream.model);
      const list = newest === undefined ? inData(match, upstream.model, atMs) : inNewest(match, newest, atMs);
      if (list) return list;
      const row = publishedPrice(match.provider.id, upstream.model);
      return row && { row, source: `list price, ${match.provider.id} ${upstream.model}`, from: undefined };
    },
    /** Prices that become valid after that time, in order. */
    after(upstream: Upstream, atMs: number): readonly ListPrice[] {
      const match = foundFor(upstream, atMs);
      const newest = match && newestOf(match, upstream.model);
      const starts = newest?.rows.map(({ fromMs }) => fromMs) ?? startsOf(match?.model);
      const dated = starts.filter((startMs) => startMs > atMs);
      const taken = epochs.after(atMs).map(({ fromMs }) => fromMs);
      let before = this.at(upstream, atMs)?.row;
      return [...new Set([...dated, ...taken])]
        .sort((a, b) => a - b)
        .flatMap((startMs) => {
          const list = this.at(upstream, startMs);
          // Most of what is taken over is about other models.
          if (list === undefined || list.row === before) return [];
          before = list.row;
          return [list];
        });
    },
    /** The names of provider and model in the data, `acme model-1`; undefined: it has none. */
    nameOf(upstream: Upstream, atMs: number): string | undefined {
      const match = foundFor(upstream, atMs);
      return match?.model && `${match.provider.id} ${match.model.id}`;
    },
    /** The context window in tokens, if it is known. */
    context(upstream: Upstream, atMs: number): number | undefined {
      const match = foundFor(upstream, atMs);
      return (match && newestOf(match, upstream.model)?.context) ?? match?.model?.context_window;
    },
  };
}

/** The entry of our own list, if the data has no model of exactly this name: by a pattern it may take another for it. */
function newestOf({ provider, model }: Found, name: string): Newest | undefined {
  const newest = newestPrice(provider.id, name);
  return newest?.id === model?.id ? undefined : newest;
}

function inNewest({ provider }: Found, { id, rows }: Newest, atMs: number): ListPrice | undefined {
  const dated = rows.find(({ fromMs }) => fromMs <= atMs);
  if (dated === undefined) return undefined;
  const from = Number.isFinite(dated.fromMs) ? new Date(dated.fromMs).toISOString().slice(0, 10) : undefined;
  return { row: dated.row, source: `list price, ${provider.id} ${id}`, from };
}

/** Looks up list prices. */
export type ListPrices = ReturnType<typeof listPrices>;

/** The source of the data. */
export const DATA_NAME = '@pydantic/genai-prices';

/** The version of the data that this gateway includes. */
export function dataVersion(): string {
  // The package does not export its package.json, which is next to the folder of its code.
  const file = join(dirname(load.resolve(DATA_NAME)), '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}

/** The vendor at an upstream, and the model there if the data has it. */
interface Found {
  readonly provider: Provider;
  readonly model: ModelInfo | undefined;
  readonly epoch: Epoch | undefined;
}

/** By vendor, URL and model. With a pattern, callers choose the model name. */
type Lookups = Map<string, Found | undefined>;
const lookups = (): Lookups => boundedMap<string, Found | undefined>(10_000);

const dayOf = ({ fromMs }: Epoch): string => new Date(fromMs).toISOString().slice(0, 10);

type Package = typeof import('@pydantic/genai-prices');
const load = createRequire(import.meta.url);
/** The package, which is loaded with the first use. */
export const data = (): Package => load(DATA_NAME) as Package;

function find(upstream: Upstream, epoch: Epoch | undefined): Found | undefined {
  const shipped = findProvider(upstream);
  if (shipped === undefined) return undefined;
  const taken = epoch?.models.get(shipped.id);
  const provider = taken === undefined ? shipped : { ...shipped, models: merged(shipped.models, taken) };
  return { provider, model: data().calcPrice({}, upstream.model, { provider })?.model, epoch };
}

/** The entries of a provider with those that were taken over: in the place of the old ones, new ones first. */
export function merged(models: readonly ModelInfo[], taken: ReadonlyMap<string, ModelInfo>): ModelInfo[] {
  const known = new Set(models.map(({ id }) => id));
  const added = [...taken.values()].filter(({ id }) => !known.has(id));
  return [...added, ...models.map((model) => taken.get(model.id) ?? model)];
}

/**
 * Identifies the vendor by its URL. If the data does not know the URL, the vendor's name counts if it is exactly that of
 * a provider. A model name alone decides nothing: a wrong price is worse than none.
 */
function findProvider({ vendor, url }: Upstream): Provider | undefined {
  const byUrl = url ? data().findProvider({ providerApiUrl: url }) : undefined;
  if (byUrl) return byUrl;
  const byName = vendor ? data().findProvider({ providerId: vendor }) : undefined;
  return byName && (byName.id === vendor || namesOf(byName.provider_match).includes(vendor)) ? byName : undefined;
}

/** Other names of a provider: `gemini`, `vertex`. */
function namesOf(match: MatchLogic | undefined): readonly string[] {
  if (!match) return [];
  if ('or' in match) return match.or.flatMap(namesOf);
  if ('contains' in match) return [match.contains];
  if ('equals' in match) return [match.equals];
  return [];
}

/** The prices that apply at a time: for some models, the data has dates and times of day. */
function pricesAt(provider: Provider, model: ModelInfo, name: string, atMs: number): ModelPrice | undefined {
  if (!Array.isArray(model.prices)) return model.prices;
  return data().calcPrice({}, name, { provider: { ...provider, models: [model] }, timestamp: new Date(atMs) })
    ?.model_price;
}

/** The days from which a model's prices are valid, in milliseconds, in order. */
function startsOf(model: ModelInfo | undefined): readonly number[] {
  if (model === undefined || !Array.isArray(model.prices)) return [];
  return model.prices
    .flatMap(({ constraint }) => (constraint?.type === 'start_date' ? [Date.parse(constraint.start_date)] : []))
    .sort((a, b) => a - b);
}

function startOf(model: ModelInfo, prices: ModelPrice): string | undefined {
  if (!Array.isArray(model.prices)) return undefined;
  const constraint = model.prices.find((each) => each.prices === prices)?.constraint;
  return constraint?.type === 'start_date' ? constraint.start_date : undefined;
}

/** Our rates by their names in the data. */
const RATE_OF = new Map<string, Rate>(RATE_NAMES.map((rate) => [RATES[rate].published, rate]));
/** The names of vendor-side tools in the data: currency units per thousand uses. */
const USE_OF: Readonly<Record<string, string>> = {
  web_searches_kcount: 'web_search',
  storage_searches_kcount: 'file_search',
};
/**
 * Rates of the data that are not used: cached audio and images, which are charged like other cached input, because
 * vendors do not report them separately.
 */
const LEFT_OUT = new Set(['cache_audio_read_mtok', 'cache_image_read_mtok']);

/**
 * Converts a row of the data. Undefined if it has rates for what usage records do not count (pages, video tokens),
 * because the other rates alone would be wrong, and if it has no rate.
 */
function priceRow(prices: ModelPrice, beside: PublishedBeside): PriceRow | undefined {
  const rates: Partial<Record<Rate, Decimal>> = {};
  const tiers: Tier[] = [];
  let perRequest: Decimal | undefined;
  let perHour: Decimal | undefined;
  const perUse = new Map(beside.perUse);
  for (const [key, price] of Object.entries(prices)) {
    const rate = RATE_OF.get(key);
    if (price === undefined || LEFT_OUT.has(key)) continue;
    // All audio; the data prices audio input separately.
    if (key === 'audio_hours' && price === prices.input_audio_hours) continue;
    if (USE_OF[key] !== undefined && typeof price === 'number') {
      const { digits, scale } = decimal(price);
      perUse.set(USE_OF[key], { digits, scale: scale + 3 });
    } else if (key === 'requests_kcount' && typeof price === 'number') {
      const { digits, scale } = decimal(price);
      perRequest = { digits, scale: scale + 3 };
    } else if (key === 'input_audio_hours' && typeof price === 'number') {
      perHour = decimal(price);
    } else if (!rate) {
      return undefined;
    } else if (typeof price === 'number') {
      rates[rate] = decimal(price);
    } else {
      // A tier of the data applies to the whole call once its input has more than `start` tokens, as ours do.
      rates[rate] = decimal(price.base);
      for (const { start, price: above } of price.tiers)
        tiers.push({ above: start, rates: { [rate]: decimal(above) } });
    }
  }
  const own = { rates, units: { perHour }, perRequest, tiers: joined(tiers) };
  // Rates for tools alone are not the price of a model.
  if (pricesNothing(own)) return undefined;
  return {
    ...own,
    units: { perHour, ...(perUse.size > 0 && { perUse }) },
    ...(beside.service !== undefined && { service: beside.service }),
  };
}

/** One tier for each threshold. */
function joined(tiers: readonly Tier[]): readonly Tier[] {
  const byBorder = new Map<number, Tier>();
  for (const { above, rates } of tiers) {
    byBorder.set(above, { above, rates: { ...byBorder.get(above)?.rates, ...rates } });
  }
  return [...byBorder.values()];
}
