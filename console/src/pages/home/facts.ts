/** What has to be done before one can work, and whether it is: told from what there is, never from what somebody has clicked. */

import { useApi } from '../../api/hooks.ts';
import type { SubscriptionState } from '../../api/operations.ts';
import { isAdmin, type Self } from '../../shell/self.ts';

/** What there is to do, in this order; the last three are for administrators. */
export type StepName = 'balance' | 'key' | 'call' | 'vendor' | 'factor' | 'people';

/** One of them. */
export interface StepFact {
  readonly name: StepName;
  readonly done: boolean;
}

/** Of which the gateway itself is the vendor. */
const DEMO = 'demo';

/** The steps of the viewer; undefined as long as not all is known. `used`: of an administrator, whether anybody calls through this gateway. */
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
  const asked = admin ? [keys, channels, codes, passkey, people, invitations] : [keys];
  // What cannot be read is not asked for: a feature may be off.
  if (landed === undefined || (admin && used === undefined) || asked.some(({ isPending }) => isPending))
    return undefined;
  // A gateway in use needs no first call of its administrator.
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
