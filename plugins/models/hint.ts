/** Suggests a similar name. */
import { nearest } from '../../core/sdk.ts';

/** Longer names are ignored: clients can send any name, and comparing takes time proportional to the product of the lengths. */
const MAX_LENGTH = 200;

/** `; did you mean x?`, or an empty text if no name is similar. */
export function didYouMean(name: string, names: readonly string[]): string {
  const candidate = name.length > MAX_LENGTH ? undefined : nearest(name, names);
  return candidate === undefined ? '' : `; did you mean ${candidate}?`;
}
