/** The gateways on one database, and their health. */
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Section, Small } from '../../parts/page.tsx';
import { State, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { type Gateway, gatewayTone } from './judge.ts';
import { TEXT } from './text.ts';

/** The table. There are at least two gateways; the rest of the page describes the one that answered. */
export function Gateways({ gateways }: { readonly gateways: readonly Gateway[] }) {
  const { gateways: text, words } = useText(TEXT);
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
  const text = useText(TEXT).gateways;
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
