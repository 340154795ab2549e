/** One API: estimate, status, answer, request, raw answer. */
import { Group, Stack, Tabs, Text } from '@mantine/core';
import { memo } from 'react';
import { GATEWAY } from '../../api/client.ts';
import { IconPlayerStop } from '../../icons.ts';
import { CallFailureNote } from '../../parts/call-failure-note.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Muted, PlainButton, Section, Small } from '../../parts/page.tsx';
import { CopyIcon, Money, State, type Tone } from '../../parts/values.tsx';
import { TranslationWarnings } from '../../parts/warning-notes.tsx';
import { useFormat } from '../../shell/format.ts';
import { useAnswerText } from './answer-text.ts';
import { type AnswerActions, AnswerView } from './answer-view.tsx';
import type { CallState, Outgoing, Phase } from './calling.ts';
import { type Calls, useCall } from './calls.ts';
import { curlOf, shortened } from './curl.ts';
import { useText } from './text.ts';
import type { Step } from './tool-calls.tsx';
import type { Estimate } from './use-estimate.ts';

const MOODS: Readonly<Record<Phase, Tone>> = {
  waiting: 'info',
  streaming: 'info',
  done: 'good',
  failed: 'bad',
  stopped: 'warn',
};
/** The tabs. */
export const VIEWS = ['answer', 'request', 'raw'] as const;
/** A value of `VIEWS`. */
export type View = (typeof VIEWS)[number];

/** The column. */
export const Column = memo(function Column({
  calls,
  outgoing,
  isNative,
  steps,
  estimate,
  view,
  onView,
  onResults,
  onGoOn,
}: AnswerActions & {
  readonly calls: Calls;
  /** The request as it would be sent now. */
  readonly outgoing: Outgoing;
  /** Undefined: unknown, or irrelevant. */
  readonly isNative: boolean | undefined;
  readonly steps: readonly Step[];
  readonly estimate: Estimate | undefined;
  readonly view: View;
  onView(view: View): void;
}) {
  const text = useAnswerText();
  const { ways } = useText();
  const { endpoint } = outgoing;
  const call = useCall(calls, endpoint);
  const isRunning = call?.phase === 'waiting' || call?.phase === 'streaming';
  return (
    <Section
      title={ways[endpoint]}
      about={isNative === undefined ? undefined : isNative ? text.native : text.translated}
      actions={
        <>
          {call !== undefined && <State tone={MOODS[call.phase]}>{text.phases[call.phase]}</State>}
          {isRunning && (
            <PlainButton
              size="compact-sm"
              leftSection={<IconPlayerStop size={14} />}
              aria-label={text.stopWay(ways[endpoint])}
              onClick={() => calls.stop(endpoint)}
            >
              {text.words.stop}
            </PlainButton>
          )}
        </>
      }
    >
      {call !== undefined && !isRunning && (
        <span role="status" className="aloud">
          {text.heard(ways[endpoint], text.phases[call.phase])}
        </span>
      )}
      <Tabs value={view} onChange={(chosen) => onView(VIEWS.find((each) => each === chosen) ?? 'answer')}>
        <Tabs.List aria-label={text.tabsOf(ways[endpoint])}>
          {VIEWS.map((each) => (
            <Tabs.Tab key={each} value={each} px="xs" py={6}>
              <Text size="sm">{text.tabs[each]}</Text>
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="answer" pt="sm">
          {call === undefined ? (
            <BeforeView estimate={estimate} />
          ) : (
            <AnswerView call={call} steps={steps} onResults={onResults} onGoOn={onGoOn} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="request" pt="sm">
          {view === 'request' && <RequestView outgoing={call?.sent ?? outgoing} isSent={call !== undefined} />}
        </Tabs.Panel>
        <Tabs.Panel value="raw" pt="sm">
          {view === 'raw' && <RawView call={call} />}
        </Tabs.Panel>
      </Tabs>
    </Section>
  );
});

/** The view; a long answer is cut. */
function RawView({ call }: { readonly call: CallState | undefined }) {
  const text = useAnswerText();
  const { ways } = useText();
  const format = useFormat();
  if (call === undefined || call.rawLength === 0) return <Muted>{text.noRaw}</Muted>;
  const { raw, rawLength, status } = call;
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" fw={500}>
          {text.raw} · {status}
        </Text>
        <CopyIcon value={raw} label={text.copyRaw} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable */}
      <section className="pg-raw" aria-label={`${ways[call.sent.endpoint]}: ${text.raw}`} tabIndex={0}>
        <pre>{raw}</pre>
      </section>
      {rawLength > raw.length && <Small>{text.rawCut(format.number(raw.length), format.number(rawLength))}</Small>}
    </Stack>
  );
}

/** Both. `isSent`: false for a preview. */
function RequestView({ outgoing, isSent }: { readonly outgoing: Outgoing; readonly isSent: boolean }) {
  const text = useAnswerText();
  const { ways } = useText();
  const { endpoint, body, file } = outgoing;
  const json = JSON.stringify(body, null, 2);
  const curl = curlOf(GATEWAY, endpoint, body, endpoint === 'transcription' ? (file?.name ?? 'speech.mp3') : undefined);
  const isShort = shortened(json) === json;
  return (
    <Stack gap="sm">
      <CodePart
        title={endpoint === 'transcription' ? text.form : isSent ? text.bodySent : text.bodyBefore}
        value={json}
        of={ways[endpoint]}
      />
      <CodePart title={text.inShell} value={curl} of={ways[endpoint]} />
      {!isShort && <Small>{text.shortened}</Small>}
    </Stack>
  );
}

/** Code that is shortened for display and copied in full. */
function CodePart({ title, value, of }: { readonly title: string; readonly value: string; readonly of: string }) {
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" fw={500}>
          {title}
        </Text>
        <CopyIcon value={value} />
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable */}
      <section className="pg-raw" aria-label={`${of}: ${title}`} tabIndex={0}>
        <pre>{shortened(value)}</pre>
      </section>
    </div>
  );
}

/** The estimate; undefined while unknown. */
function BeforeView({ estimate }: { readonly estimate: Estimate | undefined }) {
  const text = useAnswerText();
  const format = useFormat();
  if (estimate === undefined) return <Muted>{text.nothing}</Muted>;
  const { refusal, at_most: most, may_grow: grows, input_estimate: input, would_go_to: places } = estimate;
  if (refusal !== null)
    return (
      <CallFailureNote
        color="orange"
        title={text.wouldBeRefused}
        refused={{ ...refusal, channel: '', requestId: '', retryAfter: undefined }}
      />
    );
  return (
    <Stack gap="sm">
      <Muted>{text.nothing}</Muted>
      <TranslationWarnings warnings={estimate.losses} before />
      <dl className="pg-facts">
        {most !== null && (
          <Fact name={grows && most > 0 ? text.atFirst : text.atMost}>
            {most === 0 ? text.words.free : <Money units={most} />}
          </Fact>
        )}
        {input !== null && <Fact name={text.inputTokens}>{text.tokensOf(format.number(input))}</Fact>}
        {places !== null && places.length > 0 && (
          <Fact name={text.words.channels}>
            {places.map(({ channel, asked }, index) => (
              <span key={channel}>
                {index > 0 && ', '}
                {channel}
                {!asked && ` (${text.passedOver})`}
              </span>
            ))}
          </Fact>
        )}
      </dl>
    </Stack>
  );
}
