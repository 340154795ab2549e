/** The health of a channel in words. */
import { Group, Tooltip } from '@mantine/core';
import { Small } from '../../parts/plain.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { type Channel, type Condition, MOODS } from './channel.ts';
import { TEXT } from './text.ts';

/** The state with its end; a tooltip explains it. */
export function ChannelState({ condition, until = 0 }: { readonly condition: Condition; readonly until?: number }) {
  const text = useText(TEXT);
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
  const text = useText(TEXT);
  return ({ kind, status, message }) => {
    const sentence = text.failures[kind as keyof typeof text.failures] ?? message;
    return status > 0 ? text.withStatus(sentence, `${status}`) : sentence;
  };
}
