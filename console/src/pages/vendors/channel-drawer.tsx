/** One channel: health, models, how to enable it, and a test of it or of one of its models. */
import { Anchor, Box, Drawer, Group, Stack, Text, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import { isRoot, useAction, useApi, useSelf } from '../../api/hooks.ts';
import type { ChannelTest } from '../../api/operations.ts';
import { Coded } from '../../parts/coded.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Fact } from '../../parts/facts.tsx';
import { logsHref } from '../../parts/links.tsx';
import { Empty } from '../../parts/notes.tsx';
import { LinkButton, PlainButton, Section, Small } from '../../parts/page.tsx';
import { State, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { texts } from '../../text.ts';
import {
  type Channel,
  ChannelState,
  conditionOf,
  conditionOfModel,
  type ServedModel,
  useFailureSentence,
} from './channel-state.tsx';
import { keySourceOf } from './key-source.ts';
import { useText } from './text.ts';

/** The drawer. `name`: the channel in the address; empty: none. */
export function ChannelDrawer({
  name,
  channels,
  tests,
  onClose,
}: {
  readonly name: string;
  readonly channels: readonly Channel[] | undefined;
  readonly tests: Tests;
  onClose(): void;
}) {
  const text = useText();
  const channel = channels?.find((each) => each.name === name);
  return (
    <Drawer opened={name !== '' && channels !== undefined} onClose={onClose} title={channel?.name ?? text.gone}>
      {channel === undefined ? (
        <Empty title={text.gone}>{text.goneAbout}</Empty>
      ) : (
        <Content key={channel.name} channel={channel} tests={tests} />
      )}
    </Drawer>
  );
}

function Content({ channel, tests }: { readonly channel: Channel; readonly tests: Tests }) {
  const text = useText();
  const format = useFormat();
  const sentenceOf = useFailureSentence();
  const condition = conditionOf(channel);
  const { recent, last_failure: failure } = channel;
  return (
    <Stack gap="md">
      <Stack gap={4}>
        <ChannelState condition={condition} until={channel.open_until} />
        <Text size="sm">{text.means[condition]}</Text>
      </Stack>
      {channel.on ? <TestButton channel={channel.name} tests={tests} /> : <EnableHelp channel={channel.name} />}
      <dl className="facts">
        <Fact name={text.words.vendor}>{channel.vendor}</Fact>
        <Fact name={text.priority}>{format.number(channel.priority)}</Fact>
        <Fact name={text.weight}>{format.number(channel.weight)}</Fact>
        {channel.keys.length > 1 && (
          <Fact name={text.keys}>
            {channel.keys.map(({ number, state, until }) => (
              <Text key={number} size="sm">
                {text.keyState[state](format.number(number), format.time(until))}
              </Text>
            ))}
          </Fact>
        )}
        <Fact name={text.success}>
          {recent.success_share === null ? text.words.noneSinceStart : format.percent(recent.success_share)}
        </Fact>
        <Fact name={text.attempts}>
          {text.attemptsOf(format.number(recent.attempts), format.number(recent.failures))}
        </Fact>
        <Fact name={text.firstByte}>
          {recent.p50_first_byte_ms === null || recent.p95_first_byte_ms === null
            ? '–'
            : `${format.duration(recent.p50_first_byte_ms)} / ${format.duration(recent.p95_first_byte_ms)}`}
        </Fact>
        <Fact name={text.lastSuccess}>
          <When at={recent.last_success_at} none={text.notSinceStart} />
        </Fact>
        <Fact name={text.failure}>
          {failure === null ? (
            text.words.noneSinceStart
          ) : (
            <>
              {sentenceOf(failure)} <When at={failure.at} />
            </>
          )}
        </Fact>
      </dl>
      <Small>{text.since(format.moment(recent.since))}</Small>
      <Anchor component={Link} href={logsHref({ channel: channel.name }, { allUsers: true })} size="sm">
        {text.seeLogs}
      </Anchor>
      <Models channel={channel} tests={tests} />
    </Stack>
  );
}

function Models({ channel, tests }: { readonly channel: Channel; readonly tests: Tests }) {
  const text = useText();
  const format = useFormat();
  const columns: readonly Column<ServedModel>[] = [
    {
      key: 'model',
      title: text.words.model,
      cell: ({ name, model }) => (
        <>
          {name}
          {model !== name && (
            <Small span display="block">
              {text.there(model)}
            </Small>
          )}
        </>
      ),
    },
    {
      key: 'state',
      title: text.words.state,
      cell: (model) => (
        <>
          <ChannelState condition={conditionOfModel(model)} />
          {model.failures > 0 && <Small>{text.inARow(format.number(model.failures))}</Small>}
        </>
      ),
    },
    {
      key: 'test',
      title: text.words.test,
      quiet: true,
      cell: ({ name }) => <TestButton channel={channel.name} model={name} tests={tests} />,
    },
  ];
  return (
    <Section flush title={text.words.models} about={text.modelsAbout}>
      <DataTable
        caption={text.words.models}
        columns={columns}
        rows={channel.models}
        rowKey={({ name }) => name}
        empty={
          <Text size="sm" p="md">
            <Coded>{channel.on ? text.modelsNone : text.modelsOff}</Coded>
          </Text>
        }
      />
    </Section>
  );
}

/** Root may read the file, which names the source of the key. */
function EnableHelp({ channel }: { readonly channel: string }) {
  const text = useText();
  const { data } = useApi('GET /api/config', undefined, { enabled: isRoot(useSelf()) });
  const source = data === undefined ? undefined : keySourceOf(channel, data.disk.text);
  return (
    <Section title={text.turnOn}>
      <Text size="sm">
        <Coded>
          {source === undefined
            ? text.turnOnKey
            : source.kind === 'file'
              ? text.turnOnFile(source.name)
              : text.turnOnVariable(source.name)}
        </Coded>
      </Text>
      {data?.writable === true && (
        <LinkButton href={`/config?item=${encodeURIComponent(channel)}`} mt="sm">
          {text.setKey}
        </LinkButton>
      )}
    </Section>
  );
}

/** The result of a test. */
type TestResult = ChannelTest;

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
export function meaningOf(
  { success, status, message }: Pick<TestResult, 'success' | 'status' | 'message'>,
  texts: ReturnType<typeof useText>['results'],
): string {
  if (success) return texts.ok;
  if (status === 0) return texts.none;
  if (status < 300) return texts.notJson;
  if (status >= 500) return texts.trouble;
  return Object.hasOwn(texts, status) ? texts[status as 400] : status < 400 ? message : texts.refuses;
}
