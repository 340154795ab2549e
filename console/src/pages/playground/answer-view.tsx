/** An answer as it streams, and the figures of its call: timing, usage, cost, channel. */
import { Group, Stack, Text, Tooltip } from '@mantine/core';
import { isAdmin, useApi, useSelf } from '../../api/hooks.ts';
import { IconMessageForward } from '../../icons.ts';
import { CallFailureNote } from '../../parts/call-failure-note.tsx';
import { Fact } from '../../parts/facts.tsx';
import { RequestLink } from '../../parts/links.tsx';
import { Muted, PlainButton } from '../../parts/page.tsx';
import { CopyIcon, Money } from '../../parts/values.tsx';
import { TranslationWarnings } from '../../parts/warning-notes.tsx';
import { useFormat } from '../../shell/format.ts';
import { useAnswerText } from './answer-text.ts';
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
  const text = useAnswerText();
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
          <summary>{text.words.reasoning}</summary>
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

const AGAIN_MS = 400;
const PATIENCE = 20;

/** The usage record of the call; undefined until written. */
function useUsageRecord({ requestId, phase }: CallState) {
  const isOver = phase === 'done' || phase === 'failed' || phase === 'stopped';
  const logged = useApi(
    'GET /api/log/self/detail/{request_id}',
    { params: { request_id: requestId } },
    {
      enabled: isOver && requestId !== '',
      retry: false,
      staleTime: Number.POSITIVE_INFINITY,
      refetchInterval: ({ state }) =>
        state.data !== undefined || state.errorUpdateCount >= PATIENCE ? false : AGAIN_MS,
    },
  );
  return { detail: logged.data, isReading: isOver && logged.data === undefined && logged.failureCount < PATIENCE };
}

/** The figures and the translation warnings. */
function CallFacts({ call }: { readonly call: CallState }) {
  const text = useAnswerText();
  const format = useFormat();
  const showsChannel = isAdmin(useSelf());
  const { detail, isReading } = useUsageRecord(call);
  const { usage } = call.answer;
  const input = usage?.input ?? detail?.usage.input;
  const output = usage?.output ?? detail?.usage.output;
  const cached = usage?.cached ?? detail?.usage.cache_read ?? 0;
  const thoughts = usage?.thoughts ?? detail?.usage.reasoning ?? 0;
  const cost = call.cost ?? detail?.quota;
  const isOver = call.totalMs !== undefined;
  // The header has the warnings known when the answer began; the usage record has all.
  const warnings = detail === undefined || detail.translation.length === 0 ? call.warnings : detail.translation;
  return (
    <>
      <TranslationWarnings warnings={warnings} />
      <dl className="pg-facts">
        {call.firstByteMs !== undefined && <Fact name={text.words.firstByte}>{format.duration(call.firstByteMs)}</Fact>}
        {call.totalMs !== undefined && <Fact name={text.facts.total}>{format.duration(call.totalMs)}</Fact>}
        {(input !== undefined || output !== undefined) && (
          <Fact name={text.words.tokens}>
            {text.tokens(format.number(input ?? 0), format.number(output ?? 0))}
            {cached > 0 && ` · ${text.cached(format.number(cached))}`}
            {thoughts > 0 && ` · ${text.thought(format.number(thoughts))}`}
            {detail?.estimated === true && ` · ${text.estimated}`}
          </Fact>
        )}
        {isOver && call.requestId !== '' && (
          <Fact name={text.words.cost}>
            {cost === undefined ? (
              isReading ? (
                text.counting
              ) : (
                text.unknown
              )
            ) : cost === 0 ? (
              call.phase === 'failed' ? (
                text.uncharged
              ) : (
                text.words.free
              )
            ) : (
              <Money units={cost} />
            )}
          </Fact>
        )}
        {showsChannel && call.channel !== '' && <Fact name={text.words.channel}>{call.channel}</Fact>}
        {call.requestId !== '' && (
          <Fact name={text.words.call}>
            <RequestLink id={call.requestId} />
          </Fact>
        )}
      </dl>
    </>
  );
}
