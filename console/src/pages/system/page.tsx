/** The system: health of the gateways and of this machine. */
import { Alert, Anchor, Group, Stack, Switch, Text, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { isRoot, useApi, useSelf } from '../../api/hooks.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { Chart, type Series } from '../../parts/chart.tsx';
import { Coded } from '../../parts/coded.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Muted, Page, Section, Small } from '../../parts/page.tsx';
import { Figure, Meter, Snippet, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { Gateways, Reading, StoreReadings } from './gateways.tsx';
import {
  backupTone,
  coresUsed,
  cpuTone,
  heapTone,
  lagTone,
  loadTone,
  memoryTone,
  type Sample,
  type Vitals,
} from './judge.ts';
import { LiveCalls } from './live.tsx';
import { useText } from './text.ts';
import './system.css';

const COMMAND = 'npx turnpike backup turnpike-$(date +%F).db';
/** A percent sign in a crontab must be escaped. */
const CRON = '0 3 * * * cd /path/to/turnpike && npx turnpike backup /backups/turnpike-$(date +\\%F).db';

/** The last backup, and what to do if it is too old. */
function Backups({ vitals }: { readonly vitals: Vitals }) {
  const text = useText();
  const format = useFormat();
  const { backup, store } = vitals;
  const tone = backupTone(vitals, Date.now() / 1_000);
  return (
    <Section flush title={text.backup}>
      <Reading
        name={text.backupLast}
        tone={tone}
        value={backup === null ? text.backupNone : <When at={backup.at} />}
        about={backup === null ? text.backupNoneAbout : tone === 'good' ? text.backupFine : text.backupOld}
      >
        {backup !== null && (
          <Small>
            {text.backupOf(
              backup.name,
              backup.bytes === null ? '–' : format.bytes(backup.bytes),
              format.duration(backup.ms),
            )}
          </Small>
        )}
      </Reading>
      <Stack gap="xs" p="sm">
        <Snippet label={text.backupCommand} code={COMMAND} />
        <Text size="sm">
          <Coded>{text.backupDaily}</Coded>
        </Text>
        <Snippet label={text.backupCron} code={CRON} />
        <Muted>{text.backupKey(`${store.name}.key`)}</Muted>
      </Stack>
    </Section>
  );
}

const LIVE_MS = 5_000;
const VITALS_MS = 10_000;
/** Charts are refreshed less often, because they change little. */
const HISTORY_MS = 30_000;

export default function SystemPage() {
  const text = useText();
  const format = useFormat();
  const [running, setRunning] = useState(true);
  const every = (ms: number): number | false => (running ? ms : false);
  const vitals = useApi('GET /api/system', undefined, { refetchInterval: every(VITALS_MS) });
  const history = useApi('GET /api/system/history', undefined, { refetchInterval: every(HISTORY_MS) });
  return (
    <Page
      name="system"
      about={text.about}
      actions={
        <Group gap="sm">
          <Small className="number">
            {vitals.dataUpdatedAt > 0 && text.asOf(format.time(vitals.dataUpdatedAt / 1_000))}
          </Small>
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
  const text = useText();
  const format = useFormat();
  const mayConfigure = isRoot(useSelf());
  const { version, node, platform, uptime, started_at: started, in_flight: calls, configuration, gateways } = vitals;
  return (
    <div className="grid-figures">
      <Figure label={text.version} value={version} note={text.platform(node.replace(/^v/, ''), platform)} />
      <Figure
        label={text.words.runningFor}
        value={format.duration(uptime * 1_000)}
        note={text.since(format.moment(started))}
      />
      <Figure
        label={text.words.runningCalls}
        value={format.number(calls)}
        note={gateways.length > 1 ? text.inFlightAll : text.inFlightNote}
      />
      <Figure
        label={text.words.configuration}
        value={text.generation(format.number(configuration.generation))}
        note={
          <>
            {text.loaded} <When at={configuration.loaded_at} />
            {mayConfigure && (
              <>
                {' · '}
                <Anchor component={Link} href="/config" size="xs">
                  {text.words.config}
                </Anchor>
              </>
            )}
          </>
        }
      />
    </div>
  );
}

function LastHour({ history }: { readonly history: readonly Sample[] }) {
  const text = useText();
  const format = useFormat();
  const chartText = text.charts;
  const times = history.map(({ at }) => at);
  const series = (name: string, of: (sample: Sample) => number): Series => ({
    name,
    values: history.map(of),
    line: 'solid',
  });
  const chart = (label: string, drawn: readonly Series[], show: (value: number) => string) => (
    <div>
      <Text size="sm" fw={600} component="h3" m={0}>
        {label}
      </Text>
      <Chart label={label} times={times} series={drawn} show={show} step={10} height={140} />
    </div>
  );
  return (
    <Section title={text.hour} about={text.hourAbout}>
      <div className="two-columns">
        {chart(
          chartText.memory,
          [series(chartText.rss, ({ rss }) => rss), series(chartText.heap, (sample) => sample.heap_used)],
          format.bytes,
        )}
        {chart(chartText.lag, [series(chartText.lag, (sample) => sample.lag_ms)], format.duration)}
        {chart(chartText.cpu, [series(chartText.cpu, ({ cpu }) => cpu)], format.number)}
        {chart(chartText.calls, [series(chartText.calls, (sample) => sample.in_flight)], format.number)}
        {chart(chartText.waiting, [series(chartText.waiting, ({ waiting }) => waiting)], format.number)}
      </div>
    </Section>
  );
}

/** Its figures. */
function ProcessReadings({ vitals, history }: { readonly vitals: Vitals; readonly history: readonly Sample[] }) {
  const text = useText();
  const format = useFormat();
  const { memory, lag, cpu } = vitals;
  const cores = coresUsed(history);
  return (
    <Section flush title={text.process}>
      <Reading name={text.memory} tone={memoryTone(vitals)} about={text.memoryAbout}>
        <Meter label={text.ofMachine} used={memory.rss} limit={memory.machine} show={format.bytes} />
      </Reading>
      <Reading name={text.heap} tone={heapTone(vitals)} about={text.heapAbout}>
        <Meter label={text.ofLimit} used={memory.heap_used} limit={memory.heap_limit} show={format.bytes} />
      </Reading>
      <Reading
        name={text.lag}
        tone={lagTone(vitals)}
        about={text.lagAbout}
        value={
          lag === null
            ? text.lagUnknown
            : text.lagValue(format.duration(lag.p50_ms), format.duration(lag.p99_ms), format.duration(lag.max_ms))
        }
      />
      <Reading
        name={text.cpu}
        tone={cpuTone(cores)}
        about={text.cpuAbout}
        value={cores === undefined ? text.lagUnknown : text.cpuValue(format.percent(cores))}
      >
        <Small>{text.cpuUsed(format.duration(cpu.user * 1_000), format.duration(cpu.system * 1_000))}</Small>
      </Reading>
      <Reading
        name={text.load}
        tone={loadTone(vitals)}
        about={text.loadAbout}
        value={text.loadValue(cpu.load.map(format.number).join(' · '), format.number(cpu.cores))}
      />
    </Section>
  );
}
