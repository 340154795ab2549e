/** The maximum cost and the actual cost of a call, for every channel of its model. Amounts are micro-quota. */
import type { Catalog, Model } from '../../core/contracts/catalog.ts';
import { partOf, type Tariff, type TariffOptions } from '../../core/contracts/prices.ts';
import type { JsonObject, Uses } from '../../core/plugin.ts';
import type { MissingPrice, PriceBook } from './book.ts';
import { errors } from './errors.ts';
import { tokenBounds } from './estimate.ts';
import type { Upstream } from './list-prices.ts';
import type { PriceRow } from './price.ts';
import { noteOfFixed, noteOfPrice } from './receipt.ts';
import { isPossible, saneUsage } from './usage.ts';

/** Creates it. */
export function createTariff(catalog: Catalog, book: PriceBook, options: TariffOptions): Tariff {
  /** Notes of prices: each is made once, so that records share it. */
  const notes = new WeakMap<PriceRow, JsonObject>();

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
      // Charged for the time of its reservation, so that a price that changes in between cannot exceed it.
      const model = catalog.require(x.served.priced);
      return book.cost(model, upstreamOf(x.served), usage, x.startedMs, factorPpm) ?? 0n;
    },

    note(x, fixed) {
      if (fixed !== undefined) return noteOfFixed(fixed, options.perUnit);
      if (x.served === undefined) return undefined;
      const row = book.row(catalog.require(x.served.priced), upstreamOf(x.served), x.startedMs, x.usage?.service);
      if (row === undefined) return undefined;
      let note = notes.get(row);
      if (note === undefined) {
        note = noteOfPrice(row, options.perUnit);
        notes.set(row, note);
      }
      return note;
    },

    isUnpriced(x) {
      if (options.unpriced === 'refuse' || x.served === undefined) return false;
      const model = catalog.require(x.served.priced);
      return !model.free && book.row(model, upstreamOf(x.served), x.startedMs) === undefined;
    },

    tokens: (bounds, care, output) => tokenBounds(bounds, options, care, output),
    sane: saneUsage,
    isPossible,
  };
}

/** A channel that serves a model, for the price book. */
export function upstreamOf(from: Model['from'][number]): Upstream {
  return { vendor: from.channel.vendor, url: from.channel.url, model: from.model };
}

/** The uses of some tools. */
function only(uses: Uses | undefined, names: readonly string[]): Uses {
  return Object.fromEntries(Object.entries(uses ?? {}).filter(([name]) => names.includes(name)));
}

/** A tool or a service tier without a price is refused before the request is sent, like a model without a price. */
function refuseMissing({ name: model }: Model, { kind, name }: MissingPrice): never {
  throw kind === 'tool' ? errors.tool_not_priced(name, model) : errors.service_not_priced(name, model);
}

function refuseUnpriced(model: Model): never {
  throw errors.model_not_priced(model.name);
}
