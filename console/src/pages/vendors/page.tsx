/** Vendors: channels with their health, and routes. */
import { Button, Drawer, Stack, Tabs, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { useAddress } from '../../parts/address.ts';
import { Loaded } from '../../parts/notes.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { useText } from '../../text.ts';
import { AddVendor } from './add-vendor.tsx';
import { chainsOf } from './chains.ts';
import { ChannelDrawer } from './channel-drawer.tsx';
import { type Channel, isOnlyDemo } from './channel-state.tsx';
import { Channels } from './channels.tsx';
import { Routes } from './routes.tsx';
import { useTests } from './test-button.tsx';
import { TEXT } from './text.ts';
import './vendors.css';

/** Rows do not move; only states and numbers change. */
const AGAIN_MS = 10_000;

export default function VendorsPage() {
  const text = useText(TEXT);
  const names = useText(PAGE_NAMES);
  const [address, change] = useAddress({ tab: 'channels', channel: '', add: '', q: '', show: '', page: '1' });
  const channels = useApi('GET /api/vendor/', undefined, { refetchInterval: AGAIN_MS });
  const routes = useApi('GET /api/vendor/routes', undefined, { enabled: address.tab === 'routes' });
  const tests = useTests();
  const chains = useMemo(() => chainsOf(routes.data ?? [], channels.data ?? []), [routes.data, channels.data]);
  const onlyDemo = channels.data !== undefined && isOnlyDemo(channels.data);
  return (
    <Page
      title={names.vendors}
      about={text.about}
      actions={
        !onlyDemo && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => change({ add: '1' })}>
            {text.words.addAVendor}
          </Button>
        )
      }
    >
      <Tabs value={address.tab} onChange={(tab) => change({ tab: tab ?? 'channels' })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="channels">{text.tabs.channels}</Tabs.Tab>
          <Tabs.Tab value="routes">{text.tabs.routes}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="channels">
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
        </Tabs.Panel>
        <Tabs.Panel value="routes">
          <Loaded query={routes} height={320}>
            {() => (
              <Routes chains={chains} view={address} onView={change} onChannel={(channel) => change({ channel })} />
            )}
          </Loaded>
        </Tabs.Panel>
      </Tabs>
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

/** The first thing to do with a new gateway. */
function NoVendor({ channels }: { readonly channels: readonly Channel[] }) {
  const text = useText(TEXT);
  const off = channels.filter(({ on }) => !on).map(({ name }) => name);
  return (
    <Section title={text.onlyDemo} about={text.onlyDemoAbout}>
      <Stack gap="md" maw="44rem">
        {off.length > 0 && <Text size="sm">{text.waiting(off.join(', '))}</Text>}
        <AddVendor taken={channels.map(({ name }) => name)} />
      </Stack>
    </Section>
  );
}
