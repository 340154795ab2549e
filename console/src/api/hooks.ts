/** `/api` in components: reading with a cache, and doing with what comes of it. */
import { notifications } from '@mantine/notifications';
import {
  type UseQueryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useContext, useRef } from 'react';
import { LanguageContext } from '../text.ts';
import { type AskedArguments, call, type Data, type Operation, Refusal } from './client.ts';
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

/**
 * Does something; a refusal is said in a notice. `mutate(given)` begins it, `isPending` says that it runs. What runs already is not
 * begun again: whoever presses twice, or Enter once more while a slow gateway works, means one thing.
 */
export function useDoing<In = void, Out = unknown>(work: (given: In) => Promise<Out>, doing: Doing<In, Out> = {}) {
  const queries = useQueryClient();
  const { language } = useContext(LanguageContext);
  const running = useRef(new Set<string>());
  const mutation = useMutation<Out, unknown, In>({
    mutationFn: work,
    onSettled: (_out, _error, given) => void running.current.delete(keyOf(given)),
    onSuccess: async (out, given) => {
      await Promise.all((doing.changes ?? []).map((operation) => queries.invalidateQueries({ queryKey: [operation] })));
      doing.done?.(out, given);
    },
    onError: (error, given) => {
      if (error instanceof Refusal && doing.refused?.(error, given) === true) return;
      // Whoever closes the check knows that nothing was done.
      if (error instanceof Refusal && error.code === 'verification_required') return;
      notifications.show({ color: 'red', message: sentenceOf(error, language), role: 'alert' });
    },
  });
  const { mutate: begin } = mutation;
  const mutate = useCallback(
    (...asked: Parameters<typeof begin>): void => {
      const key = keyOf(asked[0]);
      if (running.current.has(key)) return;
      running.current.add(key);
      begin(...asked);
    },
    [begin],
  );
  return { ...mutation, mutate };
}

function keyOf(given: unknown): string {
  return JSON.stringify(given) ?? '';
}
