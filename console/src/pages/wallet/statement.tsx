/** The statement: balance over time, credits and debits by day, and other transactions. */
import { Anchor, Group, Menu, SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { GATEWAY, saveBytes } from '../../api/client.ts';
import { KEEPS_DATA, useApi } from '../../api/hooks.ts';
import type * as api from '../../api/operations.ts';
import { IconDownload, IconExternalLink } from '../../icons.ts';
import { Chart } from '../../parts/chart.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { useProviderName } from '../../parts/order.tsx';
import { PlainButton, Section } from '../../parts/page.tsx';
import { Copy, Money, useLanguage, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

type StatementData = api.Statement;
type Day = StatementData['days'][number];
type MoneyEvent = StatementData['events'][number];

/** The longest range. */
const PERIODS = ['30', '90', '366'] as const;

/** How much of an order number is shown; copying copies all of it. */
const MOST_SHOWN = 24;

/** Parameters of the address. */
export interface StatementAddress {
  readonly days: string;
  /** Transactions before this cursor. */
  readonly before: string;
}

/** The sections. */
export function Statement({
  address,
  onChange,
  onOpenOrder,
}: {
  readonly address: StatementAddress;
  onChange(change: Partial<StatementAddress>): void;
  onOpenOrder(tradeNo: string): void;
}) {
  const { statement: text, words } = useText();
  const format = useFormat();
  const days = PERIODS.find((period) => period === address.days) ?? PERIODS[0];
  const statement = useApi(
    'GET /api/user/statement',
    { search: { days: Number(days), ...(address.before !== '' && { before: address.before }) } },
    KEEPS_DATA,
  );
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          aria-label={text.days}
          size="xs"
          value={days}
          onChange={(chosen) => onChange({ days: chosen, before: '' })}
          data={PERIODS.map((period) => ({ value: period, label: text.lastDays(format.number(Number(period))) }))}
        />
        <Group gap="xs">
          <MonthButton />
          <PlainButton
            leftSection={<IconDownload size={16} />}
            disabled={statement.data === undefined}
            onClick={() => statement.data !== undefined && saveDays(statement.data.days)}
          >
            {words.downloadCsv}
          </PlainButton>
        </Group>
      </Group>
      <Loaded query={statement} height={260}>
        {(data) => (
          <>
            {data.days.some(hasTransactions) && <Charts days={data.days} />}
            <Events
              data={data}
              first={address.before === ''}
              onNewest={() => onChange({ before: '' })}
              onOlder={(before) => onChange({ before })}
              onOpenOrder={onOpenOrder}
            />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

/** Months that can be printed. */
const MONTHS = 12;

/** Opens the statement of a month as a page to print. */
function MonthButton() {
  const { statement: text } = useText();
  const language = useLanguage();
  const now = new Date();
  const months = Array.from({ length: MONTHS }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7),
  );
  return (
    <Menu>
      <Menu.Target>
        <PlainButton rightSection={<IconExternalLink size={14} />}>{text.month}</PlainButton>
      </Menu.Target>
      <Menu.Dropdown>
        {months.map((month) => (
          <Menu.Item
            key={month}
            component="a"
            href={`${GATEWAY}/api/user/statement/print?${new URLSearchParams({ month, lang: language })}`}
            target="_blank"
            rel="noopener"
          >
            {month}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Charts({ days }: { readonly days: readonly Day[] }) {
  const { statement: text, words } = useText();
  const format = useFormat();
  const [side, setSide] = useState<'went' | 'came'>('went');
  const times = days.map(({ date }) => Date.parse(`${date}T00:00:00Z`) / 1_000);
  const calls = days.map(({ exact }) => Math.round(Number(exact.calls)));
  const came = [{ name: text.came, values: days.map(({ credits }) => credits) }];
  const debits = [
    { name: words.calls, values: calls },
    { name: text.other, values: days.map(({ debits }, at) => Math.max(0, debits - (calls[at] ?? 0))) },
    { name: text.returned, values: days.map(({ refunds }) => refunds) },
  ].filter(({ values }, at) => at === 0 || values.some((value) => value > 0));
  return (
    <div className="two-columns">
      <Section title={text.balance}>
        <Chart
          label={text.balanceAbout}
          times={times}
          series={[{ name: text.balance, values: days.map(({ closing }) => closing) }]}
          show={format.money}
        />
      </Section>
      <Section
        title={side === 'went' ? text.went : text.came}
        actions={
          <SegmentedControl
            aria-label={text.side}
            size="xs"
            value={side}
            onChange={(chosen) => setSide(chosen === 'came' ? 'came' : 'went')}
            data={[
              { value: 'went', label: text.wentShort },
              { value: 'came', label: text.cameShort },
            ]}
          />
        }
      >
        <Chart
          key={side}
          label={side === 'went' ? text.wentAbout : text.cameAbout}
          bars
          stacked={side === 'went' && debits.length > 1}
          times={times}
          series={side === 'went' ? debits : came}
          show={format.money}
        />
      </Section>
    </div>
  );
}

function Events({
  data: { events, next },
  first,
  onNewest,
  onOlder,
  onOpenOrder,
}: {
  readonly data: StatementData;
  readonly first: boolean;
  onNewest(): void;
  onOlder(before: string): void;
  onOpenOrder(tradeNo: string): void;
}) {
  const { statement: text, words } = useText();
  const nameOf = useEventName();
  const columns: readonly Column<MoneyEvent>[] = [
    { key: 'when', title: words.when, cell: ({ at }) => <When at={at} /> },
    { key: 'what', title: text.what, cell: nameOf },
    {
      key: 'ref',
      title: words.orderNumber,
      from: 'md',
      cell: ({ ref }) => {
        const tradeNo = orderOf(ref);
        if (tradeNo === undefined)
          return (
            <Copy
              what={words.orderNumber}
              value={ref}
              shown={ref.length > MOST_SHOWN ? `${ref.slice(0, MOST_SHOWN)}…` : ref}
            />
          );
        return (
          <Anchor component="button" type="button" size="sm" onClick={() => onOpenOrder(tradeNo)}>
            {words.order} {tradeNo.slice(0, 10)}…
          </Anchor>
        );
      },
    },
    { key: 'amount', title: words.amount, align: 'right', cell: ({ amount }) => <Money units={amount} sign /> },
  ];
  return (
    <Section flush title={text.events} about={text.eventsAbout}>
      <DataTable
        caption={text.events}
        columns={columns}
        rows={events}
        rowKey={({ at, ref, side, exact }) => `${at} ${ref} ${side} ${exact}`}
        empty={<Empty title={text.noEvents}>{text.noEventsAbout}</Empty>}
      />
      {(!first || next !== null) && (
        <Group justify="flex-end" gap="xs" p="xs">
          <PlainButton disabled={first} onClick={onNewest}>
            {words.newest}
          </PlainButton>
          <PlainButton disabled={next === null} onClick={() => next !== null && onOlder(next)}>
            {words.older}
          </PlainButton>
        </Group>
      )}
    </Section>
  );
}

/** False for an account without any transaction: there is nothing to draw. */
function hasTransactions({ opening, credits, debits, refunds, closing }: Day): boolean {
  return [opening, credits, debits, refunds, closing].some((units) => units !== 0);
}

/** The description of a transaction. */
function useEventName(): (event: MoneyEvent) => string {
  const { statement } = useText();
  const { kinds: text } = statement;
  const providerName = useProviderName();
  return ({ kind, side, by, ref, amount }) => {
    if (ref.startsWith('plan:')) return text.withPlan;
    switch (kind) {
      case 'system':
        return text.opened;
      case 'manage':
        return amount < 0 ? text.taken : text.given;
      case 'refund':
        return side === 'refund' ? text.back : text.again;
      case 'top-up':
        if (by === 'redemption code') return text.code;
        return side === 'debit' ? text.plan : text.paid(providerName(by));
    }
  };
}

/** The order number of a transaction; undefined if it has none. */
function orderOf(ref: string): string | undefined {
  return /(?:^|:)top-up:(TP[0-9a-f]+)/.exec(ref)?.[1];
}

/** The days as CSV, in exact quota units. */
function saveDays(days: readonly Day[]): void {
  const lines = days.map(({ date, exact, requests }) =>
    [date, exact.opening, exact.credits, exact.debits, exact.calls, exact.refunds, exact.closing, requests].join(','),
  );
  const head = 'date,opening,credits,debits,of_which_calls,refunds,closing,requests';
  saveBytes('statement.csv', new Blob([`${[head, ...lines].join('\r\n')}\r\n`], { type: 'text/csv' }));
}
