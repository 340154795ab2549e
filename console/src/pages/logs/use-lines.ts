/** The lines that are shown, and how many newer ones there are: those come only when somebody asks for them. */
import { useCallback, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { Line } from './line.ts';
import { filterOf, searchOf, type View } from './view.ts';

const PAGE_SIZE = 50;
/** So many newer lines are counted. */
const MOST_NEW = 30;
const EVERY_MS = 5_000;

/** What is known. */
export interface Lines {
  /** Undefined as long as they are not there. */
  readonly items: readonly Line[] | undefined;
  /** How many there are in all; with pages before it, from here on. */
  readonly total: number;
  /** True where there are more than are counted. */
  readonly beyond: boolean;
  /** The `before` of the next page; null: there is none. */
  readonly next: string | null;
  /** What is shown was asked for otherwise: the answer is on its way. */
  readonly stale: boolean;
  readonly error: unknown;
  /** How many lines came since; as text, `30+` where it is more than are counted. */
  readonly fresh: string;
  readAgain(): void;
  /** Looks for newer ones now. */
  look(): void;
}

/** Reads them. */
export function useLines(view: View): Lines {
  const operation = view.everybody ? 'GET /api/log/' : 'GET /api/log/self';
  const search = searchOf(view);
  const page = useApi(
    operation,
    { search: { ...search, page_size: PAGE_SIZE, before: view.before || undefined } as object },
    // Nothing moves under whoever reads.
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
  const fresh = useMemo(
    () => (watches && !page.isPlaceholderData ? freshOf(newest.data?.items ?? [], page.data) : 0),
    [watches, newest.data, page.data, page.isPlaceholderData],
  );
  return {
    items: page.data?.items,
    total: page.data?.total ?? 0,
    beyond: view.everybody && (page.data?.total ?? 0) >= 10_000,
    next: page.data?.next ?? null,
    stale: page.isPlaceholderData,
    error: page.data === undefined ? page.error : null,
    fresh: fresh === 0 ? '' : fresh >= MOST_NEW ? `${MOST_NEW}+` : `${fresh}`,
    readAgain: useCallback(() => void readPage(), [readPage]),
    look: useCallback(() => void (watches && readNewest()), [watches, readNewest]),
  };
}

/** How many are new. A call stands where it began: one that took long comes between others. */
function freshOf(
  newest: readonly Line[],
  shown: { readonly items: readonly Line[]; readonly next: string | null } | undefined,
): number {
  if (shown === undefined) return 0;
  const known = new Set(shown.items.map(({ request_id }) => request_id));
  const last = shown.next === null ? '' : (shown.items.at(-1)?.request_id ?? '');
  return newest.filter(({ request_id }) => !known.has(request_id) && request_id > last).length;
}
