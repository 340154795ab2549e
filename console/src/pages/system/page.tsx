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
import { Backups } from './backups.tsx';
import { Doctor } from './doctor.tsx';
import { Gateways, Reading, StoreReadings } from './gateways.tsx';
import { coresUsed, cpuTone, heapTone, lagTone, loadTone, memoryTone, type Sample, type Vitals } from './judge.ts';
import { LiveCalls } from './live.tsx';
import { useText } from './text.ts';
import './system.css';

const LIVE_MS = 5_000;
const VITALS_MS = 10_000;
/** While a backup runs, also if the page is not refreshed otherwise: the user waits for its result. */
const BACKUP_MS = 2_000;
/** Charts are refreshed less often, because they change little. */
const HISTORY_MS = 30_000;

export default function SystemPage() {
  const text = useText();
  const format = useFormat();
  const [running, setRunning] = useState(true);
  const every = (ms: number): number | false => (running ? ms : false);
  const mayConfigure = isRoot(useSelf());
  const vitals = useApi('GET /api/system', undefined, {
    refetchInterval: ({ state }) => (state.data?.backups?.running === true ? BACKUP_MS : every(VITALS_MS)),
  });
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
            <Muted>
              <Coded>{text.versions(now.version, format.number(now.store.schema))}</Coded>
            </Muted>
            <ProcessReadings vitals={now} history={history.data ?? []} />
            <LiveCalls every={every(LIVE_MS)} />
            <StoreReadings vitals={now} />
            <Backups vitals={now} />
            {mayConfigure && <Doctor />}
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
        {chart(text.words.runningCalls, [series(text.words.runningCalls, (sample) => sample.in_flight)], format.number)}
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
