/** Service tokens: machines use them to call `/api` as the administrator who made them. Provided by `accounts`. */

import { service } from './definitions.ts';
import { type Account, SCOPE_GROUPS, type ServiceScope, type ServiceToken } from './identity.ts';
import type { Step } from './store.ts';

export type { ScopeGroup, ServiceScope, ServiceToken } from './identity.ts';
export { SCOPE_GROUPS } from './identity.ts';

/** Every secret of a service token begins with it, so that secret scanners find it. 43 base62 characters follow. */
export const SERVICE_TOKEN_PREFIX = 'turnpike_st_';

/** Every scope. */
export const SERVICE_SCOPES: readonly ServiceScope[] = SCOPE_GROUPS.flatMap((group) => [
  `${group}:read` as const,
  `${group}:write` as const,
]);

/** The longest lifetime of a token, in days, and the most addresses of its list. */
export const SERVICE_TOKEN_MOST = { days: 730, addresses: 100 } as const;

/** Returns whether scopes include one. */
export function includesScope(scopes: readonly ServiceScope[], wanted: ServiceScope): boolean {
  return scopes.includes(wanted) || scopes.includes(wanted.replace(/:read$/, ':write') as ServiceScope);
}

/** The fields of a new service token. */
export type NewServiceToken = Pick<ServiceToken, 'name' | 'accountId' | 'scopes' | 'addresses' | 'expiresMs'>;

/** All service tokens; only hashes of their secrets are stored. Ended ones are kept for a year. */
export interface ServiceTokens {
  /**
   * Creates one. Refuses: 400 `invalid_name`, 400 `invalid_token_addresses`, 409 `too_many_service_tokens`. `along` are
   * further steps of the same atomic list.
   */
  create(
    token: NewServiceToken,
    along?: (id: number) => readonly Step[],
  ): Promise<{ readonly secret: string; readonly token: ServiceToken }>;
  /** Newest first; those of an account, or all. */
  list(accountId?: number): Promise<readonly ServiceToken[]>;
  /** Revokes it immediately. False if there is none that is valid; then `along` is not written. */
  revoke(id: number, along?: readonly Step[]): Promise<boolean>;
  /**
   * The token with this secret and its maker; undefined if it is unknown, expired or revoked, or if its maker is
   * disabled or no longer an administrator. Refuses (403 `address_not_allowed`) other addresses than those it allows.
   */
  find(secret: string, ip: string): Promise<{ readonly account: Account; readonly token: ServiceToken } | undefined>;
}
/** The service `ServiceTokens`. */
export const ServiceTokens = service<ServiceTokens>('service-tokens');
