/** What a request names by its address, fetched once for all its attempts: so many addresses, and so many bytes together. */

import { coreErrors } from './contracts/errors.ts';
import type { Fetched } from './contracts/style.ts';
import { type Allowance, fetchGuarded, type GuardOptions } from './guarded-fetch.ts';

/** What may be fetched for one request, all of it together. */
export const MAX_FETCHES = 16;
const MAX_BYTES = 20 * 1_024 * 1_024;

/** Whose request it is. */
export interface Asker {
  /** Fires when nobody waits any more. */
  readonly signal: AbortSignal;
}

interface Kept {
  /** Of an address that could not be had nothing is kept. */
  readonly byUrl: Map<string, Promise<Fetched>>;
  readonly allowance: Allowance;
}

/** What was fetched for a request, or is being fetched: the next attempt finds it here, and so does who names an address twice. */
const kept = new WeakMap<Asker, Kept>();

/** Fetches a URL that stands in `param`, or finds that it was fetched before. Refuses with 400. `signal`: beside the asker's own. */
export async function fetchFor(
  asker: Asker,
  url: string,
  param: string,
  signal?: AbortSignal,
  guard?: GuardOptions,
): Promise<Fetched> {
  const { byUrl, allowance } = keptFor(asker);
  const known = byUrl.get(url);
  if (known !== undefined) return known;
  if (byUrl.size >= MAX_FETCHES) {
    throw coreErrors
      .media_not_fetched(`\`${param}\`: more than ${MAX_FETCHES} addresses are not fetched for one request.`)
      .with({ param });
  }
  const both = signal === undefined ? asker.signal : AbortSignal.any([asker.signal, signal]);
  const fetching = fetchGuarded(url, param, both, allowance, guard);
  byUrl.set(url, fetching);
  fetching.catch(() => byUrl.delete(url));
  return fetching;
}

function keptFor(asker: Asker): Kept {
  let own = kept.get(asker);
  if (own === undefined) {
    own = { byUrl: new Map(), allowance: { bytes: MAX_BYTES } };
    kept.set(asker, own);
  }
  return own;
}
