/** Rate limits of keys. Provided by the plugin `limits`, which enforces them. */

import { service } from './definitions.ts';
import type { KeyRecord } from './identity.ts';

/** A rate limit of a key, and how much of it is used now. */
export interface RateUsage {
  /** Undefined: of all calls of the key. */
  readonly model: string | undefined;
  /** Requests or tokens within the last minute, or running calls. */
  readonly kind: 'requests' | 'tokens' | 'concurrent';
  readonly limit: number;
  readonly used: number;
}

/** Enforces `KeyRecord.limits`, except for budgets. */
export interface RateLimits {
  /** The usage of each of the key's own limits. */
  usageOf(key: KeyRecord): Promise<readonly RateUsage[]>;
}
/** The service `RateLimits`. */
export const RateLimits = service<RateLimits>('rate-limits');
