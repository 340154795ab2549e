/** Prices of vendor-side tools, per use, and of service tiers. */

import { RATE_NAMES, type Rate } from '../../core/contracts/formats/rates.ts';
import { type Decimal, decimalText } from '../../core/sdk.ts';
import { amountSchema, type Fields, fieldsOf, type Path, type Problem, readAmount } from './fields.ts';
import type { PriceRow, Rates, ServicePrice, ServicePrices, UsePrices } from './price-row.ts';

/** As written in gateway.yaml. */
export type UsePriceFields = Readonly<Record<string, number>>;
export type ServicePriceFields = Readonly<Record<string, number | { readonly [R in Rate]?: number }>>;

const NAME = '^[a-z][a-z0-9_.:-]*$';
const rateSchemas = Object.fromEntries(RATE_NAMES.map((rate) => [rate, amountSchema]));

const byName = (description: string, additionalProperties: object) => ({
  description,
  type: 'object',
  minProperties: 1,
  propertyNames: { pattern: NAME },
  additionalProperties,
});

/** The schema of `perUse`. */
export const usePricesSchema = byName(
  'Currency units per use of a vendor-side tool: web_search, file_search, code_execution, image_generation, or its name in requests.',
  amountSchema,
);

/** The schema of `service`. */
export const servicePricesSchema = byName(
  'Service tiers by their names in requests and answers (priority, flex, fast, us): a factor of the price of tokens, or rates of its own.',
  {
    if: { type: 'object' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { type: 'object', minProperties: 1, additionalProperties: false, properties: rateSchemas },
    else: amountSchema,
  },
);

/** The entries of a table of names; undefined if it is missing, or is not a table, which is reported. */
function entriesIn(fields: Fields, field: string, path: Path, problem: Problem): Fields | undefined {
  if (fields[field] === undefined) return undefined;
  const table = fieldsOf(fields[field]);
  const at = [...path, field];
  if (table === undefined || Object.keys(table).length === 0) {
    problem(at, 'must be a table of names, such as { web_search: 0.01 } or { priority: 2 }');
    return undefined;
  }
  for (const name of Object.keys(table))
    if (!new RegExp(NAME).test(name)) problem([...at, name], 'must be a name in lower case');
  return table;
}

/** Reads `perUse`. */
export function readUsePrices(fields: Fields, path: Path, problem: Problem): UsePrices | undefined {
  const table = entriesIn(fields, 'perUse', path, problem);
  return (
    table &&
    new Map(
      Object.keys(table).flatMap((name) => {
        const amount = readAmount(table, name, [...path, 'perUse'], problem);
        return amount === undefined ? [] : [[name, amount] as const];
      }),
    )
  );
}

/** Reads `service`. `readRates` reads rates as in a price. */
export function readServicePrices(
  fields: Fields,
  path: Path,
  problem: Problem,
  readRates: (value: unknown, path: Path) => Rates,
): ServicePrices | undefined {
  const table = entriesIn(fields, 'service', path, problem);
  return (
    table &&
    new Map(
      Object.entries(table).flatMap(([word, value]): readonly (readonly [string, ServicePrice])[] => {
        const at = [...path, 'service'];
        if (fieldsOf(value) !== undefined) return [[word, { rates: readRates(value, [...at, word]) }]];
        const factor = readAmount(table, word, at, problem);
        return factor === undefined ? [] : [[word, { factor }]];
      }),
    )
  );
}

/**
 * The price of a call in these service tiers: first the rates of its own, then all factors. A tier without a price changes nothing; uses and units
 * cost the same.
 */
export function servedRow(row: PriceRow, words: readonly string[]): PriceRow {
  const prices = words.map((word) => row.service?.get(word)).filter((price) => price !== undefined);
  const own = prices.flatMap((price) => ('rates' in price ? [price.rates] : []));
  const factors = prices.flatMap((price) => ('factor' in price ? [price.factor] : []));
  const times = (amount: Decimal): Decimal => ({
    digits: factors.reduce((digits, factor) => digits * factor.digits, amount.digits),
    scale: factors.reduce((scale, factor) => scale + factor.scale, amount.scale),
  });
  const scaled = (rates: Rates): Rates =>
    Object.fromEntries(Object.entries(rates).map(([rate, amount]) => [rate, times(amount)]));
  return {
    ...row,
    rates: scaled(Object.assign({}, row.rates, ...own)),
    tiers: own.length > 0 ? [] : row.tiers.map(({ above, rates }) => ({ above, rates: scaled(rates) })),
  };
}

/** `web_search 0.01 per use; priority: 2 times the price of tokens`. */
export function usesText(perUse: UsePrices | undefined, service: ServicePrices | undefined): readonly string[] {
  const uses = [...(perUse ?? [])].map(([name, amount]) => `${name} ${decimalText(amount)}`);
  const services = [...(service ?? [])].map(([word, price]) =>
    'factor' in price
      ? `${word}: ${decimalText(price.factor)} times the price of tokens`
      : `${word}: ${Object.entries(price.rates)
          .map(([rate, amount]) => `${rate} ${decimalText(amount)}`)
          .join(', ')} per million tokens`,
  );
  return [...(uses.length > 0 ? [`${uses.join(', ')} per use`] : []), ...services];
}
