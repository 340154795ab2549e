/** The fields a price is written in: an object of known names, and amounts in currency units. */
import { type Decimal, decimal, nearest } from '../../core/sdk.ts';

/** Reports a mistake: its path and a message. */
export type Problem = (path: Path, message: string) => void;
/** From the root of gateway.yaml to a value. */
export type Path = readonly (string | number)[];
/** An object as written, not validated. */
export type Fields = Readonly<Record<string, unknown>>;

/** The highest amount; a higher one is in cents, or for one token. */
const MOST_AMOUNT = 10_000;

/** The schema of an amount. */
export const amountSchema = { type: 'number', minimum: 0, maximum: MOST_AMOUNT };

/** The fields of an object; reports those that are not `known`, and a value that is not an object. */
export function readFields(value: unknown, path: Path, known: readonly string[], problem: Problem): Fields {
  const fields = fieldsOf(value);
  if (fields === undefined) {
    problem(path, 'must be a price such as { input: 2.5, output: 10 }');
    return {};
  }
  for (const field of Object.keys(fields)) {
    if (known.includes(field)) continue;
    const near = nearest(field, known);
    const hint = near === undefined ? `the fields are: ${known.join(', ')}` : `did you mean ${near}?`;
    problem([...path, field], `is not a field of a price; ${hint}`);
  }
  return fields;
}

/** Undefined if the value is not an object. */
export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

/** An amount exactly as written; undefined if it is missing or invalid. */
export function readAmount(fields: Fields, field: string, path: Path, problem: Problem): Decimal | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && value >= 0 && value <= MOST_AMOUNT) return decimal(value);
  problem([...path, field], `must be a number from 0 to ${MOST_AMOUNT}`);
  return undefined;
}
