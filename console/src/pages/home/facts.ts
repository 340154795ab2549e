/** The first steps and whether they are done, derived from the state of the account and the gateway; the key of the first call. */
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { isAdmin, type Self, useAction, useApi } from '../../api/hooks.ts';
import type { Key, SubscriptionState } from '../../api/operations.ts';

/** The steps in order; the last three are for administrators. */
export type StepName = 'balance' | 'key' | 'call' | 'vendor' | 'factor' | 'people';

/** A value of the list above. */
export interface StepFact {
  readonly name: StepName;
  readonly done: boolean;
}

/** The vendor name of the gateway's own demo channel. */
const DEMO = 'demo';

/** The steps of the viewer; undefined while loading. `used`: for an administrator, whether the gateway has calls. */
export function useSteps(
  self: Self,
  landed: boolean | undefined,
  used: boolean | undefined,
  subscription: SubscriptionState | undefined,
): readonly StepFact[] | undefined {
  const admin = isAdmin(self);
  const keys = useApi('GET /api/token/', { search: { page_size: 100 } });
  const channels = useApi('GET /api/vendor/', undefined, { enabled: admin });
  const codes = useApi('GET /api/user/2fa/status', undefined, { enabled: admin });
  const passkey = useApi('GET /api/user/passkey', undefined, { enabled: admin });
  const people = useApi('GET /api/user/', { search: { page_size: 1 } }, { enabled: admin });
  const invitations = useApi('GET /api/user/invitations', { search: { page_size: 1 } }, { enabled: admin });
  const queries = admin ? [keys, channels, codes, passkey, people, invitations] : [keys];
  // A step whose data cannot be loaded is left out, because the feature may be disabled.
  if (landed === undefined || (admin && used === undefined) || queries.some(({ isPending }) => isPending))
    return undefined;
  // If the gateway has calls, its administrator needs no first call.
  const called = landed || used === true;
  const own: readonly StepFact[] = [
    {
      name: 'balance',
      done: self.unlimited_quota === true || self.quota > 0 || subscription?.status === 'active' || called,
    },
    { name: 'key', done: called || keys.data?.items.some(({ status }) => status === 1) !== false },
    { name: 'call', done: called },
  ];
  if (!admin) return own;
  return [
    ...own,
    { name: 'vendor', done: channels.data?.some(({ vendor, on }) => on && vendor !== DEMO) !== false },
    { name: 'factor', done: codes.data?.enabled !== false || passkey.data?.enabled !== false },
    { name: 'people', done: (people.data?.total ?? 2) > 1 || (invitations.data?.total ?? 0) > 0 },
  ];
}

/** The key of the first call: the newest one, or one created here, whose secret is known until the user leaves the page. */
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
