/** The system prompt and the turns of the conversation. */
import { Group, Stack, Text, Textarea } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { KeyboardEvent } from 'react';
import { PlainButton } from '../../parts/plain.tsx';
import { useText } from '../../text.ts';
import { roomIn } from './pictures.ts';
import { type Turn, withTurn } from './prompt.ts';
import { TEXT } from './text.ts';
import { TurnFields } from './turn-fields.tsx';
import type { PromptState } from './use-prompt.ts';

/** The fields. */
export function Conversation({
  typing: { prompt, change },
  seesPictures,
  onKeyDown,
}: {
  readonly typing: PromptState;
  /** False if the model is known not to accept images. */
  readonly seesPictures: boolean;
  onKeyDown(event: KeyboardEvent): void;
}) {
  const text = useText(TEXT);
  const { turns } = prompt;
  const changeTurn = (id: number, to: (turn: Turn) => Turn): void =>
    change((before) => ({ ...before, turns: before.turns.map((turn) => (turn.id === id ? to(turn) : turn)) }));
  const hasPictures = turns.some(({ pictures }) => pictures.length > 0);
  return (
    <Stack gap="sm" miw={0}>
      <Textarea
        label={text.system}
        placeholder={text.systemAbout}
        autosize
        minRows={1}
        maxRows={8}
        value={prompt.system}
        onChange={({ currentTarget: { value } }) => change({ system: value })}
        onKeyDown={onKeyDown}
      />
      {turns.map((turn, index) => (
        <TurnFields
          key={turn.id}
          turn={turn}
          at={index + 1}
          room={roomIn(prompt)}
          onChange={(to) => changeTurn(turn.id, to)}
          onRemove={
            turns.length === 1
              ? undefined
              : () => change((before) => ({ ...before, turns: before.turns.filter(({ id }) => id !== turn.id) }))
          }
          onKeyDown={onKeyDown}
        />
      ))}
      <Group gap="sm">
        <PlainButton
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          onClick={() =>
            change((before) =>
              withTurn(before, {
                role: before.turns.at(-1)?.role === 'user' ? 'assistant' : 'user',
                text: '',
                pictures: [],
              }),
            )
          }
        >
          {text.addTurn}
        </PlainButton>
        {hasPictures && (
          <Text size="xs" c={seesPictures ? 'dimmed' : 'orange'}>
            {seesPictures ? text.picturesKept : text.picturesBlind}
          </Text>
        )}
      </Group>
    </Stack>
  );
}
