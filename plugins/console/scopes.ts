/** Which scope a service token needs for which route: each tag of `/api` belongs to a group of operations, or to persons only. */
import type { ScopeGroup, ServiceScope } from '../../core/contracts/service-tokens.ts';
import type { ApiRoute } from './route.ts';

/** The tags of the routes, with their groups. Without a group, a service token is refused (403 `person_wanted`). */
const GROUPS = {
  Keys: 'keys',
  Users: 'users',
  Departments: 'departments',
  Logs: 'usage',
  Usage: 'usage',
  Team: 'usage',
  Payments: 'payments',
  'Redemption codes': 'payments',
  Subscriptions: 'payments',
  'Top-up': 'payments',
  Models: 'models',
  Vendors: 'models',
  System: 'system',
  Audit: 'audit',
  Configuration: 'config',
  Account: undefined,
  Passkeys: undefined,
  Playground: undefined,
  'Service tokens': undefined,
  Sessions: undefined,
  'Sign-in': undefined,
  Status: undefined,
  'Two-factor sign-in': undefined,
  Verification: undefined,
} as const satisfies Readonly<Record<string, ScopeGroup | undefined>>;

/** A group of routes in the OpenAPI document. */
export type Tag = keyof typeof GROUPS;

/** The scope that a service token needs for a route; undefined: the route is for persons, visitors or keys. */
export function scopeOf(row: Pick<ApiRoute, 'who' | 'method' | 'changes' | 'tag' | 'scope'>): ServiceScope | undefined {
  const group = row.scope ?? GROUPS[row.tag];
  if (group === undefined || row.who === 'visitor' || row.who === 'key') return undefined;
  const changes = row.method !== 'GET' || row.changes === true;
  // Members pay from their own wallet, which a machine has no business with.
  if (group === 'payments' && row.who === 'member' && changes) return undefined;
  return `${group}:${changes ? 'write' : 'read'}`;
}
