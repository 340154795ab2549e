/** One channel: health, models, and how to enable it. */
import { Anchor, Drawer, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { isRoot, useApi, useSelf } from '../../api/hooks.ts';
import { Coded } from '../../parts/coded.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Fact } from '../../parts/facts.tsx';
import { logsHref } from '../../parts/links.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Section, Small } from '../../parts/page.tsx';
import { When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import {
  type Channel,
  ChannelState,
  conditionOf,
  conditionOfModel,
  type ServedModel,
  useFailureSentence,
} from './channel-state.tsx';
import { keySourceOf } from './key-source.ts';
import { TestButton, type Tests } from './test-button.tsx';
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
    </Section>
  );
}
