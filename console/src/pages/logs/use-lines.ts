/** The records on the page, and the number of newer ones, which are shown on request only. */
import { useCallback, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { Line } from './line.ts';
import { filterOf, searchOf, type View } from './view.ts';

const PAGE_SIZE = 50;
/** The largest number of newer records that are counted. */
const MOST_NEW = 30;
const EVERY_MS = 5_000;

/** The state. */
export interface Lines {
  /** Undefined while loading. */
  readonly items: readonly Line[] | undefined;
  /** The number of records; with previous pages, from here on. */
  readonly total: number;
  /** True if there are more than were counted. */
  readonly beyond: boolean;
  /** The `before` cursor of the next page; null: none. */
  readonly next: string | null;
  /** True while the records of the previous filters are shown. */
  readonly stale: boolean;
  readonly error: unknown;
  /** The number of newer records as text; `30+` if there are more than were counted. */
  readonly newCount: string;
  readAgain(): void;
  /** Looks for newer records now. */
  look(): void;
}

/** Loads the records. */
export function useLines(view: View): Lines {
  const operation = view.allUsers ? 'GET /api/log/' : 'GET /api/log/self';
  const search = searchOf(view);
  const page = useApi(
    operation,
    { search: { ...search, page_size: PAGE_SIZE, before: view.before || undefined } as object },
    // Rows do not move while the user reads.
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, refetchOnWindowFocus: false, placeholderData: (was) => was },
  );
  const watches =
    view.before === '' &&
    view.range.end * 1_000 >= Date.now() &&
    filterOf(view, 'request_id') === '' &&
    !page.isPending;
  const newest = useApi(
    operation,
    { search: { ...search, page_size: MOST_NEW } as object },
    { enabled: watches, refetchInterval: EVERY_MS, staleTime: EVERY_MS, gcTime: 0 },
  );
  const { refetch: readPage } = page;
  const { refetch: readNewest } = newest;
  const newCount = useMemo(
    () => (watches && !page.isPlaceholderData ? newCountOf(newest.data?.items ?? [], page.data) : 0),
    [watches, newest.data, page.data, page.isPlaceholderData],
  );
  return {
    items: page.data?.items,
    total: page.data?.total ?? 0,
    beyond: view.allUsers && (page.data?.total ?? 0) >= 10_000,
    next: page.data?.next ?? null,
    stale: page.isPlaceholderData,
    error: page.data === undefined ? page.error : null,
    newCount: newCount === 0 ? '' : newCount >= MOST_NEW ? `${MOST_NEW}+` : `${newCount}`,
    readAgain: useCallback(() => void readPage(), [readPage]),
    look: useCallback(() => void (watches && readNewest()), [watches, readNewest]),
  };
}

/** The number of new records. A call is sorted by its start, so a long one may be inserted between others. */
function newCountOf(
  newest: readonly Line[],
  current: { readonly items: readonly Line[]; readonly next: string | null } | undefined,
): number {
  if (current === undefined) return 0;
  const ids = new Set(current.items.map(({ request_id }) => request_id));
  const last = current.next === null ? '' : (current.items.at(-1)?.request_id ?? '');
  return newest.filter(({ request_id }) => !ids.has(request_id) && request_id > last).length;
}
