/** The system: health of the gateways and of this machine. */
import { Alert, Anchor, Group, Stack, Switch, Text, Tooltip } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { Figure, Snippet, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { isRoot, useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { Backups } from './backup.tsx';
import { Gateways } from './gateways.tsx';
import { LastHour } from './hour.tsx';
import type { Vitals } from './judge.ts';
import { LiveCalls } from './live.tsx';
import { ProcessReadings } from './process.tsx';
import { StoreReadings } from './store.tsx';
import './system.css';
import { TEXT } from './text.ts';

const LIVE_MS = 5_000;
const VITALS_MS = 10_000;
/** Charts are refreshed less often, because they change little. */
const HISTORY_MS = 30_000;

export default function SystemPage() {
  const text = useText(TEXT);
  const names = useText(PAGE_NAMES);
  const format = useFormat();
  const [running, setRunning] = useState(true);
  const every = (ms: number): number | false => (running ? ms : false);
  const vitals = useApi('GET /api/system', undefined, { refetchInterval: every(VITALS_MS) });
  const history = useApi('GET /api/system/history', undefined, { refetchInterval: every(HISTORY_MS) });
  return (
    <Page
      title={names.system}
      about={text.about}
      actions={
        <Group gap="sm">
          <Text size="xs" c="dimmed" className="number">
            {vitals.dataUpdatedAt > 0 && text.asOf(format.time(vitals.dataUpdatedAt / 1_000))}
          </Text>
          <Tooltip label={text.refreshAbout}>
            <div>
              <Switch
                label={text.refresh}
                checked={running}
                onChange={({ currentTarget }) => setRunning(currentTarget.checked)}
              />
            </div>
          </Tooltip>
        </Group>
      }
    >
      <Loaded query={vitals} height={480}>
        {(now) => (
          <Stack gap="md">
            {now.untrusted_proxy !== null && (
              <Alert color="orange" icon={<IconAlertTriangle />} title={text.proxyTitle(now.untrusted_proxy)}>
                {text.proxyAbout}
                <Snippet code={`listen:\n  trustProxy: [${now.untrusted_proxy}]`} label="gateway.yaml" />
              </Alert>
            )}
            {now.configuration.differing.length > 0 && (
              <Alert
                color="orange"
                icon={<IconAlertTriangle />}
                title={text.differingTitle(now.configuration.differing.join(', '))}
              >
                {text.differingAbout}
              </Alert>
            )}
            {now.gateways.length > 1 && <Gateways gateways={now.gateways} />}
            <Figures vitals={now} />
            <ProcessReadings vitals={now} history={history.data ?? []} />
            <LiveCalls every={every(LIVE_MS)} />
            <StoreReadings vitals={now} />
            <Backups vitals={now} />
            <Loaded query={history} height={320}>
              {(samples) => <LastHour history={samples} />}
            </Loaded>
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function Figures({ vitals }: { readonly vitals: Vitals }) {
  const text = useText(TEXT);
  const format = useFormat();
  const mayConfigure = isRoot(useSelf());
  const { version, node, platform, uptime, started_at: started, in_flight: calls, configuration, gateways } = vitals;
  return (
    <div className="grid-figures">
      <Figure label={text.version} value={version} note={text.platform(node.replace(/^v/, ''), platform)} />
      <Figure label={text.uptime} value={format.duration(uptime * 1_000)} note={text.since(format.moment(started))} />
      <Figure
        label={text.inFlight}
        value={format.number(calls)}
        note={gateways.length > 1 ? text.inFlightAll : text.inFlightNote}
      />
      <Figure
        label={text.configuration}
        value={text.generation(format.number(configuration.generation))}
        note={
          <>
            {text.loaded} <When at={configuration.loaded_at} />
            {mayConfigure && (
              <>
                {' · '}
                <Anchor component={Link} href="/config" size="xs">
                  {text.toConfig}
                </Anchor>
              </>
            )}
          </>
        }
      />
    </div>
  );
}
