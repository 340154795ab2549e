/** A channel, and how it does in one word. */
import type * as api from '../../api/operations.ts';
import type { Mood } from '../../parts/values.tsx';

/** A channel as `/api` tells of it. */
export type Channel = api.Channel;
/** A model where a channel serves it. */
export type ServedModel = Channel['models'][number];

/** `partly`: some of its models rest; `trial`: the next call shows whether it is well again. */
export type Condition = 'off' | 'closed' | 'open' | 'partly' | 'trial';

/** How each looks. */
export const MOODS: Readonly<Record<Condition, Mood>> = {
  off: 'idle',
  closed: 'good',
  open: 'bad',
  partly: 'warn',
  trial: 'warn',
};

/** How a channel does as a whole. */
export function conditionOf({ on, state, models }: Channel): Condition {
  if (!on) return 'off';
  if (state === 'half-open') return 'trial';
  if (state === 'open' && models.some((model) => model.state !== 'open')) return 'partly';
  return state;
}

/** How one of its models does there. */
export function conditionOfModel({ state }: Pick<ServedModel, 'state'>): Condition {
  return state === 'half-open' ? 'trial' : state;
}

/** True where nothing but the demo answers. */
export function isOnlyDemo(channels: readonly Channel[]): boolean {
  return channels.every(({ on, vendor }) => !on || vendor === 'demo');
}
