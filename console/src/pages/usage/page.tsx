/** The usage page: cost of the viewer's or all users' calls, by time and group. */
import { Anchor, Button, Group, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { saveFile } from '../../api/client.ts';
import { isAdmin, useAction, useApi, useSelf } from '../../api/hooks.ts';
import { IconDownload, IconRefresh } from '../../icons.ts';
import { MOST_SERIES, useSeriesColor } from '../../parts/chart-colors.ts';
import { FilterChip, FilterChips } from '../../parts/filter-chips.tsx';
import { logsHref } from '../../parts/links.tsx';
import { Empty, Failure } from '../../parts/notes.tsx';
import { IconButton, Page, PlainButton, Section } from '../../parts/page.tsx';
import { dateOf } from '../../parts/range.ts';
import { ScopeSelect } from '../../parts/scope.tsx';
import { type SumRow, SumsTable } from '../../parts/sums-table.tsx';
import { TimeRangePicker, useRangeWords } from '../../parts/time-range.tsx';
import { dearestFirst } from '../../parts/trend-series.ts';
import { useText } from './text.ts';
import { Figures, Trend } from './trend.tsx';
import { type Change, drillDown, FILTER_OF, searchOf, useView, type View, WITHOUT_FILTERS, withRange } from './view.ts';

export default function UsagePage() {
  const text = useText();
  const rangeText = useRangeWords();
  const [view, change, hrefOf] = useView();
  const { range, group, allUsers } = view;
  const sums = useApi(
    allUsers ? 'GET /api/usage/sums' : 'GET /api/usage/self/sums',
    { search: { ...searchOf(view, range), group_by: group } as object },
    { refetchOnWindowFocus: false },
  );
  const nameOf = (id: string, label: string): string => {
    if (label !== '') return label;
    return id === '' || id === '0' ? text.nameless[group] : `#${id}`;
  };
  const colorAt = useSeriesColor();
  const active = Object.fromEntries(view.filters.map(({ name, value }) => [name, value]));
  const ranked = sums.data?.items.toSorted(dearestFirst);
  const rows = ranked?.map((item, at): SumRow => {
    const opens = item.group !== '' && item.group !== '0';
    return {
      key: item.group,
      name: nameOf(item.group, item.name),
      note: allUsers && group === 'key' && item.name !== '' ? `#${item.group}` : undefined,
      sums: item,
      color: colorAt(at < MOST_SERIES ? at : undefined),
      // The log has no filter by tag.
      logs:
        opens && group !== 'tag' && active.tag === undefined
          ? logsHref({ ...active, [FILTER_OF[group]]: item.group }, { range, allUsers })
          : undefined,
      closed: !opens,
    };
  });
  const nothing = ranked?.length === 0;

  return (
    <Page
      name="usage"
      about={(allUsers ? text.all : text.mine)(rangeText(range))}
      actions={<Actions view={view} change={change} />}
    >
      <TimeRangePicker range={range} onChange={(chosen) => change(withRange(chosen))} />
      <Chips view={view} change={change} />
      {sums.isError && sums.data === undefined ? (
        <Failure error={sums.error} again={() => void sums.refetch()} />
      ) : (
        <>
          <Figures view={view} total={sums.data?.total} />
          {nothing ? (
            <Section title={text.titles[group]}>
              <NoCalls view={view} change={change} />
            </Section>
          ) : (
            <>
              <Trend
                view={view}
                change={change}
                name={(id, label) =>
                  allUsers && group === 'key' && label !== '' ? `${label} #${id}` : nameOf(id, label)
                }
              />
              <Section
                title={text.titles[group]}
                about={group === 'tag' ? text.tagsAbout : text.open}
                flush
                actions={
                  active.tag === undefined && (
                    <Anchor component={Link} href={logsHref(active, { range, allUsers })} size="sm" py={2}>
                      {text.logs}
                    </Anchor>
                  )
                }
              >
                <SumsTable
                  caption={text.titles[group]}
                  of={text.column[group]}
                  rows={rows}
                  measure={view.measure}
                  find={view.find}
                  page={view.page}
                  onView={change}
                  onOpen={({ key }) => change(drillDown(view, group, key))}
                  hrefOf={({ key }) => hrefOf(drillDown(view, group, key))}
                  empty={<NoCalls view={view} change={change} />}
                />
              </Section>
            </>
          )}
        </>
      )}
    </Page>
  );
}

/** Why the page is empty, and what to do. */
function NoCalls({ view, change }: { readonly view: View; change(change: Change): void }) {
  const { empty: text, noTags, tagsAbout, words } = useText();
  if (view.filters.length > 0)
    return (
      <Empty
        title={text.filtered}
        action={<PlainButton onClick={() => change(WITHOUT_FILTERS)}>{words.clearFilters}</PlainButton>}
      >
        {text.filteredAbout}
      </Empty>
    );
  if (view.group === 'tag') return <Empty title={noTags}>{tagsAbout}</Empty>;
  return (
    <Empty
      title={text.title}
      action={
        <>
          {view.range.name !== '30d' && (
            <PlainButton onClick={() => change(withRange({ range: '30d', start: '', end: '' }))}>
              {words.show30Days}
            </PlainButton>
          )}
          <Button component={Link} href="/connect">
            {words.connectAClient}
          </Button>
        </>
      }
    >
      {view.allUsers ? text.all : text.mine}
    </Empty>
  );
}

function Actions({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText();
  const queries = useQueryClient();
  const { allUsers, range, group } = view;
  const admin = isAdmin(useSelf());
  const file = `usage-${dateOf(range.start)}-${dateOf(range.end)}`;
  const save = useAction((what: 'sums' | 'trend') =>
    saveFile(
      allUsers ? `GET /api/usage/${what}` : `GET /api/usage/self/${what}`,
      `${file}-${what === 'sums' ? group : range.granularity}.csv`,
      {
        search: {
          ...searchOf(view, range),
          group_by: group,
          format: 'csv',
          ...(what === 'trend' && { granularity: range.granularity, top: MOST_SERIES }),
        },
      },
    ),
  );
  return (
    <Group gap="xs">
      {admin && (
        <ScopeSelect
          label={text.whose}
          mine="mine"
          allUsers={allUsers}
          onChange={(scope) => change({ ...WITHOUT_FILTERS, whose: scope, group: 'model' })}
        />
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <PlainButton leftSection={<IconDownload size={14} />} loading={save.isPending}>
            {text.words.downloadCsv}
          </PlainButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => save.mutate('sums')}>{text.csvGroups(text.groups[group])}</Menu.Item>
          <Menu.Item onClick={() => save.mutate('trend')}>
            {text.csvTrend(range.granularity === 'hour' ? text.chart.hour : text.chart.day)}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <IconButton
        label={text.words.refresh}
        variant="default"
        size={30}
        onClick={() =>
          void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => `${name}`.includes('/api/usage/') })
        }
      >
        <IconRefresh size={16} />
      </IconButton>
    </Group>
  );
}

/** A row of chips; renders nothing without filters. */
function Chips({ view, change }: { readonly view: View; change(change: Change): void }) {
  if (view.filters.length === 0) return null;
  return (
    <FilterChips onClear={view.filters.length > 1 ? () => change(WITHOUT_FILTERS) : undefined}>
      {view.filters.map((filter) => (
        <Chip
          key={filter.name}
          view={view}
          filter={filter}
          onRemove={() => change({ [filter.name]: '', group: filter.by, page: '1' })}
        />
      ))}
    </FilterChips>
  );
}

function Chip({
  view,
  filter,
  onRemove,
}: {
  readonly view: View;
  readonly filter: View['filters'][number];
  onRemove(): void;
}) {
  const text = useText();
  return <FilterChip what={text.column[filter.by]} value={useFilterName(view, filter)} onRemove={onRemove} />;
}

/** The display name of a filter by ID. */
function useFilterName(view: View, { by, value }: View['filters'][number]): string {
  const named = by === 'key' || by === 'account';
  // Queried with this filter only, and the other way round, because the combination may have no calls.
  const { data } = useApi(
    view.allUsers ? 'GET /api/usage/sums' : 'GET /api/usage/self/sums',
    {
      search: {
        ...searchOf({ ...view, filters: view.filters.filter((filter) => filter.by === by) }, view.range),
        group_by: by === 'account' ? 'account' : 'key',
      } as object,
    },
    { enabled: named },
  );
  const departments = useDepartmentNames(by === 'department');
  if (by === 'model' || by === 'channel' || by === 'tag') return value;
  const name =
    by === 'department' ? departments?.get(Number(value)) : data?.items.find(({ group }) => group === value)?.name;
  return name === undefined || name === '' ? `#${value}` : name;
}

function useDepartmentNames(isNeeded: boolean): ReadonlyMap<number, string> | undefined {
  const { data } = useApi('GET /api/department/names', undefined, { staleTime: 30_000, enabled: isNeeded });
  return data && new Map(data.map(({ id, name }) => [id, name]));
}
