/** Validates the restrictions of a key: model names, IP addresses, and limits. */

import type { KeyLimit } from '../../core/contracts/identity.ts';
import { LARGEST_GRANT } from '../../core/contracts/ledger.ts';
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

/** The most limits of one key, each for other models. */
const MOST_LIMITS = 50;
/** The most requests, tokens or calls of a limit. */
const LARGEST_COUNT = 1_000_000_000;

/** The models that limits name. */
export function modelsOf({ limits }: { readonly limits: readonly KeyLimit[] | undefined }): readonly string[] {
  return limits?.flatMap(({ model }) => model ?? []) ?? [];
}

/** Refuses (400) limits that limit nothing, amounts out of range, and two limits for the same models. */
export function checkLimits(limits: readonly KeyLimit[]): void {
  if (limits.length > MOST_LIMITS) throw errors.invalid_limits(`A key can have ${MOST_LIMITS} limits.`);
  const seen = new Set<string | undefined>();
  for (const { model, requestsPerMinute, tokensPerMinute, concurrent, budgets = {} } of limits) {
    const whose = model === undefined ? 'all models' : `"${model}"`;
    if (seen.has(model)) throw errors.invalid_limits(`There are two limits for ${whose}: combine them.`);
    seen.add(model);
    const counts = [requestsPerMinute, tokensPerMinute, concurrent].filter((count) => count !== undefined);
    const amounts = Object.values(budgets);
    if (counts.length + amounts.length === 0) throw errors.invalid_limits(`The limit for ${whose} limits nothing.`);
    if (counts.some((count) => !Number.isInteger(count) || count < 1 || count > LARGEST_COUNT))
      throw errors.invalid_limits(`A limit for ${whose} must be a whole number from 1 to ${LARGEST_COUNT}.`);
    if (amounts.some((amount) => amount < 0n || amount > LARGEST_GRANT))
      throw errors.invalid_limits(`A budget for ${whose} must be from 0 to 4,000,000,000,000 quota.`);
  }
}
