/** An answer as it streams. */
import { Group, Stack, Text, Tooltip } from '@mantine/core';
import { IconMessageForward } from '@tabler/icons-react';
import { CallFailureNote } from '../../parts/call-failure-note.tsx';
import { Muted, PlainButton } from '../../parts/plain.tsx';
import { CopyIcon } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { ANSWER_TEXT } from './answer-text.ts';
import { CallFacts } from './call-facts.tsx';
import type { CallState } from './calling.ts';
import { Pictures, Sound, Vectors } from './media.tsx';
import { type Step, Steps, ToolCalls } from './tool-calls.tsx';

/** Actions on a complete answer. */
export interface AnswerActions {
  /** Undefined: tool results cannot be sent. */
  readonly onResults: ((call: CallState, results: readonly string[]) => void) | undefined;
  /** Undefined: the conversation cannot be continued. */
  readonly onGoOn: ((answer: string) => void) | undefined;
}

/** The answer. */
export function AnswerView({
  call,
  steps,
  onResults,
  onGoOn,
}: AnswerActions & { readonly call: CallState; readonly steps: readonly Step[] }) {
  const text = useText(ANSWER_TEXT);
  const { phase, answer, refused, sent } = call;
  const isWhole = phase === 'done';
  const isSilent =
    answer.text === '' &&
    answer.calls.length === 0 &&
    answer.pictures.length === 0 &&
    answer.vectors.length === 0 &&
    answer.sound === '';
  return (
    <Stack gap="sm">
      <Steps steps={steps} />
      {phase === 'waiting' && <Muted>{text.waiting}</Muted>}
      {answer.thoughts !== '' && (
        <details className="pg-thoughts" open={answer.text === '' || undefined}>
          <summary>{text.thoughts}</summary>
          <div className="pg-text">{answer.thoughts}</div>
        </details>
      )}
      {answer.text !== '' && <div className="pg-text">{answer.text}</div>}
      <Pictures urls={answer.pictures} />
      <Sound url={answer.sound} format={String(sent.body.response_format ?? 'mp3')} />
      <Vectors vectors={answer.vectors} />
      <ToolCalls
        // Remounted for another answer.
        key={steps.length}
        calls={answer.calls}
        onResults={isWhole && onResults !== undefined ? (results) => onResults(call, results) : undefined}
      />
      {isWhole && isSilent && <Muted>{text.silent}</Muted>}
      {answer.cut && <Text size="sm">{text.cut}</Text>}
      {answer.filtered && <Text size="sm">{text.filtered}</Text>}
      {phase === 'stopped' && <Text size="sm">{text.stopped}</Text>}
      {refused !== undefined && <CallFailureNote refused={refused} title={text.failed} />}
      {isWhole && answer.text !== '' && (
        <Group gap="xs">
          {onGoOn !== undefined && answer.calls.length === 0 && (
            <Tooltip label={text.goOnAbout}>
              <PlainButton
                size="compact-sm"
                leftSection={<IconMessageForward size={14} />}
                onClick={() => onGoOn(answer.text)}
              >
                {text.goOn}
              </PlainButton>
            </Tooltip>
          )}
          <CopyIcon value={answer.text} label={text.copyAnswer} />
        </Group>
      )}
      <CallFacts call={call} />
    </Stack>
  );
}
