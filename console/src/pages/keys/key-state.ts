/** Key states: their numbers in `/api`, and their names and colours in the console. */
import type * as api from '../../api/operations.ts';
import type { Tone } from '../../parts/values.tsx';

/** A key in the list. */
export type Key = api.Key;

/** State names in the order in which they are listed. */
export const STATES = ['enabled', 'disabled', 'expired', 'spent'] as const;
/** A value of `STATES`. */
export type KeyState = (typeof STATES)[number];

const BY_STATUS: Readonly<Record<Key['status'], KeyState>> = { 1: 'enabled', 2: 'disabled', 3: 'expired', 4: 'spent' };

/** The colour of each state. */
export const STATE_TONES: Readonly<Record<KeyState, Tone>> = {
  enabled: 'good',
  disabled: 'idle',
  expired: 'bad',
  spent: 'warn',
};

/** The state name of a key. */
export function stateOf({ status }: Pick<Key, 'status'>): KeyState {
  return BY_STATUS[status];
}

/** The number of a state; undefined for unknown names. */
export function statusOf(state: string): Key['status'] | undefined {
  const at = STATES.indexOf(state as KeyState);
  return at < 0 ? undefined : ((at + 1) as Key['status']);
}
