/** What an exchange may cost and what it comes to: the price book applied to the catalog. Amounts are micro-quota. */
import type { Catalog, Model } from '../../core/contracts/catalog.ts';
import { type Call, type Exchange, refuse, type Usage, type Uses } from '../../core/plugin.ts';
import { type Care, tokenBounds } from './estimate.ts';
import { type PriceRow, partOf } from './price.ts';
import type { MissingPrice, PriceBook, Upstream } from './price-book.ts';
import type { QuotaSection } from './sections.ts';

/** The prices of exchanges. */
export interface Tariff {
  /**
   * The most a call can cost, whichever of its model's channels or fallbacks serves it: the price, or so many millionths of it. `output`:
   * of so many tokens, where that is not what its bounds say. Refuses a model that is unknown (404) or has no price (402).
   */
  most(call: Call, atMs: number, factorPpm: bigint | undefined, care: Care, output?: number): bigint;
  /** The longest answer of all that may serve a call, in tokens; undefined where that is not known of each. */
  longest(call: Call): number | undefined;
  /**
   * What an exchange comes to by now, whether or not its hold covers that. Nothing is due for failures, the vendor's or
   * ours, before the first byte was delivered. `usage`: what it used, made believable. `fixed` is the price of a passage; undefined for a call.
   */
  due(x: Exchange, usage: Usage | undefined, fixed: bigint | undefined, factorPpm: bigint | undefined): bigint;
  /** The price that an exchange was charged by, for its record; undefined where nothing has one. */
  rowOf(x: Exchange): PriceRow | undefined;
  /** Whether what served it costs nothing only for want of a price. */
  isUnpriced(x: Exchange): boolean;
  /**
   * The prices for people, one line each, and warnings for models that have none: of all models or, for a name, of all that may
   * serve it. Refuses (404) a name that is unknown.
   */
  lines(atMs: number, name?: string): readonly string[];
}

/** Makes it. `options`: what gateway.yaml says of estimates, and of models without a price. */
export function createTariff(catalog: Catalog, book: PriceBook, options: QuotaSection): Tariff {
  /** One price for all names of a pattern, or what becomes of those that have none of their own. */
  function patternLine(model: Model, atMs: number): string {
    const own = book.describe(model, undefined, atMs);
    if (own !== undefined) return `price of ${own}`;
    const without = options.unpriced === 'refuse' ? 'one without is refused (model_not_priced)' : 'one without is free';
    return `price of ${model.name}: that of each name; ${without}`;
  }

  return {
    most({ model: name, style, bounds }, atMs, factorPpm, care, output) {
      catalog.require(name);
      const models = catalog.chain(name, style);
      if (models.every(({ free }) => free)) return 0n;
      const tokens = tokenBounds(bounds, options, care, output);
      const allUses = Object.keys(bounds.uses?.() ?? {});
      let dearest = 0n;
      for (const model of models) {
        for (const from of model.from) {
          const upstream = upstreamOf(from);
          const uses = allUses.filter((use) => from.runs?.(style, use) !== false);
          const here = uses.length === allUses.length ? tokens : { ...tokens, uses: only(tokens.uses, uses) };
          const amount = book.most(model, upstream, bounds, here, atMs, factorPpm);
          if (options.unpriced === 'refuse') {
            if (amount === undefined) refuseUnpriced(model);
            const missing = book.missing(model, upstream, { uses, service: bounds.service }, atMs);
            if (missing !== undefined) refuseMissing(model, missing);
          }
          if (amount !== undefined && amount > dearest) dearest = amount;
        }
      }
      return dearest;
    },

    longest({ model, style }) {
      let longest = 0;
      for (const { from } of catalog.chain(model, style)) {
        for (const { limits } of from) {
          if (limits?.max_output === undefined) return undefined;
          longest = Math.max(longest, limits.max_output);
        }
      }
      return longest;
    },

    due(x, usage, fixed, factorPpm) {
      if (x.outcome === 'refused' || (x.outcome === 'failed' && !x.delivered)) return 0n;
      if (fixed !== undefined) return x.delivered || x.outcome === 'served' ? partOf(fixed, factorPpm) : 0n;
      if (usage === undefined || x.served === undefined) return 0n;
      // Charged for the moment it was held for: a price that changes on the way cannot outgrow the hold.
      const model = catalog.require(x.served.priced);
      return book.cost(model, upstreamOf(x.served), usage, x.startedMs, factorPpm) ?? 0n;
    },

    rowOf(x) {
      if (x.served === undefined) return undefined;
      return book.row(catalog.require(x.served.priced), upstreamOf(x.served), x.startedMs, x.usage?.service);
    },

    isUnpriced(x) {
      if (options.unpriced === 'refuse' || x.served === undefined) return false;
      const model = catalog.require(x.served.priced);
      return !model.free && book.row(model, upstreamOf(x.served), x.startedMs) === undefined;
    },

    lines(atMs, name) {
      const models = name === undefined ? catalog.names().map((each) => catalog.require(each)) : catalog.chain(name);
      // Behind an alias stands a model that is there already.
      const ofNames = [...new Set(models)].flatMap((model) => {
        const prices = model.from.map((from) => book.describe(model, upstreamOf(from), atMs));
        if (!prices.includes(undefined)) return [...new Set(prices)].map((price) => `price of ${price}`);
        return options.unpriced === 'refuse'
          ? [`warning: model ${model.name} has no price and is not free: calls are refused (model_not_priced)`]
          : [`warning: model ${model.name} has no price: calls are free`];
      });
      return name === undefined
        ? [...ofNames, ...catalog.patterns().map((model) => patternLine(model, atMs))]
        : ofNames;
    },
  };
}

/** What the price book wants to know of a place where a model may be had. */
export function upstreamOf(from: Model['from'][number]): Upstream {
  return { vendor: from.channel.vendor, url: from.channel.url, model: from.model };
}

/** Those of some uses that can be made. */
function only(uses: Uses | undefined, names: readonly string[]): Uses {
  return Object.fromEntries(Object.entries(uses ?? {}).filter(([name]) => names.includes(name)));
}

/** A tool, or a way of being served, is refused before its vendor is asked, as a model without a price is. */
function refuseMissing({ name: model }: Model, { kind, name }: MissingPrice): never {
  const headers = { 'x-should-retry': 'false' };
  const instead = (key: string): string =>
    `Ask without it, or give it a price in gateway.yaml, such as \`${key}\` among those of the model.`;
  if (kind === 'tool') {
    const message = `The tool "${name}" has no price with the model "${model}". ${instead(`perUse: { ${name}: 0.01 }`)}`;
    refuse(402, 'tool_not_priced', message, { param: 'tools', headers });
  }
  const message = `To be served as "${name}" has no price with the model "${model}". ${instead(`service: { ${name}: 2 }`)}`;
  refuse(402, 'service_not_priced', message, { param: 'service_tier', headers });
}

function refuseUnpriced(model: Model): never {
  refuse(
    402,
    'model_not_priced',
    `The model "${model.name}" has no price, or none for calls of this kind. Give it one under \`prices:\` in gateway.yaml, or say \`free: true\` in its entry.`,
    { param: 'model', headers: { 'x-should-retry': 'false' } },
  );
}
