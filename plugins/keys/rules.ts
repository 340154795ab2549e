/** Validates the restrictions of a key: model names and IP addresses. */

import { canonicalRange, nearest, starIn } from '../../core/sdk.ts';
import { errors } from './errors.ts';

/** Whether a name is in the list of a key, or matches a name with `*` in it. */
export function isListed(models: readonly string[], name: string): boolean {
  return models.some((model) => model === name || starIn(model, name) !== undefined);
}

/** No list means no restriction. An empty list is ambiguous, so it is refused. */
export function checkModels(
  names: readonly string[],
  served: readonly string[],
  serves: (name: string) => boolean,
): void {
  if (names.length === 0) throw errors.invalid_models('`models` must not be empty. Omit it to allow every model.');
  for (const name of names) {
    if (served.includes(name) || serves(name) || served.some((each) => starIn(name, each) !== undefined)) continue;
    const similar = nearest(name, served);
    const hint = similar === undefined ? '' : ` Did you mean "${similar}"?`;
    throw errors.invalid_models(`There is no model "${name}".${hint}`);
  }
}

/** Addresses and networks, as they were sent. Refuses (400) invalid ones, and an empty list. */
export function readRanges(texts: readonly string[]): readonly string[] {
  if (texts.length === 0)
    throw errors.invalid_addresses('`addresses` must not be empty. Omit it to allow every address.');
  for (const text of texts) {
    const range = canonicalRange(text);
    if ('problem' in range) throw errors.invalid_addresses(range.problem);
  }
  return texts;
}
