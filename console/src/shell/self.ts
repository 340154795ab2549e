/** The signed-in account. */
import { useApi } from '../api/hooks.ts';
import type * as api from '../api/operations.ts';

/** The account from `/api`. */
export type Self = api.Self;

/** The account; undefined if signed out or while loading. */
export function useSelf(): Self | undefined {
  return useApi('GET /api/user/self', undefined, { staleTime: 30_000, retry: false }).data;
}

/** True for administrators and root. */
export function isAdmin(self: Self | undefined): boolean {
  return (self?.role ?? 0) >= 10;
}

/** True for root. */
export function isRoot(self: Self | undefined): boolean {
  return (self?.role ?? 0) >= 100;
}
