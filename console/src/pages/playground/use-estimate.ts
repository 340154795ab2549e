/** What a call would come to, asked of the gateway a moment after the last letter was typed. */
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type * as api from '../../api/operations.ts';
import type { Outgoing } from './calling.ts';

/** What the gateway says. */
export type Estimate = api.Estimate;

/** What is known of a call before it is made. */
export interface Reckoned {
  readonly estimate: Estimate | undefined;
  /** Its body is larger than the gateway reckons with. */
  readonly isLarge: boolean;
  readonly isReading: boolean;
}

/** The gateway takes a mebibyte, key and style among it. */
const MOST = 1_024 * 1_024 - 1_024;
const NOTHING: Reckoned = { estimate: undefined, isLarge: false, isReading: false };

/** Undefined: there is nothing to reckon. */
export function useEstimate(outgoing: Outgoing | undefined, keyId: number | undefined): Reckoned {
  const isForm = outgoing?.way === 'transcription';
  const isLarge = useMemo(() => outgoing !== undefined && bytesOf(outgoing.body) > MOST, [outgoing]);
  const enabled = outgoing !== undefined && keyId !== undefined && !isForm && !isLarge;
  const { data, isFetching, isPlaceholderData } = useApi(
    'POST /api/playground/estimate',
    enabled ? { body: { token_id: keyId, style: outgoing.way, body: outgoing.body } } : { body: NO_CALL },
    { enabled, staleTime: 30_000, gcTime: 30_000, retry: false, placeholderData: keepPreviousData },
  );
  if (!enabled) return { ...NOTHING, isLarge };
  // The one before is shown meanwhile, unless it was of another way.
  return { estimate: data, isLarge: false, isReading: isFetching || isPlaceholderData };
}

const NO_CALL = { token_id: 0, style: '', body: {} };

function bytesOf(body: object): number {
  return new Blob([JSON.stringify(body)]).size;
}
