/** What may be written into a key: names of models that exist, addresses that mean something. */

import { canonicalRange, nearest, starIn } from '../../core/sdk.ts';
import { errors } from './errors.ts';

/** Whether a name stands in the list of a key, or a name with a `*` that stands for it. */
export function isListed(models: readonly string[], name: string): boolean {
  return models.some((model) => model === name || starIn(model, name) !== undefined);
}

/** No list is no restriction. An empty one could be meant either way, so it is refused. */
export function checkModels(
  names: readonly string[],
  known: readonly string[],
  serves: (name: string) => boolean,
): void {
  if (names.length === 0) throw errors.invalid_models('`models` must not be empty. Omit it to allow every model.');
  for (const name of names) {
    if (known.includes(name) || serves(name) || known.some((each) => starIn(name, each) !== undefined)) continue;
    const meant = nearest(name, known);
    const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
    throw errors.invalid_models(`There is no model "${name}".${hint}`);
  }
}

/** Addresses and networks, as they were given. Refuses (400) what is neither, and an empty list. */
export function readRanges(texts: readonly string[]): readonly string[] {
  if (texts.length === 0)
    throw errors.invalid_addresses('`addresses` must not be empty. Omit it to allow every address.');
  for (const text of texts) {
    const range = canonicalRange(text);
    if ('problem' in range) throw errors.invalid_addresses(range.problem);
  }
  return texts;
}
