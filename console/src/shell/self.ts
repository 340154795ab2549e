/** Who is signed in. */
import type { Data } from '../api/client.ts';
import { useApi } from '../api/hooks.ts';

/** The own account, as `/api` tells it. */
export type Self = Data<'GET /api/user/self'>;

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
