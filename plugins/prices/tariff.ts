/** The maximum cost and the actual cost of a call, for every channel of its model. Amounts are micro-quota. */

import type { Catalog, Model } from '../../core/contracts/catalog.ts';
import { reached } from '../../core/contracts/groups.ts';
import { partOf, type Tariff, type TariffOptions } from '../../core/contracts/prices.ts';
import type { Call, JsonObject, Uses } from '../../core/plugin.ts';
import { isPossible, saneUsage } from '../../core/sdk.ts';
import type { MissingPrice, PriceBook } from './book.ts';
import { errors } from './errors.ts';
import { tokenBounds } from './estimate.ts';
import type { Upstream } from './list-prices.ts';
import type { PriceRow } from './price-row.ts';
import { noteOfFixed, noteOfPrice } from './receipt.ts';

/** The models of a catalog as calls see them that reach only some of its channels. */
function catalogWithin(catalog: Catalog, channels: ReadonlySet<string>): Catalog {
  const within = (model: Model): Model => ({ ...model, from: reached(model.from, { channels }) });
  return {
    ...catalog,
    require: (name, holder) => within(catalog.require(name, holder)),
    chain: (name, style) =>
      catalog
        .chain(name, style)
        .map(within)
        .filter(({ from }) => from.length > 0),
  };
}

/** Creates it. */
export function createTariff(catalog: Catalog, book: PriceBook, options: TariffOptions): Tariff {
  const byChannels = new WeakMap<ReadonlySet<string>, Tariff>();
  /** Notes of prices: each is made once, so that records share it. */
  const notes = new WeakMap<PriceRow, JsonObject>();

  /** The tools without a price here that the call can do without. Refuses those that it cannot, and a service tier without a price. */
  function unpaidAt(model: Model, from: Model['from'][number], call: Uncounted, atMs: number): readonly string[] {
    if (options.unpriced !== 'refuse') return [];
    const { service, spare } = call.bounds;
    let uses = usesAt(from, call);
    const unpaid: string[] = [];
    for (;;) {
      const missing = book.missing(model, upstreamOf(from), { uses, service }, atMs);
      if (missing === undefined) return unpaid;
      const { kind, name } = missing;
      if (kind !== 'tool' || spare?.().includes(name) !== true) refuseMissing(model, missing);
      unpaid.push(name);
      uses = uses.filter((use) => use !== name);
    }
  }

  return {
    most({ model: name, style, bounds }, atMs, factor, care, output) {
      catalog.require(name);
      const models = catalog.chain(name, style);
      if (models.every(({ free }) => free)) return 0n;
      const tokens = tokenBounds(bounds, options, care, output);
      const allUses = Object.keys(bounds.uses?.() ?? {});
      let dearest = 0n;
      for (const model of models) {
        for (const from of model.from) {
          const upstream = upstreamOf(from);
          const unpaid = unpaidAt(model, from, { style, bounds }, atMs);
          const uses = usesAt(from, { style, bounds }).filter((use) => !unpaid.includes(use));
          const here = uses.length === allUses.length ? tokens : { ...tokens, uses: only(tokens.uses, uses) };
          const amount = book.most(model, upstream, bounds, here, atMs, factor);
          if (amount === undefined && options.unpriced === 'refuse') refuseUnpriced(model);
          if (amount !== undefined && amount > dearest) dearest = amount;
        }
      }
      return dearest;
    },

    unpaid(call, atMs) {
      if (call.bounds.uses?.() === undefined) return [];
      const unpaid = catalog
        .chain(call.model, call.style)
        .flatMap((model) => model.from.flatMap((from) => unpaidAt(model, from, call, atMs)));
      return [...new Set(unpaid)];
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

    due(x, usage, fixed, factor) {
      if (x.outcome === 'refused' || (x.outcome === 'failed' && !x.delivered)) return 0n;
      if (fixed !== undefined) return x.delivered || x.outcome === 'served' ? partOf(fixed, factor) : 0n;
      if (usage === undefined || x.served === undefined) return 0n;
      // Charged for the time of its reservation, so that a price that changes in between cannot exceed it.
      const model = catalog.require(x.served.priced);
      return book.cost(model, upstreamOf(x.served), usage, x.startedMs, factor) ?? 0n;
    },

    note(x, fixed) {
      if (fixed !== undefined) return noteOfFixed(fixed, options.perUnit);
      if (x.served === undefined) return undefined;
      const { service, uses } = x.usage ?? {};
      const row = book.row(catalog.require(x.served.priced), upstreamOf(x.served), x.startedMs, service, uses);
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

    within(channels) {
      let tariff = byChannels.get(channels);
      if (tariff === undefined) {
        tariff = createTariff(catalogWithin(catalog, channels), book, options);
        byChannels.set(channels, tariff);
      }
      return tariff;
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

/** What tools of a call depend on. */
type Uncounted = Pick<Call, 'style' | 'bounds'>;

/** The vendor-side tools that a call can use at a channel. */
function usesAt(from: Model['from'][number], { style, bounds }: Uncounted): readonly string[] {
  return Object.keys(bounds.uses?.() ?? {}).filter((use) => from.runs?.(style, use) !== false);
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
