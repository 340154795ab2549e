/** Totals by group: cost, share, calls, errors, tokens; with search and paging. */
import { ActionIcon, Box, Group, Progress, Text, TextInput, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { IconListDetails, IconSearch } from '../icons.ts';
import { useFormat } from '../shell/format.ts';
import { texts } from '../text.ts';
import { Swatch } from './chart-tip.tsx';
import { type Column, DataTable, OpenButton, paged } from './data-table.tsx';
import { Muted, Small } from './page.tsx';
import { type Measure, measureOf, type Sums } from './trend-series.ts';
import { Money } from './values.tsx';

const useText = texts({
  share: ['Share', '占比'],
  shareOf: {
    cost: ['Share of cost', '费用占比'],
    requests: ['Share of calls', '调用占比'],
    tokens: ['Share of tokens', 'Token 占比'],
  },
  logs: ['Logs', '日志'],
  logsOf: [(name: string) => `Logs of ${name}`, (name: string) => `${name} 的日志`],
  find: ['Find by name', '按名称查找'],
  nothing: ['No matching names.', '没有符合条件的名称。'],
});

/** A row. */
export interface SumRow {
  readonly key: string;
  readonly name: string;
  /** Shown after the name, to distinguish equal names. */
  readonly note?: string | undefined;
  readonly sums: Sums;
  /** Its colour in the chart above. */
  readonly color?: string | undefined;
  /** The link to its calls. */
  readonly logs?: string | undefined;
  /** The row cannot be opened. */
  readonly closed?: boolean;
}

const PAGE_SIZE = 25;

/** The table. `of`: the kind of groups. `extra`: columns after the name. `onOpen` makes names buttons. */
export function SumsTable({
  caption,
  of,
  rows,
  measure,
  find,
  page,
  onView,
  onOpen,
  hrefOf,
  extra = [],
  empty,
}: {
  readonly caption: string;
  readonly of: string;
  /** Undefined while loading. */
  readonly rows: readonly SumRow[] | undefined;
  readonly measure: Measure;
  readonly find: string;
  /** From 1. */
  readonly page: number;
  onView(change: { find?: string; page?: string }): void;
  onOpen?(row: SumRow): void;
  /** The address of a row. */
  hrefOf?(row: SumRow): string;
  readonly extra?: readonly Column<SumRow>[];
  readonly empty: ReactNode;
}) {
  const text = useText();
  const format = useFormat();
  const total = (rows ?? []).reduce((sum, row) => sum + measureOf(measure, row.sums), 0);
  const query = find.trim().toLowerCase();
  const matches = rows
    ?.filter(({ name, note = '' }) => query === '' || `${name} ${note}`.toLowerCase().includes(query))
    .sort((a, b) => measureOf(measure, b.sums) - measureOf(measure, a.sums));
  const [shown, pager] = paged(matches ?? [], page, PAGE_SIZE, onView);
  const columns: readonly Column<SumRow>[] = [
    {
      key: 'name',
      title: of,
      cell: (row) => (
        <Group gap={6} wrap="nowrap" align="center">
          {row.color !== undefined && <Swatch color={row.color} />}
          {onOpen === undefined || row.closed === true ? (
            <span>{row.name}</span>
          ) : (
            <OpenButton href={hrefOf?.(row)} onOpen={() => onOpen(row)}>
              {row.name}
            </OpenButton>
          )}
          {row.note !== undefined && <Small span>{row.note}</Small>}
        </Group>
      ),
    },
    ...extra,
    { key: 'cost', title: text.words.cost, align: 'right', cell: ({ sums }) => <Money units={sums.quota} /> },
    {
      key: 'share',
      title: text.shareOf[measure],
      align: 'right',
      from: 'sm',
      cell: ({ sums }) => <Share of={total === 0 ? 0 : measureOf(measure, sums) / total} />,
    },
    {
      key: 'requests',
      title: text.words.calls,
      align: 'right',
      cell: ({ sums }) => format.number(sums.requests + sums.errors),
    },
    {
      key: 'errors',
      title: text.words.errors,
      align: 'right',
      from: 'sm',
      cell: ({ sums }) =>
        sums.errors === 0
          ? '0'
          : `${format.number(sums.errors)} (${format.percent(sums.errors / (sums.requests + sums.errors))})`,
    },
    {
      key: 'input',
      title: text.words.inputTokens,
      align: 'right',
      from: 'lg',
      cell: ({ sums }) => <Count value={sums.prompt_tokens} />,
    },
    {
      key: 'output',
      title: text.words.outputTokens,
      align: 'right',
      from: 'lg',
      cell: ({ sums }) => <Count value={sums.completion_tokens} />,
    },
    {
      key: 'each',
      title: text.words.costPerCall,
      align: 'right',
      from: 'md',
      cell: ({ sums }) => (sums.requests === 0 ? '–' : <Money units={Math.round(sums.quota / sums.requests)} />),
    },
    {
      when: (rows ?? []).some(({ logs }) => logs !== undefined),
      key: 'logs',
      title: text.logs,
      quiet: true,
      align: 'right',
      cell: ({ name, logs }) =>
        logs !== undefined && (
          <Tooltip label={text.logsOf(name)}>
            <ActionIcon component={Link} href={logs} variant="subtle" color="gray" aria-label={text.logsOf(name)}>
              <IconListDetails size={16} />
            </ActionIcon>
          </Tooltip>
        ),
    },
  ];
  return (
    <Box>
      {(rows ?? []).length > PAGE_SIZE && (
        <Box p="xs">
          <TextInput
            size="xs"
            maw="18rem"
            aria-label={text.find}
            placeholder={text.find}
            leftSection={<IconSearch size={14} />}
            value={find}
            onChange={(event) => onView({ find: event.currentTarget.value, page: '1' })}
          />
        </Box>
      )}
      <DataTable
        caption={caption}
        columns={columns}
        rows={matches && shown}
        rowKey={({ key }) => key}
        empty={query === '' ? empty : <Muted p="md">{text.nothing}</Muted>}
      />
      {pager}
    </Box>
  );
}

/** Short numbers exactly, long ones abbreviated. */
function Count({ value }: { readonly value: number }) {
  const format = useFormat();
  if (value < 100_000) return format.number(value);
  return (
    <Tooltip label={format.number(value)}>
      <span>{format.short(value)}</span>
    </Tooltip>
  );
}

function Share({ of }: { readonly of: number }) {
  const format = useFormat();
  return (
    <Group gap={8} wrap="nowrap" justify="flex-end">
      <Progress value={of * 100} w={56} size="sm" aria-hidden visibleFrom="md" />
      <Text span size="sm" className="number" miw={44} ta="right">
        {format.percent(of)}
      </Text>
    </Group>
  );
}
