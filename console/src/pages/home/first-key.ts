/** The key of the first request: the newest there is, or one that is made here, whose text is known until the page is left. */
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useApi, useDoing } from '../../api/hooks.ts';
import type { Key } from '../../api/operations.ts';

/** It, and how it is made. */
export interface FirstKey {
  readonly key: Key | undefined;
  /** Undefined where it was made before. */
  readonly text: string | undefined;
  readonly isMaking: boolean;
  make(): void;
}

/** Makes it with a name. */
export function useFirstKey(name: string): FirstKey {
  const { data } = useApi('GET /api/token/', { search: { page_size: 100 } });
  const [made, setMade] = useState<{ readonly id: number; readonly text: string }>();
  const making = useDoing(() => call('POST /api/token/', { body: { name } }), {
    changes: ['GET /api/token/'],
    done: ({ id, key }) => setMade({ id, text: key }),
  });
  const key = data?.items.find(({ id }) => id === made?.id) ?? data?.items.find(({ status }) => status === 1);
  return {
    key,
    text: key !== undefined && key.id === made?.id ? made.text : undefined,
    isMaking: making.isPending,
    make: () => making.mutate(),
  };
}
