/** Which scope a service token needs for which route: each tag of `/api` belongs to a group of operations, or to persons only. */

import type { ServiceScope } from '../../../core/contracts/identity.ts';
import type { ApiRoute } from '../route.ts';
import { GROUPS } from './tags.ts';

/** The scope that a service token needs for a route; undefined: the route is for persons, visitors or keys. */
export function scopeOf(row: Pick<ApiRoute, 'who' | 'method' | 'changes' | 'tag' | 'scope'>): ServiceScope | undefined {
  const group = row.scope ?? GROUPS[row.tag];
  if (group === undefined || row.who === 'visitor' || row.who === 'key') return undefined;
  const changes = row.method !== 'GET' || row.changes === true;
  // Members pay from their own wallet, which a machine has no business with.
  if (group === 'payments' && row.who === 'member' && changes) return undefined;
  return `${group}:${changes ? 'write' : 'read'}`;
}
