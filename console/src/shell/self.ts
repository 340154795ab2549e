/** Who is signed in. */

import { useApi } from '../api/hooks.ts';
import type * as api from '../api/operations.ts';

/** The own account, as `/api` tells it. */
export type Self = api.Self;

/** The own account; undefined where nobody is signed in, or as long as it is not known. */
export function useSelf(): Self | undefined {
  return useApi('GET /api/user/self', undefined, { staleTime: 30_000, retry: false }).data;
}

/** True of administrators and of root. */
export function isAdmin(self: Self | undefined): boolean {
  return (self?.role ?? 0) >= 10;
}

/** True of root. */
export function isRoot(self: Self | undefined): boolean {
  return (self?.role ?? 0) >= 100;
}
