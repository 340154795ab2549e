/** The channels: state, health, and a test for each. */
import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Section, Small } from '../../parts/page.tsx';
import { When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { type Channel, ChannelState, conditionOf, useFailureSentence } from './channel-state.tsx';
import { TestButton, type Tests } from './test-button.tsx';
import { TEXT } from './text.ts';

/** The table. `open`: the name of the open channel. */
export function Channels({
  channels,
  tests,
  open,
  onOpen,
}: {
  readonly channels: readonly Channel[];
  readonly tests: Tests;
  readonly open: string;
  onOpen(name: string): void;
}) {
  const text = useText(TEXT);
  const format = useFormat();
  const sentenceOf = useFailureSentence();
  const since = Math.min(...channels.map(({ recent }) => recent.since));
  const columns: readonly Column<Channel>[] = [
    {
      key: 'name',
      title: text.words.channel,
      cell: ({ name, vendor }) => (
        <>
          {name}
          {vendor !== name && (
            <Small span display="block">
              {vendor}
            </Small>
          )}
        </>
      ),
    },
    {
      key: 'state',
      title: text.words.state,
      cell: (channel) => <ChannelState condition={conditionOf(channel)} until={channel.open_until} />,
    },
    {
      key: 'order',
      title: text.order,
      align: 'right',
      from: 'md',
      cell: ({ priority, weight }) => `${format.number(priority)} / ${format.number(weight)}`,
    },
    {
      key: 'success',
      title: text.success,
      align: 'right',
      from: 'sm',
      cell: ({ recent: { success_share: share, attempts } }) =>
        share === null ? (
          <Dim>{text.words.noneSinceStart}</Dim>
        ) : (
          <>
            {format.percent(share)} <Dim>{text.ofAttempts(format.number(attempts))}</Dim>
          </>
        ),
    },
    {
      key: 'first-byte',
      title: text.firstByte,
      align: 'right',
      from: 'md',
      cell: ({ recent: { p50_first_byte_ms: p50, p95_first_byte_ms: p95 } }) =>
        p50 === null || p95 === null ? '–' : `${format.duration(p50)} / ${format.duration(p95)}`,
    },
    {
      key: 'failure',
      title: text.failure,
      from: 'lg',
      cell: ({ last_failure: failure }) =>
        failure === null ? (
          <Dim>{text.words.noneSinceStart}</Dim>
        ) : (
          <>
            {sentenceOf(failure)}{' '}
            <Dim>
              <When at={failure.at} />
            </Dim>
          </>
        ),
    },
    {
      key: 'test',
      title: text.words.test,
      quiet: true,
      cell: ({ name, on }) => on && <TestButton channel={name} tests={tests} />,
    },
  ];
  return (
    <Section
      flush
      title={text.words.channels}
      about={
        <Stack gap={0}>
          <span>{text.orderAbout}</span>
          {Number.isFinite(since) && <span>{text.since(format.moment(since))}</span>}
        </Stack>
      }
    >
      <DataTable
        caption={text.words.channels}
        columns={columns}
        rows={channels}
        rowKey={({ name }) => name}
        open={open}
        onOpen={({ name }) => onOpen(name)}
        empty={<Empty title={text.none}>{text.noneAbout}</Empty>}
      />
    </Section>
  );
}

function Dim({ children }: { readonly children: ReactNode }) {
  return <Small span>{children}</Small>;
}
