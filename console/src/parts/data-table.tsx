/** A table that scrolls within its frame, opens rows, and has an empty state. */
import { ActionIcon, Box, Group, NativeSelect, Skeleton, Table, UnstyledButton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { type Key, type MouseEvent, type ReactNode, useLayoutEffect, useRef } from 'react';
import type { Refusal } from '../api/client.ts';
import { IconChevronLeft, IconChevronRight } from '../icons.ts';
import { useFormat } from '../shell/format.ts';
import { counted, texts } from '../text.ts';
import { Loaded } from './notes.tsx';
import { Muted } from './page.tsx';

const useText = texts({
  earlier: ['Previous page', '上一页'],
  later: ['Next page', '下一页'],
  perPage: ['Rows per page', '每页行数'],
  rows: [(count: string) => counted(count, 'row'), (count: string) => `${count} 行`],
  range: [
    (from: string, to: string, total: string) => `${from}–${to} of ${total}`,
    (from: string, to: string, total: string) => `${from}–${to}，共 ${total}`,
  ],
});

/** A column. */
export interface Column<Row> {
  readonly key: string;
  /** Its heading; `quiet` headings are for screen readers only. */
  readonly title: string;
  readonly quiet?: boolean;
  /** The name of its order in `/api`: the heading sorts by it, first in this direction (default: ascending). */
  readonly sort?: string;
  readonly sortsFirst?: 'descending';
  /** Right-aligned. */
  readonly align?: 'left' | 'right';
  /** The smallest window that shows it: `sm` 48em, `md` 62em, `lg` 75em. The drawer of a row shows hidden columns. */
  readonly from?: 'sm' | 'md' | 'lg';
  /** False: the table is shown without it. */
  readonly when?: boolean;
  cell(row: Row): ReactNode;
}

interface TableProps<Row> {
  /** The accessible name. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  rowKey(row: Row): Key;
  /** Makes the first column a button. */
  onOpen?(row: Row): void;
  /** The address of a row: the first column becomes a link, for new tabs and for copying. */
  hrefOf?(row: Row): string;
  /** Shown if there are no rows. */
  readonly empty?: ReactNode;
  /** The open row. */
  readonly open?: Key | undefined;
  /** The order of the rows as `/api` takes it (`name`, `-name`), and how it changes; without it, headings do not sort. */
  readonly order?: { readonly sort: string; onSort(sort: string): void } | undefined;
}

/** A table. */
export function DataTable<Row>({
  caption,
  columns: all,
  rows,
  rowKey,
  onOpen,
  hrefOf,
  empty,
  open,
  order,
}: TableProps<Row>) {
  const text = useText();
  const table = useAlignedMoney(rows);
  const columns = all.filter(({ when }) => when !== false);
  // A checkbox is not the name of its row.
  const opener = columns.find(({ key }) => key !== 'select')?.key;
  if (rows === undefined) return <Skeleton height={180} aria-label={text.words.loading} role="status" />;
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <Box className="table-frame" tabIndex={0} role="region" aria-label={caption}>
      <Table aria-label={caption} ref={table}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} order={order} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr
              key={rowKey(row)}
              data-open={open !== undefined && open === rowKey(row) ? true : undefined}
              className={onOpen === undefined ? undefined : 'opens'}
              onClick={
                onOpen === undefined
                  ? undefined
                  : (event) => {
                      // Buttons and links in a row keep their function, and selecting text opens nothing.
                      if ((event.target as Element).closest('button, a, input, label') !== null) return;
                      if (window.getSelection()?.type !== 'Range') onOpen(row);
                    }
              }
            >
              {columns.map(({ key, align = 'left', from, cell }) => (
                <Table.Td key={key} ta={align} visibleFrom={from} className={align === 'right' ? 'number' : undefined}>
                  {key === opener && onOpen !== undefined ? (
                    <OpenButton href={hrefOf?.(row)} onOpen={() => onOpen(row)}>
                      {cell(row)}
                    </OpenButton>
                  ) : (
                    wholeName(cell(row))
                  )}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

function Heading<Row>({
  column: { key, title, quiet, align = 'left', from, sort, sortsFirst },
  order,
}: {
  readonly column: Column<Row>;
  readonly order: TableProps<Row>['order'];
}) {
  if (sort === undefined || order === undefined) {
    return (
      <Table.Th ta={align} visibleFrom={from} scope="col">
        {quiet === true ? <span className="aloud">{title}</span> : title}
      </Table.Th>
    );
  }
  const [first, second] = sortsFirst === 'descending' ? [`-${sort}`, sort] : [sort, `-${sort}`];
  const direction = order.sort === sort ? 'ascending' : order.sort === `-${sort}` ? 'descending' : undefined;
  // The third press returns to the usual order.
  const next = order.sort === first ? second : order.sort === second ? '' : first;
  return (
    <Table.Th key={key} ta={align} visibleFrom={from} scope="col" aria-sort={direction ?? 'none'}>
      <UnstyledButton className="sorter" fz="inherit" fw="inherit" onClick={() => order.onSort(next)}>
        {title}
        <span aria-hidden>{direction === undefined ? '↕' : direction === 'ascending' ? '↑' : '↓'}</span>
      </UnstyledButton>
    </Table.Th>
  );
}

/** A text of one word is a name, and stays whole. */
function wholeName(content: ReactNode): ReactNode {
  return typeof content === 'string' && /^\S+$/.test(content) ? <span className="name">{content}</span> : content;
}

/** A name that opens a row. With an address it is a link: a plain click opens the row, any other click does what browsers do. */
export function OpenButton({
  href,
  onOpen,
  children,
}: {
  readonly href: string | undefined;
  onOpen(): void;
  readonly children: ReactNode;
}) {
  if (href === undefined)
    return (
      <UnstyledButton className="row-opener" onClick={onOpen} fz="sm">
        {children}
      </UnstyledButton>
    );
  return (
    <UnstyledButton
      component="a"
      href={href}
      className="row-opener"
      fz="sm"
      onClick={(event: MouseEvent) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onOpen();
      }}
    >
      {children}
    </UnstyledButton>
  );
}

/**
 * Aligns the amounts of a column at the decimal point by padding those with fewer digits. `rows` are the rows of
 * the table.
 */
function useAlignedMoney(rows: unknown): React.RefObject<HTMLTableElement | null> {
  const table = useRef<HTMLTableElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: recompute for other rows
  useLayoutEffect(() => {
    const columns = new Map<number, HTMLElement[]>();
    for (const money of table.current?.querySelectorAll<HTMLElement>('td.number [data-decimals]') ?? []) {
      const at = money.closest('td')?.cellIndex ?? 0;
      columns.set(at, [...(columns.get(at) ?? []), money]);
    }
    for (const amounts of columns.values()) {
      const most = Math.max(...amounts.map(({ dataset }) => Number(dataset.decimals)));
      for (const { dataset } of amounts) dataset.room = '0'.repeat(most - Number(dataset.decimals));
    }
  }, [rows]);
  return table;
}

/** The order in the address as a part of a query; an order that the list does not have is ignored. */
export function sortOf<N extends string>(value: string, names: readonly N[]): { readonly sort?: N | `-${N}` } {
  const name = names.find((each) => each === value.replace(/^-/, ''));
  if (name === undefined) return {};
  return { sort: value.startsWith('-') ? `-${name}` : name };
}

/** The numbers of rows per page that a user can choose. */
export const PAGE_SIZES = [25, 50, 100] as const;

/** The number of rows per page in the address. */
export function pageSizeOf(value: string): number {
  return PAGE_SIZES.find((size) => `${size}` === value) ?? PAGE_SIZES[0];
}

interface Paging {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
  onPage(page: number): void;
  /** The user can choose the number of rows per page. */
  onPageSize?: ((size: number) => void) | undefined;
}

/** The properties of a list with fixed columns. */
export interface ListProps<Row> extends Paging, Pick<TableProps<Row>, 'empty' | 'open' | 'onOpen' | 'order'> {
  readonly query: UseQueryResult<{ readonly items: readonly Row[]; readonly total: number }, Refusal>;
}

/** A table of rows that are queried page by page. `height`: while loading. */
export function QueryTable<Row>({
  query,
  height = 180,
  page,
  pageSize,
  onPage,
  onPageSize,
  ...table
}: Omit<TableProps<Row>, 'rows'> & ListProps<Row> & { readonly height?: number }) {
  return (
    <>
      <Loaded query={query} height={height}>
        {({ items }) => <DataTable {...table} rows={items} />}
      </Loaded>
      <Pager page={page} pageSize={pageSize} total={query.data?.total ?? 0} onPage={onPage} onPageSize={onPageSize} />
    </>
  );
}

/** The rows of one page of loaded rows, and the pager if there are several pages. */
export function paged<Row>(
  rows: readonly Row[],
  page: number,
  pageSize: number,
  onPage: (change: { readonly page: string }) => void,
): [shown: readonly Row[], pager: ReactNode] {
  const at = Math.min(Math.max(1, page), Math.max(1, Math.ceil(rows.length / pageSize)));
  const turn = (to: number): void => onPage({ page: `${to}` });
  return [
    rows.slice((at - 1) * pageSize, at * pageSize),
    rows.length > pageSize && <Pager page={at} pageSize={pageSize} total={rows.length} onPage={turn} />,
  ];
}

/** Pagination. */
export function Pager({ page, pageSize, total, onPage, onPageSize }: Paging & { readonly total: number }) {
  const text = useText();
  const format = useFormat();
  if (total === 0) return null;
  const pages = Math.max(1, Math.ceil(total / pageSize));
  return (
    <Group justify="flex-end" gap="xs" p="xs" className="table-pager">
      {onPageSize !== undefined && total > PAGE_SIZES[0] && (
        <NativeSelect
          size="xs"
          aria-label={text.perPage}
          data={PAGE_SIZES.map((size) => ({ value: `${size}`, label: text.rows(format.number(size)) }))}
          value={`${pageSize}`}
          onChange={({ currentTarget }) => onPageSize(Number(currentTarget.value))}
        />
      )}
      <Muted className="number">
        {text.range(
          format.number((page - 1) * pageSize + 1),
          format.number(Math.min(total, page * pageSize)),
          format.number(total),
        )}
      </Muted>
      <ActionIcon variant="default" aria-label={text.earlier} disabled={page <= 1} onClick={() => onPage(page - 1)}>
        <IconChevronLeft size={16} />
      </ActionIcon>
      <ActionIcon variant="default" aria-label={text.later} disabled={page >= pages} onClick={() => onPage(page + 1)}>
        <IconChevronRight size={16} />
      </ActionIcon>
    </Group>
  );
}
