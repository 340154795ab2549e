/** Prices of images by kind: the table in gateway.yaml, and which of its prices applies to an image. */
import type { Images } from '../../core/contracts/formats/usage.ts';
import { type Decimal, highest } from '../../core/sdk.ts';
import { amountSchema, type Fields, fieldsOf, type Path, type Problem, readAmount } from './fields.ts';

/** Currency units per image: one for all, or by kind. */
export type ImagePriceFields = number | { readonly [kind: string]: number };

/** Amounts by kind: `hd/1024x1792` (quality and size), `hd`, `1024x1792`, and `default` for all others. */
export type ImagePrices<Amount = Decimal> = ReadonlyMap<string, Amount>;

const DEFAULT = 'default';

/** The schema of `perImage`. */
export const imagePricesSchema = {
  description: 'Currency units per image; or a table of them by quality/size, quality, size and default.',
  if: { type: 'object' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { type: 'object', minProperties: 1, additionalProperties: amountSchema },
  else: amountSchema,
};

/** Reads `perImage`. Undefined if it is missing, or invalid, which is reported. */
export function readImagePrices(fields: Fields, path: Path, problem: Problem): ImagePrices | undefined {
  const table = fieldsOf(fields.perImage);
  if (table === undefined) {
    const amount = readAmount(fields, 'perImage', path, problem);
    return amount && new Map([[DEFAULT, amount]]);
  }
  const at = [...path, 'perImage'];
  const prices = new Map<string, Decimal>();
  for (const written of Object.keys(table)) {
    const kind = spelled(written);
    const amount = readAmount(table, written, at, problem);
    if (prices.has(kind)) problem([...at, written], 'is listed twice');
    const [, quality, size] = /^([^/]+)(?:\/([^/]+))?$/.exec(kind) ?? [];
    if (quality === undefined) {
      problem([...at, written], 'must be a quality/size such as hd/1024x1792, one of the two, or default');
    } else if (size !== undefined && isSize(quality)) {
      problem([...at, written], `must begin with the quality: ${size}/${quality}`);
    }
    if (amount) prices.set(kind, amount);
  }
  if (Object.keys(table).length === 0) problem(at, 'must be a price, or a table of prices');
  return prices;
}

/** The price of one image. */
export interface ImagePrice<Amount> {
  /**
   * The price of its quality and size; otherwise the higher one of its quality's and its size's; otherwise the default; and without a default, the
   * highest in the table, so that no image is free by mistake.
   */
  cost(kind: Images): Amount;
  /** The highest price it can have if the vendor chooses its quality or its size. */
  most(kind: Images): Amount;
}

/** Prepares a table, once for all calls. */
export function imagePrice(prices: ImagePrices<bigint>): ImagePrice<bigint> {
  const dearest = highest([...prices.values()]);
  const usual = prices.get(DEFAULT) ?? dearest;
  const table = new Map<string, bigint>();
  for (const [kind, amount] of prices) {
    if (kind !== DEFAULT) for (const place of placesOf(kind)) table.set(place, amount);
  }
  const priceOf = (quality: string, size: string): bigint => {
    const exact = table.get(`${quality}/${size}`);
    if (exact !== undefined) return exact;
    const either = [table.get(`${quality}/`), table.get(`/${size}`)].filter((amount) => amount !== undefined);
    return either.length === 0 ? usual : highest(either);
  };
  const qualities = ['', ...[...table.keys()].map((place) => place.slice(0, place.indexOf('/')))];
  const sizes = ['', ...[...table.keys()].map((place) => place.slice(place.indexOf('/') + 1))];

  return {
    cost: ({ quality, size }) => priceOf(spelled(quality), spelled(size)),
    most(kind) {
      const quality = spelled(kind.quality);
      const size = spelled(kind.size);
      if (isLeft(quality) && isLeft(size)) return dearest;
      if (isLeft(quality)) return highest(qualities.map((each) => priceOf(each, size)));
      if (isLeft(size)) return highest(sizes.map((each) => priceOf(quality, each)));
      return priceOf(quality, size);
    },
  };
}

/** The keys `quality/size` of a kind. A name such as `2k` may be a quality or a size. */
function placesOf(kind: string): readonly string[] {
  if (kind.includes('/')) return [kind];
  return isSize(kind) ? [`/${kind}`] : [`${kind}/`, `/${kind}`];
}

/** In lower case, and with an x: some vendors write sizes with a star. */
function spelled(kind: string): string {
  return kind.toLowerCase().replaceAll('*', 'x');
}

function isSize(kind: string): boolean {
  return /^\d+x\d+$/.test(kind);
}

function isLeft(part: string): boolean {
  return part === '' || part === 'auto';
}
