/** Suggests the name that was probably meant. */
import { nearest } from '../../core/sdk.ts';

/** Longer names are not looked at: a client may send any, and comparing costs the product of the lengths. */
const MAX_LENGTH = 200;

/** `; did you mean x?`, or nothing where no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const candidate = name.length > MAX_LENGTH ? undefined : nearest(name, known);
  return candidate === undefined ? '' : `; did you mean ${candidate}?`;
}
