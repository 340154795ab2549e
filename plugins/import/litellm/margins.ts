/**
 * Discounts and margins of LiteLLM (`cost_discount_config`, `cost_margin_config`), as part of the prices. Facts: BerriAI/litellm 1.110.2,
 * litellm/litellm_core_utils/cost_discount.py, litellm/cost_calculator.py (`_apply_cost_margin`).
 */
import { type Decimal, decimalText, inUnitsOf } from '../../../core/sdk.ts';
import type { ForeignPrice } from '../inventory.ts';
import { amountOf, asObject, product, type Row } from '../values.ts';

/** What a call costs of its price, and in addition. */
export interface Margin {
  readonly factor: Decimal;
  readonly perCall: Decimal;
}

/** Margins of a site. */
export interface Margins {
  /** That of a model; undefined: it costs its price. */
  of(provider: string, model: string): Margin | undefined;
  /** Entries that cannot be read. */
  readonly unread: readonly string[];
}

const ONE: Decimal = { digits: 1n, scale: 0 };
const NOTHING: Decimal = { digits: 0n, scale: 0 };
/** Members of a price that are no amounts of money. */
const NO_AMOUNTS = new Set(['above', 'from']);

/** Reads both settings. */
export function marginsOf(settings: Row): Margins {
  const discounts = Object.entries(asObject(settings.cost_discount_config));
  const margins = new Map(Object.entries(asObject(settings.cost_margin_config)));
  const isReadable = ([name, part]: readonly [string, unknown]): boolean =>
    !/[?[\]]/.test(name) && partBelowOne(part) !== undefined;
  return {
    unread: [
      ...discounts.filter((each) => !isReadable(each)).map(([name]) => `cost_discount_config.${name}`),
      ...[...margins]
        .filter(([, margin]) => readMargin(margin) === undefined)
        .map(([name]) => `cost_margin_config.${name}`),
    ],
    of(provider, model) {
      const discount = discountOf(discounts.filter(isReadable), provider, model);
      const margin = readMargin(margins.get(provider) ?? margins.get('global'));
      if (discount === undefined && margin === undefined) return undefined;
      const kept = discount === undefined ? ONE : difference(ONE, discount);
      return { factor: product(kept, margin?.factor ?? ONE), perCall: margin?.perCall ?? NOTHING };
    },
  };
}

/** A price with a margin. */
export function withMargin(price: ForeignPrice, { factor, perCall }: Margin): ForeignPrice {
  const all = multiplied(price, factor);
  const written = amountOf(all.perRequest) ?? NOTHING;
  return perCall.digits === 0n ? all : { ...all, perRequest: decimalText(sum(written, perCall)) };
}

function multiplied(price: ForeignPrice, factor: Decimal): ForeignPrice {
  const each = (value: ForeignPrice[string], field: string): ForeignPrice[string] => {
    if (typeof value === 'string')
      return NO_AMOUNTS.has(field) ? value : decimalText(product(amountOf(value) ?? NOTHING, factor));
    if (Array.isArray(value)) return value.map((row: ForeignPrice) => multiplied(row, factor));
    // A factor of a service tier is one of the price, which has the margin already.
    const entries = Object.entries(value as ForeignPrice);
    const isService = field === 'service';
    return Object.fromEntries(
      entries.map(([name, of]) => [name, isService && typeof of === 'string' ? of : each(of, name)]),
    );
  };
  return Object.fromEntries(Object.entries(price).map(([field, value]) => [field, each(value, field)]));
}

/** Of the discounts of a provider and its models: that of the exact name, of the longest pattern, or of the provider. */
function discountOf(
  discounts: readonly (readonly [string, unknown])[],
  provider: string,
  model: string,
): Decimal | undefined {
  const rank = (pattern: string): number =>
    pattern.includes('*') ? pattern.replaceAll('*', '').length : Number.MAX_VALUE;
  const [best] = discounts
    .flatMap(([name, part]) => {
      if (!name.startsWith(`${provider}/`)) return [];
      const pattern = name.slice(provider.length + 1);
      return isMatch(pattern, model) ? [{ rank: rank(pattern), part }] : [];
    })
    .sort((a, b) => b.rank - a.rank);
  return partBelowOne(best?.part ?? discounts.find(([name]) => name === provider)?.[1]);
}

function isMatch(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+^${}()|\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name);
}

/** A number, or an object with a percentage and a fixed amount in dollars. */
function readMargin(written: unknown): Margin | undefined {
  const [part, fixed] =
    typeof written === 'object' && written !== null
      ? [asObject(written).percentage ?? 0, asObject(written).fixed_amount ?? 0]
      : [written, 0];
  const [added, perCall] = [amountOf(part), amountOf(fixed)];
  return added === undefined || perCall === undefined ? undefined : { factor: sum(ONE, added), perCall };
}

function partBelowOne(value: unknown): Decimal | undefined {
  const part = amountOf(value);
  return part !== undefined && part.digits <= 10n ** BigInt(part.scale) ? part : undefined;
}

function sum(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: inUnitsOf(a, scale) + inUnitsOf(b, scale), scale };
}

function difference(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: inUnitsOf(a, scale) - inUnitsOf(b, scale), scale };
}
