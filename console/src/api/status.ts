/** What the gateway says of itself to anybody: its name, what it offers, how many quota units are one currency unit. */

import { useApi } from './hooks.ts';
import type * as api from './operations.ts';

/** What it says. */
export type Status = api.Status;

/** It is asked once for as long as the console is open; undefined until it has answered. */
export function useStatus(): Status | undefined {
  return useApi('GET /api/status', undefined, { staleTime: Number.POSITIVE_INFINITY }).data;
}
