/** A channel and its health in words. */
import { Group, Tooltip } from '@mantine/core';
import type * as api from '../../api/operations.ts';
import { Small } from '../../parts/page.tsx';
import { State, type Tone } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

/** The state with its end; a tooltip explains it. */
export function ChannelState({ condition, until = 0 }: { readonly condition: Condition; readonly until?: number }) {
  const text = useText();
  const format = useFormat();
  return (
    <Group gap={6} wrap="nowrap">
      <Tooltip label={text.means[condition]}>
        <span>
          <State tone={MOODS[condition]}>{text.states[condition]}</State>
        </span>
      </Tooltip>
      {until > 0 && <Small className="number">{text.until(format.time(until))}</Small>}
    </Group>
  );
}

/** The last failure as a sentence. */
export function useFailureSentence(): (failure: NonNullable<Channel['last_failure']>) => string {
  const text = useText();
  return ({ kind, status, message }) => {
    const sentence = text.failures[kind as keyof typeof text.failures] ?? message;
    return status > 0 ? text.withStatus(sentence, `${status}`) : sentence;
  };
}

/** A channel from `/api`. */
export type Channel = api.Channel;
/** A model of a channel. */
export type ServedModel = Channel['models'][number];

/** `partly`: the circuit of some models is open; `trial`: half-open, the next call tests the channel. */
export type Condition = 'off' | 'closed' | 'open' | 'partly' | 'trial';

const MOODS: Readonly<Record<Condition, Tone>> = {
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
