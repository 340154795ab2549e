/** Figures with a rating and a remedy: the database, and the gateways on it with their health. */
import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Coded } from '../../parts/coded.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Fact } from '../../parts/facts.tsx';
import { Section, Small } from '../../parts/page.tsx';
import { Meter, State, type Tone, When } from '../../parts/values.tsx';
import { type Format, useFormat } from '../../shell/format.ts';
import { diskTone, type Gateway, gatewayTone, sizeTone, type Vitals, writingTone } from './judge.ts';
import { useText } from './text.ts';

/** The table. There are at least two gateways; the rest of the page describes the one that answered. */
export function Gateways({ gateways }: { readonly gateways: readonly Gateway[] }) {
  const { gateways: text, words } = useText();
  const format = useFormat();
  const own = gateways.find(({ self }) => self);
  const columns: readonly Column<Gateway>[] = [
    {
      key: 'name',
      title: words.gateway,
      cell: ({ name, version, self }) => (
        <TwoLines first={name} second={self ? `${version} · ${text.self}` : version} />
      ),
    },
    {
      key: 'state',
      title: words.state,
      cell: (gateway) => (
        <State tone={gatewayTone(gateway)}>
          {gateway.report === null ? text.silent : text.states[gateway.report.readiness]}
        </State>
      ),
    },
    { key: 'since', title: text.since, from: 'md', cell: ({ started_at: at }) => <When at={at} /> },
    {
      key: 'calls',
      title: words.runningCalls,
      align: 'right',
      cell: ({ report }) =>
        report === null ? (
          '–'
        ) : (
          <TwoLines first={format.number(report.in_flight)} second={text.lately(format.number(report.calls))} />
        ),
    },
    {
      key: 'memory',
      title: text.memory,
      align: 'right',
      from: 'sm',
      cell: ({ report }) =>
        report === null ? (
          '–'
        ) : (
          <TwoLines
            first={format.bytes(report.memory.rss)}
            second={text.share(format.percent(report.memory.rss / report.memory.machine))}
          />
        ),
    },
    {
      key: 'lag',
      title: text.lag,
      align: 'right',
      from: 'md',
      cell: ({ report }) => (report === null || report.lag === null ? '–' : format.duration(report.lag.p99_ms)),
    },
    {
      key: 'store',
      title: words.database,
      align: 'right',
      from: 'md',
      cell: ({ report }) => {
        if (report === null) return '–';
        return report.store.writable ? text.waiting(format.number(report.store.waiting)) : text.notWritable;
      },
    },
    {
      key: 'configuration',
      title: words.configuration,
      from: 'lg',
      cell: ({ report }) => {
        if (report === null) return '–';
        const differs = report.configuration !== own?.report?.configuration;
        return <TwoLines first={report.configuration.slice(0, 6)} second={differs ? text.differs : ''} />;
      },
    },
    { key: 'limits', title: text.limits, from: 'lg', cell: ({ report }) => <Limits of={report?.counters ?? null} /> },
  ];
  return (
    <Section flush title={text.title} about={text.about(own?.name ?? '')}>
      <DataTable
        caption={text.title}
        columns={columns}
        rows={gateways}
        // Machines with the same name are distinguished by their start time.
        rowKey={({ name, started_at: at, self }) => `${name} ${at} ${self}`}
      />
    </Section>
  );
}

function Limits({ of: counters }: { readonly of: NonNullable<Gateway['report']>['counters'] }) {
  const text = useText().gateways;
  if (counters === null) return '–';
  if (counters.shared === null) return text.countedAlone;
  return counters.shared ? text.countedOn(counters.driver) : text.countedNot(counters.driver);
}

function TwoLines({ first, second }: { readonly first: ReactNode; readonly second: string }) {
  return (
    <>
      {first}
      <Small span display="block">
        {second}
      </Small>
    </>
  );
}

/** The database: size, free disk space, writes, retention. */
export function StoreReadings({ vitals }: { readonly vitals: Vitals }) {
  const text = useText();
  const format = useFormat();
  const {
    name,
    bytes,
    log_bytes: log,
    disk_free: free,
    disk_total: total,
    writable,
    waiting,
    keeps_responses: keepsResponses,
  } = vitals.store;
  return (
    <Section flush title={text.words.database} about={name}>
      <Reading
        name={text.size}
        tone={sizeTone(vitals)}
        about={text.sizeAbout}
        value={bytes === null || log === null ? text.unknown : text.sizeValue(format.bytes(bytes), format.bytes(log))}
      />
      <Reading
        name={text.disk}
        tone={diskTone(vitals)}
        about={keepsResponses ? text.diskAbout : text.diskScarce}
        {...((free === null || total === null) && { value: text.unknown })}
      >
        {free !== null && total !== null && (
          <Meter label={text.diskFree(format.bytes(free))} used={total - free} limit={total} show={format.bytes} />
        )}
      </Reading>
      <Reading
        name={text.writable}
        tone={writingTone(vitals)}
        about={writable ? text.writableAbout : text.writableNot}
        value={`${writable ? text.writableValue.yes : text.writableValue.no} · ${text.waiting(format.number(waiting))}`}
      />
      <Reading name={text.keeps} tone="info" about={text.keepsAbout}>
        <Retention keeps={vitals.keeps} />
      </Reading>
    </Section>
  );
}

function Retention({ keeps }: { readonly keeps: Vitals['keeps'] }) {
  const text = useText();
  const format = useFormat();
  const sections = Object.entries(keeps);
  if (sections.length === 0) return <Text size="sm">{text.keepsNone}</Text>;
  return (
    <dl className="reading-list">
      {sections.map(([section, retention]) => (
        <Fact key={section} name={text.sections[section as keyof typeof text.sections] ?? section}>
          {lengthOf(retention, format) ?? text.nothingKept}
        </Fact>
      ))}
    </dl>
  );
}

const UNITS = { ms: 'millisecond', s: 'second', m: 'minute', h: 'hour', d: 'day' } as const;

/** A duration such as `90d` in words; undefined: not kept. */
function lengthOf(written: string, { locale }: Format): string | undefined {
  const [, count = '', unit = ''] = /^(\d+)(ms|s|m|h|d)?$/.exec(written) ?? [];
  if (Number(count) === 0 && count !== '') return undefined;
  const word = UNITS[unit as keyof typeof UNITS];
  if (word === undefined) return written;
  return new Intl.NumberFormat(locale, { style: 'unit', unit: word, unitDisplay: 'long' }).format(Number(count));
}

/** The figure. `children`: a meter or other details. */
export function Reading({
  name,
  value,
  tone,
  about,
  children,
}: {
  readonly name: string;
  readonly value?: ReactNode;
  readonly tone: Tone;
  readonly about: string;
  readonly children?: ReactNode;
}) {
  const text = useText();
  return (
    <div className="reading">
      <div className="reading-value">
        <div className="reading-name">
          <Text size="sm" c="dimmed" component="h3" fw={400} m={0}>
            {name}
          </Text>
          <State tone={tone}>{text.moods[tone]}</State>
        </div>
        {value !== undefined && (
          <Text fw={600} component="div" className="reading-figure">
            {value}
          </Text>
        )}
        {children}
      </div>
      <Text size="sm" c={tone === 'warn' || tone === 'bad' ? undefined : 'dimmed'}>
        <Coded>{about}</Coded>
      </Text>
    </div>
  );
}
