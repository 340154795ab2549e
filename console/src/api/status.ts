/** The public status of the gateway: its name, its features, and the quota units per currency unit. */
import { useApi } from './hooks.ts';
import type * as api from './operations.ts';

/** The status. */
export type Status = api.Status;

/** The status. Fetched once while the console is open; undefined while loading. */
export function useStatus(): Status | undefined {
  return useApi('GET /api/status', undefined, { staleTime: Number.POSITIVE_INFINITY }).data;
}
