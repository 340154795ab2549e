/** The viewer's latest calls. Polled only until the first call arrives. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { LogLine } from '../../api/operations.ts';

/** A usage record. */
export type Line = LogLine;

const SHOWN = 10;
const EVERY_MS = 3_000;
/** The record kinds of calls. */
const SERVED = 2;
const REFUSED = 5;

/** The loaded data about the calls. */
export interface Calls {
  /** Undefined while loading. */
  readonly landed: boolean | undefined;
  /** The first call, if it arrived while the page was open. */
  readonly first: Line | undefined;
  /** The latest refused call, if none was served yet. */
  readonly refused: Line | undefined;
  /** Newest first; undefined while loading. */
  readonly latest: readonly Line[] | undefined;
  readonly error: unknown;
  readAgain(): void;
}

/** Loads the calls. */
export function useCalls(): Calls {
  const queries = useQueryClient();
  const served = useLines(SERVED, undefined);
  const landed = served.data && served.data.total > 0;
  const refused = useLines(REFUSED, landed);
  const [first, setFirst] = useState<Line>();
  const waited = useRef(false);
  const newest = served.data?.items[0];
  useEffect(() => {
    if (landed === false) waited.current = true;
    if (landed !== true || !waited.current) return;
    waited.current = false;
    setFirst(newest);
    // Other data on the page has changed as well.
    for (const operation of [
      'GET /api/user/self',
      'GET /api/log/self/stat',
      'GET /api/usage/self/trend',
      'GET /api/token/',
    ]) {
      void queries.invalidateQueries({ queryKey: [operation] });
    }
  }, [landed, newest, queries]);
  const both = served.data && refused.data && [...served.data.items, ...refused.data.items];
  return {
    landed,
    first,
    refused: landed === false ? refused.data?.items[0] : undefined,
    latest: both?.sort((a, b) => b.id - a.id).slice(0, SHOWN),
    error: served.error ?? refused.error,
    readAgain() {
      void served.refetch();
      void refused.refetch();
    },
  };
}

/** Records of one kind. Not polled once there are calls. */
function useLines(type: number, landed: boolean | undefined) {
  return useApi(
    'GET /api/log/self',
    { search: { type, page_size: SHOWN } },
    {
      refetchOnWindowFocus: false,
      refetchInterval: ({ state }) =>
        landed === true || (type === SERVED && (state.data?.total ?? 1) > 0) ? false : EVERY_MS,
    },
  );
}
