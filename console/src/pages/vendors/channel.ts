/** A channel and its overall state. */
import type * as api from '../../api/operations.ts';
import type { Tone } from '../../parts/values.tsx';

/** A channel from `/api`. */
export type Channel = api.Channel;
/** A model of a channel. */
export type ServedModel = Channel['models'][number];

/** `partly`: the circuit of some models is open; `trial`: half-open, the next call tests the channel. */
export type Condition = 'off' | 'closed' | 'open' | 'partly' | 'trial';

/** The colour of each state. */
export const MOODS: Readonly<Record<Condition, Tone>> = {
  off: 'idle',
  closed: 'good',
  open: 'bad',
  partly: 'warn',
  trial: 'warn',
};

/** The overall state of a channel. */
export function conditionOf({ on, state, models }: Channel): Condition {
  if (!on) return 'off';
  if (state === 'half-open') return 'trial';
  if (state === 'open' && models.some((model) => model.state !== 'open')) return 'partly';
  return state;
}

/** The state of one of its models. */
export function conditionOfModel({ state }: Pick<ServedModel, 'state'>): Condition {
  return state === 'half-open' ? 'trial' : state;
}

/** True if only the demo channel can be called. */
export function isOnlyDemo(channels: readonly Channel[]): boolean {
  return channels.every(({ on, vendor }) => !on || vendor === 'demo');
}
