/** The page of logs: running calls, usage records, and the details of each. */
import './logs.css';
import { Box, Button, Collapse, Group, Tooltip } from '@mantine/core';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { saveFile } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { IconArrowUp, IconDownload, IconFilter, IconRefresh } from '../../icons.ts';
import { Empty, Failure } from '../../parts/notes.tsx';
import { IconButton, Page, PlainButton, Section } from '../../parts/page.tsx';
import { dateOf } from '../../parts/range.ts';
import { ScopeSelect } from '../../parts/scope.tsx';
import { TimeRangePicker, useRangeWords } from '../../parts/time-range.tsx';
import { useFormat } from '../../shell/format.ts';
import { Chips, clearedOf, FilterFields, KindSelect, OutcomeSelect } from './filters.tsx';
import { Latency } from './latency.tsx';
import type { Line } from './line.ts';
import { LineDrawer } from './line-drawer.tsx';
import { Lines, PageControls } from './lines.tsx';
import { Live } from './live.tsx';
import { useText } from './text.ts';
import { type Change, filterOf, searchOf, useView, type View, WITHOUT_FILTERS } from './view.ts';

export default function LogsPage() {
  const text = useText();
  const rangeText = useRangeWords();
  const format = useFormat();
  const [view, change, hrefOf] = useView();
  const lines = useLines(view);
  const [fields, setFields] = useState(false);
  const turn = usePageControls(view, change, lines.next);
  const newButton = (
    <span aria-live="polite">
      {lines.newCount !== '' && (
        <Tooltip label={text.freshAbout}>
          <Button variant="light" leftSection={<IconArrowUp size={14} />} onClick={lines.readAgain}>
            {text.fresh(lines.newCount)}
          </Button>
        </Tooltip>
      )}
    </span>
  );
  return (
    <Page
      name="logs"
      about={(view.allUsers ? text.all : text.mine)(rangeText(view.range))}
      actions={<Actions view={view} change={change} onRefresh={lines.readAgain} />}
    >
      <Live key={`${view.allUsers}`} allUsers={view.allUsers} onEnded={lines.look} />
      <Group gap="xs">
        <TimeRangePicker range={view.range} onChange={(range) => change({ ...range, before: '' })} />
        <KindSelect view={view} change={change} />
        <OutcomeSelect view={view} change={change} />
        <PlainButton leftSection={<IconFilter size={14} />} aria-expanded={fields} onClick={() => setFields(!fields)}>
          {text.filter.open}
        </PlainButton>
      </Group>
      <Collapse expanded={fields}>
        <FilterFields view={view} change={change} />
      </Collapse>
      <Chips view={view} change={change} lines={lines.items ?? []} />
      <Latency view={view} change={change} />
      <Section
        flush
        title={text.lines}
        about={lines.total > 0 ? text.count(format.number(lines.total), lines.beyond) : undefined}
        actions={newButton}
      >
        {lines.error !== null ? (
          <Failure error={lines.error} again={lines.readAgain} />
        ) : (
          <Box className={lines.stale ? 'logs-stale' : undefined} aria-busy={lines.stale}>
            <Lines
              lines={lines.items}
              allUsers={view.allUsers}
              open={view.open}
              onOpen={({ request_id }) => change({ open: request_id })}
              hrefOf={({ request_id }) => hrefOf({ open: request_id })}
              empty={<EmptyState view={view} change={change} />}
            />
          </Box>
        )}
        <PageControls {...turn} />
      </Section>
      <LineDrawer view={view} change={change} lines={lines.items ?? []} />
    </Page>
  );
}

/** Visited pages are known, also after Back. A link leads to one page, and from there to the newest. */
function usePageControls(view: View, change: (change: Change) => void, next: string | null) {
  const [trail, setTrail] = useState<readonly string[]>([]);
  const go = (before: string, trailed: readonly string[]): void => {
    setTrail(trailed);
    change({ before });
    document.querySelector('h1')?.scrollIntoView({ block: 'start' });
  };
  useEffect(() => {
    setTrail((was) => (was.includes(view.before) ? was.slice(0, was.indexOf(view.before)) : was));
  }, [view.before]);
  const last = trail.at(-1);
  return {
    newest: view.before === '' ? undefined : () => go('', []),
    newer: last === undefined ? undefined : () => go(last, trail.slice(0, -1)),
    older: next === null ? undefined : () => go(next, [...trail, view.before]),
  };
}

/** Why the list is empty, and what to do. */
function EmptyState({ view, change }: { readonly view: View; change(change: Change): void }) {
  const { empty: text, words } = useText();
  const rangeText = useRangeWords();
  if (view.before !== '')
    return (
      <Empty
        title={text.past}
        action={<PlainButton onClick={() => change({ before: '' })}>{words.newest}</PlainButton>}
      />
    );
  const longer = view.range.name !== '30d' && (
    <PlainButton onClick={() => change({ range: '30d', start: '', end: '', before: '' })}>
      {words.show30Days}
    </PlainButton>
  );
  if (view.filters.length > 0)
    return (
      <Empty
        title={words.noMatchingEntries}
        action={
          <>
            {longer}
            <PlainButton onClick={() => change(clearedOf(view))}>{words.clearFilters}</PlainButton>
          </>
        }
      >
        {filterOf(view, 'request_id') === '' ? text.filteredAbout(rangeText(view.range)) : text.idAbout}
      </Empty>
    );
  return (
    <Empty
      title={text.none}
      action={
        <>
          {longer}
          <Button component={Link} href="/connect">
            {words.connectAClient}
          </Button>
        </>
      }
    >
      {text.noneAbout}
    </Empty>
  );
}

function Actions({
  view,
  change,
  onRefresh,
}: {
  readonly view: View;
  change(change: Change): void;
  onRefresh(): void;
}) {
  const text = useText();
  const { allUsers, range } = view;
  const save = useAction(() =>
    saveFile(
      allUsers ? 'GET /api/log/export' : 'GET /api/log/self/export',
      `log-${dateOf(range.start)}-${dateOf(range.end)}.csv`,
      { search: searchOf(view) as Readonly<Record<string, unknown>> },
    ),
  );
  return (
    <Group gap="xs">
      {view.admin && (
        <ScopeSelect
          label={text.whose}
          mine=""
          allUsers={allUsers}
          onChange={(scope) => change({ ...WITHOUT_FILTERS, whose: scope })}
        />
      )}
      <PlainButton leftSection={<IconDownload size={14} />} loading={save.isPending} onClick={() => save.mutate()}>
        {text.words.downloadCsv}
      </PlainButton>
      <IconButton label={text.words.refresh} variant="default" size={30} onClick={onRefresh}>
        <IconRefresh size={16} />
      </IconButton>
    </Group>
  );
}

const PAGE_SIZE = 50;
/** The largest number of newer records that are counted. */
const MOST_NEW = 30;
const EVERY_MS = 5_000;

interface ListState {
  /** Undefined while loading. */
  readonly items: readonly Line[] | undefined;
  /** The number of records; with previous pages, from here on. */
  readonly total: number;
  /** True if there are more than were counted. */
  readonly beyond: boolean;
  /** The `before` cursor of the next page; null: none. */
  readonly next: string | null;
  /** True while the records of the previous filters are shown. */
  readonly stale: boolean;
  readonly error: unknown;
  /** The number of newer records as text; `30+` if there are more than were counted. */
  readonly newCount: string;
  readAgain(): void;
  /** Looks for newer records now. */
  look(): void;
}

/** The records on the page, and the number of newer ones, which are shown on request only. */
function useLines(view: View): ListState {
  const operation = view.allUsers ? 'GET /api/log/' : 'GET /api/log/self';
  const search = searchOf(view);
  const page = useApi(
    operation,
    { search: { ...search, page_size: PAGE_SIZE, before: view.before || undefined } as object },
    // Rows do not move while the user reads.
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0, refetchOnWindowFocus: false, placeholderData: (was) => was },
  );
  const watches =
    view.before === '' &&
    view.range.end * 1_000 >= Date.now() &&
    filterOf(view, 'request_id') === '' &&
    !page.isPending;
  const newest = useApi(
    operation,
    { search: { ...search, page_size: MOST_NEW } as object },
    { enabled: watches, refetchInterval: EVERY_MS, staleTime: EVERY_MS, gcTime: 0 },
  );
  const { refetch: readPage } = page;
  const { refetch: readNewest } = newest;
  const newCount = useMemo(
    () => (watches && !page.isPlaceholderData ? newCountOf(newest.data?.items ?? [], page.data) : 0),
    [watches, newest.data, page.data, page.isPlaceholderData],
  );
  return {
    items: page.data?.items,
    total: page.data?.total ?? 0,
    beyond: view.allUsers && (page.data?.total ?? 0) >= 10_000,
    next: page.data?.next ?? null,
    stale: page.isPlaceholderData,
    error: page.data === undefined ? page.error : null,
    newCount: newCount === 0 ? '' : newCount >= MOST_NEW ? `${MOST_NEW}+` : `${newCount}`,
    readAgain: useCallback(() => void readPage(), [readPage]),
    look: useCallback(() => void (watches && readNewest()), [watches, readNewest]),
  };
}

/** The number of new records. A call is sorted by its start, so a long one may be inserted between others. */
function newCountOf(
  newest: readonly Line[],
  current: { readonly items: readonly Line[]; readonly next: string | null } | undefined,
): number {
  if (current === undefined) return 0;
  const ids = new Set(current.items.map(({ request_id }) => request_id));
  const last = current.next === null ? '' : (current.items.at(-1)?.request_id ?? '');
  return newest.filter(({ request_id }) => !ids.has(request_id) && request_id > last).length;
}
