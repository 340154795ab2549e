/** Files at URLs in a request, fetched once for all its attempts, limited in number and total size. */

import { coreErrors } from './contracts/errors.ts';
import type { Fetched } from './contracts/style.ts';
import { type Allowance, fetchGuarded, type GuardOptions } from './guarded-fetch.ts';

/** Limits for all fetches of one request together. */
export const MAX_FETCHES = 16;
const MAX_BYTES = 20 * 1_024 * 1_024;

/** The request's budget. */
export interface Asker {
  /** Aborts when the result is no longer needed. */
  readonly signal: AbortSignal;
}

interface Kept {
  /** A failed fetch is not cached. */
  readonly byUrl: Map<string, Promise<Fetched>>;
  readonly allowance: Allowance;
}

/** Completed and running fetches of a request: shared by its attempts, and by fields with the same URL. */
const fetches = new WeakMap<Asker, Kept>();

/**
 * Fetches the URL in `param`, or returns the earlier result. Refuses with 400. `signal`: in addition to the request's
 * own.
 */
export async function fetchFor(
  asker: Asker,
  url: string,
  param: string,
  signal?: AbortSignal,
  guard?: GuardOptions,
): Promise<Fetched> {
  const { byUrl, allowance } = budgetOf(asker);
  const fetched = byUrl.get(url);
  if (fetched !== undefined) return fetched;
  if (byUrl.size >= MAX_FETCHES) {
    throw coreErrors
      .media_not_fetched(`\`${param}\`: more than ${MAX_FETCHES} URLs cannot be fetched for one request.`)
      .with({ param });
  }
  const both = signal === undefined ? asker.signal : AbortSignal.any([asker.signal, signal]);
  const fetching = fetchGuarded(url, param, both, allowance, guard);
  byUrl.set(url, fetching);
  fetching.catch(() => byUrl.delete(url));
  return fetching;
}

function budgetOf(asker: Asker): Kept {
  let budget = fetches.get(asker);
  if (budget === undefined) {
    budget = { byUrl: new Map(), allowance: { bytes: MAX_BYTES } };
    fetches.set(asker, budget);
  }
  return budget;
}
