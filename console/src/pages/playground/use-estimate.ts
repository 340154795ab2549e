/** Estimates the cost of a call, debounced while the user types. */
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type * as api from '../../api/operations.ts';
import type { Outgoing } from './calling.ts';

/** The estimate from the gateway. */
export type Estimate = api.Estimate;

/** The estimate of a call. */
export interface CallEstimate {
  readonly estimate: Estimate | undefined;
  /** The body is too large for an estimate. */
  readonly isLarge: boolean;
  readonly isReading: boolean;
}

/** The gateway accepts one mebibyte, including key and API name. */
const MOST = 1_024 * 1_024 - 1_024;
const NOTHING: CallEstimate = { estimate: undefined, isLarge: false, isReading: false };

/** Undefined: nothing to estimate. */
export function useEstimate(outgoing: Outgoing | undefined, keyId: number | undefined): CallEstimate {
  const isForm = outgoing?.endpoint === 'transcription';
  const isLarge = useMemo(() => outgoing !== undefined && bytesOf(outgoing.body) > MOST, [outgoing]);
  const enabled = outgoing !== undefined && keyId !== undefined && !isForm && !isLarge;
  const { data, isFetching, isPlaceholderData } = useApi(
    'POST /api/playground/estimate',
    enabled ? { body: { token_id: keyId, style: outgoing.endpoint, body: outgoing.body } } : { body: NO_CALL },
    { enabled, staleTime: 30_000, gcTime: 30_000, retry: false, placeholderData: keepPreviousData },
  );
  if (!enabled) return { ...NOTHING, isLarge };
  // Until then, the previous estimate is shown, unless it was for another API.
  return { estimate: data, isLarge: false, isReading: isFetching || isPlaceholderData };
}

const NO_CALL = { token_id: 0, style: '', body: {} };

function bytesOf(body: object): number {
  return new Blob([JSON.stringify(body)]).size;
}
