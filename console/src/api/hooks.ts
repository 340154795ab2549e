/** `/api` in components: reading with a cache, and doing with what comes of it. */
import { notifications } from '@mantine/notifications';
import {
  type UseQueryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useContext, useEffect, useRef } from 'react';
import { LanguageContext } from '../text.ts';
import { type AskedArguments, abortable, call, type Data, type Operation, Refusal } from './client.ts';
import { sentenceOf } from './refusals.ts';

/** Reads. The answer is kept by operation and by what was asked for. */
export function useApi<O extends Operation>(
  operation: O,
  asked?: AskedArguments<O>[0],
  options: Omit<UseQueryOptions<Data<O>, Refusal>, 'queryKey' | 'queryFn'> = {},
): UseQueryResult<Data<O>, Refusal> {
  return useQuery<Data<O>, Refusal>({
    queryKey: [operation, asked ?? {}],
    queryFn: () => call(operation, ...([asked] as AskedArguments<O>)),
    ...options,
  });
}

/** What is done, and what follows from it. */
export interface Doing<In, Out> {
  /** Operations whose answers are read anew. */
  readonly changes?: readonly Operation[];
  done?(out: Out, given: In): void;
  /** Gets a refusal instead of the notice that everybody gets: true where it has said it. */
  refused?(refusal: Refusal, given: In): boolean;
}

/** An action as its dialog knows it. */
export interface Running {
  readonly isPending: boolean;
  /** Aborts the requests under way. What the gateway has read already cannot be taken back: a notice says so. */
  cancel(): void;
}

/**
 * Does something; a refusal is shown in a notice. `mutate(given)` begins it, `isPending` says that it runs. It is sent now or
 * refused now: without a connection nothing waits to be sent later. While an action runs, the same action with the same input is
 * not begun a second time, so a double press sends one request.
 */
export function useDoing<In = void, Out = unknown>(work: (given: In) => Promise<Out>, doing: Doing<In, Out> = {}) {
  const queries = useQueryClient();
  const { language } = useContext(LanguageContext);
  const running = useRef(new Map<string, AbortController>());
  const refresh = (): Promise<unknown> =>
    Promise.all((doing.changes ?? []).map((operation) => queries.invalidateQueries({ queryKey: [operation] })));
  const mutation = useMutation<Out, unknown, In>({
    mutationFn: (given) => abortable(running.current.get(keyOf(given))?.signal, () => work(given)),
    onSettled: (_out, _error, given) => void running.current.delete(keyOf(given)),
    onSuccess: async (out, given) => {
      await refresh();
      doing.done?.(out, given);
    },
    onError: (error, given) => {
      const isCancelled = error instanceof Refusal && error.code === 'cancelled';
      // It may have been done: what is shown must say so.
      if (isCancelled) void refresh();
      else if (error instanceof Refusal && doing.refused?.(error, given) === true) return;
      // A closed check means that nothing was done.
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

/** Cancels an action when the dialog that waits for it closes: when `opened` ends, or with the component inside of the dialog. */
export function useCancelled(doing: Pick<Running, 'cancel'> | undefined, opened = true): void {
  const cancel = doing?.cancel;
  useEffect(() => (opened ? cancel : undefined), [cancel, opened]);
}

/** By which an action is recognized while it runs. Input that is no JSON counts as one and the same. */
function keyOf(given: unknown): string {
  try {
    return JSON.stringify(given) ?? '';
  } catch {
    return '';
  }
}
