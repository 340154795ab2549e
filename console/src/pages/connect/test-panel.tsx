/** Makes the test call and shows the answer, or why it failed. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { isAdmin, useAction, useApi, useSelf } from '../../api/hooks.ts';
import { IconPlayerPlay, IconPlayerStop } from '../../icons.ts';
import type { Refused } from '../../parts/call-failure.ts';
import { CallFailureNote } from '../../parts/call-failure-note.tsx';
import { Fact } from '../../parts/facts.tsx';
import { RequestLink } from '../../parts/links.tsx';
import { Muted, PlainButton, Section } from '../../parts/page.tsx';
import { Money, State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import type { Style } from './recipe.ts';
import { type Caller, CallRefused, type TestResult, testCall } from './test-call.ts';
import { useText } from './text.ts';

type Outcome =
  | { readonly kind: 'heard'; readonly heard: TestResult }
  | { readonly kind: 'refused'; readonly refused: Refused }
  | { readonly kind: 'stopped' };

const PATIENCE_MS = 60_000;

/** The section. Pass another `key` to reset it. */
export function TestPanel({
  style,
  model,
  caller,
}: {
  readonly style: Style;
  readonly model: string;
  readonly caller: Caller | undefined;
}) {
  const text = useText();
  const [answer, setAnswer] = useState('');
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const test = useAction(
    async (by: Caller): Promise<Outcome> => {
      setAnswer('');
      const stop = new AbortController();
      running.current = stop;
      // A user's stop needs no message; a timeout does.
      const patience = setTimeout(() => stop.abort('late'), PATIENCE_MS);
      try {
        return { kind: 'heard', heard: await testCall({ style, model, caller: by }, setAnswer, stop.signal) };
      } catch (error) {
        if (!(error instanceof CallRefused)) throw error;
        if (stop.signal.aborted && stop.signal.reason !== 'late') return { kind: 'stopped' };
        return { kind: 'refused', refused: error.refused };
      } finally {
        clearTimeout(patience);
      }
    },
    { changes: ['GET /api/log/self', 'GET /api/log/self/stat', 'GET /api/user/self'] },
  );
  return (
    <Section title={text.words.test}>
      <Stack gap="sm">
        <Muted>
          {text.testAbout(text.styles[style])}{' '}
          {caller !== undefined && ('key' in caller ? text.withKey : text.withSession)}
        </Muted>
        <Group gap="xs">
          <Button
            leftSection={<IconPlayerPlay size={14} />}
            disabled={caller === undefined || model === ''}
            loading={test.isPending}
            onClick={() => caller !== undefined && test.mutate(caller)}
          >
            {text.testNow}
          </Button>
          {test.isPending && (
            <PlainButton leftSection={<IconPlayerStop size={14} />} onClick={() => running.current?.abort('stopped')}>
              {text.words.stop}
            </PlainButton>
          )}
        </Group>
        <div role="status" className="news">
          {test.isPending && answer !== '' && <blockquote className="connect-answer">{answer}</blockquote>}
          {!test.isPending && test.data?.kind === 'heard' && <Success result={test.data.heard} />}
          {!test.isPending && test.data?.kind === 'refused' && (
            <CallFailureNote refused={test.data.refused} title={text.failed}>
              {test.data.refused.requestId !== '' && (
                <Text size="sm">
                  {text.words.call} <RequestLink id={test.data.refused.requestId} />
                </Text>
              )}
            </CallFailureNote>
          )}
          {!test.isPending && test.data?.kind === 'stopped' && <Text size="sm">{text.stopped}</Text>}
        </div>
      </Stack>
    </Section>
  );
}

function Success({ result }: { readonly result: TestResult }) {
  const text = useText();
  const format = useFormat();
  const showsChannel = isAdmin(useSelf());
  const { text: answer, cut, channel, requestId, firstByteMs, totalMs } = result;
  return (
    <Stack gap="xs">
      <div>
        <State tone="good">{text.answers}</State>
      </div>
      {answer === '' ? (
        <Text size="sm">{text.nothingSaid}</Text>
      ) : (
        <blockquote className="connect-answer" aria-label={text.words.answer}>
          {answer}
          {cut && <Muted span>{` … (${text.cut})`}</Muted>}
        </blockquote>
      )}
      <dl className="facts">
        <Fact name={text.words.cost}>
          <Cost heard={result} />
        </Fact>
        {showsChannel && <Fact name={text.words.channel}>{channel}</Fact>}
        <Fact name={text.words.firstByte}>{format.duration(firstByteMs)}</Fact>
        <Fact name={text.total}>{format.duration(totalMs)}</Fact>
        <Fact name={text.words.call}>
          <RequestLink id={requestId} />
        </Fact>
      </dl>
    </Stack>
  );
}

/** A stream begins before its cost is known: the cost is then read from the usage records. */
function Cost({ heard: { cost, requestId } }: { readonly heard: TestResult }) {
  const text = useText();
  const { data } = useApi(
    'GET /api/log/self',
    { search: { request_id: requestId, page_size: 1 } },
    {
      enabled: cost === undefined && requestId !== '',
      refetchInterval: ({ state }) => (state.data?.items.length === 1 || state.dataUpdateCount > 9 ? false : 500),
    },
  );
  const units = cost ?? data?.items[0]?.quota;
  if (units === undefined) return text.words.unknown;
  return units === 0 ? text.words.free : <Money units={units} />;
}
