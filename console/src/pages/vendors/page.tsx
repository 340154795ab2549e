/** Vendors: channels with their health, and routes. */
import './vendors.css';
import { Button, Drawer, Stack, Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import { isRoot, useApi, useSelf } from '../../api/hooks.ts';
import { IconPlus } from '../../icons.ts';
import { useAddress } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { Page, PageTabs, Section, Small } from '../../parts/page.tsx';
import { When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { AddVendor } from './add-vendor.tsx';
import { ChannelDrawer, TestButton, type Tests, useTests } from './channel-drawer.tsx';
import { type Channel, ChannelState, conditionOf, isOnlyDemo, useFailureSentence } from './channel-state.tsx';
import { chainsOf, Routes } from './routes.tsx';
import { useText } from './text.ts';

/** Rows do not move; only states and numbers change. */
const AGAIN_MS = 10_000;

export default function VendorsPage() {
  const text = useText();
  const [address, change] = useAddress({ tab: 'channels', channel: '', add: '', q: '', show: '', page: '1' });
  const channels = useApi('GET /api/vendor/', undefined, { refetchInterval: AGAIN_MS });
  const routes = useApi('GET /api/vendor/routes', undefined, { enabled: address.tab === 'routes' });
  const tests = useTests();
  const chains = useMemo(() => chainsOf(routes.data ?? [], channels.data ?? []), [routes.data, channels.data]);
  const canEdit = useCanEdit();
  const [, go] = useLocation();
  const onlyDemo = channels.data !== undefined && isOnlyDemo(channels.data);
  return (
    <Page
      name="vendors"
      about={text.about}
      actions={
        !onlyDemo && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => (canEdit ? go(EDITOR) : change({ add: '1' }))}>
            {text.words.addAVendor}
          </Button>
        )
      }
    >
      <PageTabs
        tab={address.tab === 'routes' ? 'routes' : 'channels'}
        names={text.tabs}
        onChange={(tab) => change({ tab })}
        contents={{
          channels: (
            <Loaded query={channels} height={320}>
              {(list) => (
                <Stack gap="md">
                  <Channels
                    channels={list}
                    tests={tests}
                    open={address.channel}
                    onOpen={(channel) => change({ channel })}
                  />
                  {onlyDemo && <NoVendor channels={list} />}
                </Stack>
              )}
            </Loaded>
          ),
          routes: (
            <Loaded query={routes} height={320}>
              {() => (
                <Routes chains={chains} view={address} onView={change} onChannel={(channel) => change({ channel })} />
              )}
            </Loaded>
          ),
        }}
      />
      <ChannelDrawer
        name={address.channel}
        channels={channels.data}
        tests={tests}
        onClose={() => change({ channel: '' })}
      />
      <Drawer opened={address.add !== ''} onClose={() => change({ add: '' })} title={text.words.addAVendor}>
        <AddVendor taken={(channels.data ?? []).map(({ name }) => name)} />
      </Drawer>
    </Page>
  );
}

/** Where a vendor is added by a form. */
const EDITOR = '/config?add=1';

/** Whether the viewer can change the configuration in the console. */
function useCanEdit(): boolean {
  const { data } = useApi('GET /api/config', undefined, { enabled: isRoot(useSelf()) });
  return data?.writable === true;
}

/** The first thing to do with a new gateway. */
function NoVendor({ channels }: { readonly channels: readonly Channel[] }) {
  const text = useText();
  const canEdit = useCanEdit();
  const off = channels.filter(({ on }) => !on).map(({ name }) => name);
  return (
    <Section title={text.onlyDemo} about={text.onlyDemoAbout}>
      <Stack gap="md" maw="44rem">
        {off.length > 0 && <Text size="sm">{text.waiting(off.join(', '))}</Text>}
        {canEdit ? (
          <Button
            component={Link}
            href={EDITOR}
            style={{ alignSelf: 'flex-start' }}
            leftSection={<IconPlus size={16} />}
          >
            {text.words.addAVendor}
          </Button>
        ) : (
          <AddVendor taken={channels.map(({ name }) => name)} />
        )}
      </Stack>
    </Section>
  );
}

/** State and health of each, with a test. `open`: the name of the open channel. */
function Channels({
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
  const text = useText();
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
