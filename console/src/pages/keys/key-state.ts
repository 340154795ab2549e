/** The states of a key: their numbers in `/api`, their names and moods here. */
import type * as api from '../../api/operations.ts';
import type { Mood } from '../../parts/values.tsx';

/** A key as the list shows it. */
export type Key = api.Key;

/** Names of the states, in the order in which they are offered. */
export const STATES = ['enabled', 'disabled', 'expired', 'spent'] as const;
/** One of them. */
export type KeyState = (typeof STATES)[number];

const BY_STATUS: Readonly<Record<Key['status'], KeyState>> = { 1: 'enabled', 2: 'disabled', 3: 'expired', 4: 'spent' };

/** How each is shown. */
export const STATE_MOODS: Readonly<Record<KeyState, Mood>> = {
  enabled: 'good',
  disabled: 'idle',
  expired: 'bad',
  spent: 'warn',
};

/** The name of a key's state. */
export function stateOf({ status }: Pick<Key, 'status'>): KeyState {
  return BY_STATUS[status];
}

/** Its number; undefined for a word that names no state. */
export function statusOf(state: string): Key['status'] | undefined {
  const at = STATES.indexOf(state as KeyState);
  return at < 0 ? undefined : ((at + 1) as Key['status']);
}
