/** Hooks for `/api`: cached queries and actions, the status of the gateway, the signed-in account. */
import { notifications } from '@mantine/notifications';
import {
  keepPreviousData,
  type UseQueryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useContext, useEffect, useRef } from 'react';
import { LanguageContext } from '../text.ts';
import { type AskedArguments, abortable, call, type Data, type Operation, Refusal } from './client.ts';
import type * as api from './operations.ts';
import { sentenceOf } from './refusals.ts';

/** Queries `/api`. Answers are cached by operation and input. */
export function useApi<O extends Operation>(
  operation: O,
  input?: AskedArguments<O>[0],
  options: Omit<UseQueryOptions<Data<O>, Refusal>, 'queryKey' | 'queryFn'> = {},
): UseQueryResult<Data<O>, Refusal> {
  return useQuery<Data<O>, Refusal>({
    queryKey: [operation, input ?? {}],
    queryFn: () => call(operation, ...([input] as AskedArguments<O>)),
    ...options,
  });
}

/** Options of a query whose data stays until that of its next input has arrived. */
export const KEEPS_DATA = { placeholderData: keepPreviousData } as const;

/** Options of an action. */
export interface ActionOptions<In, Out> {
  /** Operations whose cached answers are refetched. */
  readonly changes?: readonly Operation[];
  done?(out: Out, input: In): void;
  /** Handles a refusal; returns true if it showed it. Otherwise the default notification appears. */
  refused?(refusal: Refusal, input: In): boolean;
}

/** An action as its dialog uses it. */
export interface Running {
  readonly isPending: boolean;
  /** Aborts running requests. A request that the gateway has received may still take effect; a notification warns about that. */
  cancel(): void;
}

/**
 * Runs an action; refusals are shown in a notification. `mutate(input)` begins it, `isPending` is true while it runs. Actions are
 * never queued: without a connection they fail at once. While an action runs, the same action with the same input is not
 * sent again, so a double click sends one request.
 */
export function useAction<In = void, Out = unknown>(
  work: (input: In) => Promise<Out>,
  options: ActionOptions<In, Out> = {},
) {
  const queries = useQueryClient();
  const { language } = useContext(LanguageContext);
  const running = useRef(new Map<string, AbortController>());
  const refresh = (): Promise<unknown> =>
    Promise.all((options.changes ?? []).map((operation) => queries.invalidateQueries({ queryKey: [operation] })));
  const mutation = useMutation<Out, unknown, In>({
    mutationFn: (input) => abortable(running.current.get(keyOf(input))?.signal, () => work(input)),
    onSettled: (_out, _error, input) => void running.current.delete(keyOf(input)),
    onSuccess: async (out, input) => {
      await refresh();
      options.done?.(out, input);
    },
    onError: (error, input) => {
      const isCancelled = error instanceof Refusal && error.code === 'cancelled';
      // The action may have taken effect, so the shown data is refetched.
      if (isCancelled) void refresh();
      else if (error instanceof Refusal && options.refused?.(error, input) === true) return;
      // If the user closed the verification dialog, nothing was done.
      if (error instanceof Refusal && error.code === 'verification_required') return;
      notifications.show({
        color: isCancelled ? 'orange' : 'red',
        message: sentenceOf(error, language),
        role: 'alert',
      });
    },
  });
  const { mutate: begin } = mutation;
  const mutate = useCallback(
    (...asked: Parameters<typeof begin>): void => {
      const key = keyOf(asked[0]);
      if (running.current.has(key)) return;
      running.current.set(key, new AbortController());
      begin(...asked);
    },
    [begin],
  );
  const cancel = useCallback((): void => {
    for (const each of running.current.values()) each.abort();
  }, []);
  return { ...mutation, mutate, cancel };
}

/** Cancels an action when the dialog that waits for it closes: when `opened` becomes false, or when the component unmounts. */
export function useCancelled(action: Pick<Running, 'cancel'> | undefined, opened = true): void {
  const cancel = action?.cancel;
  useEffect(() => (opened ? cancel : undefined), [cancel, opened]);
}

/** Identifies a running action. All inputs that are not JSON count as equal. */
function keyOf(input: unknown): string {
  try {
    return JSON.stringify(input) ?? '';
  } catch {
    return '';
  }
}

/** The status. */
export type Status = api.Status;

/** The status. Fetched once while the console is open; undefined while loading. */
export function useStatus(): Status | undefined {
  return useApi('GET /api/status', undefined, { staleTime: Number.POSITIVE_INFINITY }).data;
}

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
