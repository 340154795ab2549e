/** One way of making the call: how it stands, the answer, what was sent, what came back. */
import { Button, Tabs, Text } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { memo } from 'react';
import { Section } from '../../parts/page.tsx';
import { type Mood, State } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { ANSWER_TEXT } from './answer-text.ts';
import { AnswerView, type Further } from './answer-view.tsx';
import { BeforeView } from './before-view.tsx';
import type { Outgoing, Phase } from './calling.ts';
import { type Calls, useCall } from './calls.ts';
import { RawView } from './raw-view.tsx';
import { RequestView } from './request-view.tsx';
import { TEXT } from './text.ts';
import type { Step } from './tool-calls.tsx';
import type { Estimate } from './use-estimate.ts';

const MOODS: Readonly<Record<Phase, Mood>> = {
  waiting: 'info',
  streaming: 'info',
  done: 'good',
  failed: 'bad',
  stopped: 'warn',
};
/** What can be looked at. */
export const VIEWS = ['answer', 'request', 'raw'] as const;
/** One of them. */
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
}: Further & {
  readonly calls: Calls;
  /** What would be sent now. */
  readonly outgoing: Outgoing;
  /** Undefined: not known, or of no matter. */
  readonly isNative: boolean | undefined;
  readonly steps: readonly Step[];
  readonly estimate: Estimate | undefined;
  readonly view: View;
  onView(view: View): void;
}) {
  const text = useText(ANSWER_TEXT);
  const { ways } = useText(TEXT);
  const { way } = outgoing;
  const call = useCall(calls, way);
  const isRunning = call?.phase === 'waiting' || call?.phase === 'streaming';
  return (
    <Section
      title={ways[way]}
      about={isNative === undefined ? undefined : isNative ? text.native : text.translated}
      actions={
        <>
          {call !== undefined && <State mood={MOODS[call.phase]}>{text.phases[call.phase]}</State>}
          {isRunning && (
            <Button
              variant="default"
              size="compact-sm"
              leftSection={<IconPlayerStop size={14} />}
              aria-label={text.stopWay(ways[way])}
              onClick={() => calls.stop(way)}
            >
              {text.stop}
            </Button>
          )}
        </>
      }
    >
      {call !== undefined && !isRunning && (
        <span role="status" className="aloud">
          {text.heard(ways[way], text.phases[call.phase])}
        </span>
      )}
      <Tabs value={view} onChange={(chosen) => onView(VIEWS.find((each) => each === chosen) ?? 'answer')}>
        <Tabs.List aria-label={text.tabsOf(ways[way])}>
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
