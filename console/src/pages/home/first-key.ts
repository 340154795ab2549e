/** The key of the first call: the newest one, or one created here, whose secret is known until the user leaves the page. */
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Key } from '../../api/operations.ts';

/** The key, and how to create it. */
export interface FirstKey {
  readonly key: Key | undefined;
  /** Undefined unless it was created here. */
  readonly text: string | undefined;
  readonly isMaking: boolean;
  make(): void;
}

/** Creates a key with a name. */
export function useFirstKey(name: string): FirstKey {
  const { data } = useApi('GET /api/token/', { search: { page_size: 100 } });
  const [created, setMade] = useState<{ readonly id: number; readonly text: string }>();
  const making = useAction(() => call('POST /api/token/', { body: { name } }), {
    changes: ['GET /api/token/'],
    done: ({ id, key }) => setMade({ id, text: key }),
  });
  const key = data?.items.find(({ id }) => id === created?.id) ?? data?.items.find(({ status }) => status === 1);
  return {
    key,
    text: key !== undefined && key.id === created?.id ? created.text : undefined,
    isMaking: making.isPending,
    make: () => making.mutate(),
  };
}
