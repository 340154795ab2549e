/** Tests a channel, or one of its models, and shows the result. */
import { Box, Group, Text, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { ChannelTest } from '../../api/operations.ts';
import { PlainButton, Small } from '../../parts/page.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { texts } from '../../text.ts';
import { useText } from './text.ts';

/** The result of a test. */
export type TestResult = ChannelTest;

/** Results since the page was opened. */
export interface Tests {
  of(channel: string, model?: string): TestResult | undefined;
  keep(result: TestResult, channel: string, model?: string): void;
}

const keyOf = (channel: string, model = ''): string => `${channel}\n${model}`;

/** Keeps the results. */
export function useTests(): Tests {
  const [results, setResults] = useState<ReadonlyMap<string, TestResult>>(new Map());
  return {
    of: (channel, model) => results.get(keyOf(channel, model)),
    keep: (result, channel, model) => setResults((before) => new Map(before).set(keyOf(channel, model), result)),
  };
}

/** The button with its result. */
export function TestButton({
  channel,
  model,
  tests,
}: {
  readonly channel: string;
  readonly model?: string;
  readonly tests: Tests;
}) {
  const text = useText();
  const testing = useAction(
    () =>
      call('POST /api/vendor/{name}/test', {
        params: { name: channel },
        body: model === undefined ? {} : { model },
      }),
    { done: (result) => tests.keep(result, channel, model) },
  );
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Tooltip label={text.testAbout}>
        <PlainButton
          size="compact-xs"
          mih={24}
          flex="none"
          loading={testing.isPending}
          aria-label={text.testOf(model === undefined ? channel : `${channel} ${model}`)}
          onClick={() => testing.mutate()}
        >
          {text.words.test}
        </PlainButton>
      </Tooltip>
      <Box role="status" miw={0}>
        <Result result={tests.of(channel, model)} />
      </Box>
    </Group>
  );
}

const useBetween = texts({ between: [', ', '，'] });

function Result({ result }: { readonly result: TestResult | undefined }) {
  const text = useText();
  const { between } = useBetween();
  const format = useFormat();
  if (result === undefined) return null;
  const { success, status, latency_ms: ms, model } = result;
  const scope = model === '' ? text.askedList : text.askedModel(model);
  return (
    <>
      <Group gap={6} wrap="nowrap">
        <State tone={success ? 'good' : 'bad'}>{success ? text.answers : text.answersNot}</State>
        <Text size="xs" className="number">
          {format.duration(ms)}
        </Text>
      </Group>
      <Small maw="20rem" style={{ whiteSpace: 'normal' }}>
        {[...(success ? [] : [meaningOf(result, text.results)]), scope].join(' ')}
        {!success && status > 0 && `${between}${text.status(`${status}`)}`}
      </Small>
    </>
  );
}

/** The meaning of a status code for an operator. */
function meaningOf({ success, status, message }: TestResult, texts: ReturnType<typeof useText>['results']): string {
  if (success) return texts.ok;
  if (status === 0) return texts.none;
  if (status < 300) return texts.notJson;
  if (status >= 500) return texts.trouble;
  return Object.hasOwn(texts, status) ? texts[status as 400] : status < 400 ? message : texts.refuses;
}
