/** Polls an order until it is final: often at first, then less often. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useApi } from '../../api/hooks.ts';
import { PAID_CHANGES } from './use-paying.ts';

const OFTEN_MS = 3_000;
const SELDOM_MS = 15_000;
/** After this time, the user is not waiting any more. */
const SOON_MS = 90_000;

/** The order; undefined while loading, or if it belongs to another user. When it is final, related data is refetched. */
export function useWatchedOrder(tradeNo: string) {
  const queries = useQueryClient();
  const since = useRef(Date.now());
  const query = useApi(
    'GET /api/user/topup/status',
    { search: { trade_no: tradeNo } },
    {
      enabled: tradeNo !== '',
      retry: false,
      staleTime: 0,
      refetchInterval: ({ state }) =>
        state.data?.status !== 'pending' ? false : Date.now() - since.current < SOON_MS ? OFTEN_MS : SELDOM_MS,
    },
  );
  const status = query.data?.status;
  const before = useRef<string>(undefined);
  useEffect(() => {
    if (before.current === 'pending' && status !== undefined && status !== 'pending')
      for (const operation of PAID_CHANGES) void queries.invalidateQueries({ queryKey: [operation] });
    before.current = status;
  }, [status, queries]);
  return query;
}
