/** The page of usage: what calls came to, of oneself or of everybody, by time and by what they were. */
import { ActionIcon, Anchor, Button, Group, Menu, SegmentedControl, Tooltip } from '@mantine/core';
import { IconDownload, IconRefresh } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { saveFile } from '../../api/client.ts';
import { useApi, useDoing } from '../../api/hooks.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { MOST_SERIES, useSeriesColor } from '../../parts/chart-colors.ts';
import { logsHref } from '../../parts/links.ts';
import { Empty, Failure } from '../../parts/notes.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { dateOf } from '../../parts/range.ts';
import { type SumRow, SumsTable } from '../../parts/sums-table.tsx';
import { TimeRangePicker, useRangeWords } from '../../parts/time-range.tsx';
import { dearestFirst } from '../../parts/trend-series.ts';
import { keepWhose } from '../../parts/whose.ts';
import { isAdmin, useSelf } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { Figures } from './figures.tsx';
import { Chips } from './filter-chips.tsx';
import { TEXT } from './text.ts';
import { Trend } from './trend.tsx';
import { type Change, drilled, FILTER_OF, searchOf, useView, type View, WITHOUT_FILTERS, withRange } from './view.ts';

export default function UsagePage() {
  const text = useText(TEXT);
  const names = useText(PAGE_NAMES);
  const words = useRangeWords();
  const [view, change, hrefOf] = useView();
  const { range, group, everybody } = view;
  const sums = useApi(
    everybody ? 'GET /api/usage/sums' : 'GET /api/usage/self/sums',
    { search: { ...searchOf(view, range), group_by: group } as object },
    { refetchOnWindowFocus: false },
  );
  const nameOf = (id: string, said: string): string => {
    if (said !== '') return said;
    return id === '' || id === '0' ? text.nameless[group] : `#${id}`;
  };
  const colorAt = useSeriesColor();
  const asked = Object.fromEntries(view.filters.map(({ name, value }) => [name, value]));
  const ranked = sums.data?.items.toSorted(dearestFirst);
  const rows = ranked?.map((item, at): SumRow => {
    const opens = item.group !== '' && item.group !== '0';
    return {
      key: item.group,
      name: nameOf(item.group, item.name),
      note: everybody && group === 'key' && item.name !== '' ? `#${item.group}` : undefined,
      sums: item,
      color: colorAt(at < MOST_SERIES ? at : undefined),
      logs: opens ? logsHref({ ...asked, [FILTER_OF[group]]: item.group }, { range, everybody }) : undefined,
      closed: !opens,
    };
  });
  const nothing = ranked?.length === 0;

  return (
    <Page
      title={names.usage}
      about={(everybody ? text.all : text.mine)(words(range))}
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
                name={(id, said) => (everybody && group === 'key' && said !== '' ? `${said} #${id}` : nameOf(id, said))}
              />
              <Section
                title={text.titles[group]}
                about={text.open}
                flush
                actions={
                  <Anchor component={Link} href={logsHref(asked, { range, everybody })} size="sm" py={2}>
                    {text.logs}
                  </Anchor>
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
                  onOpen={({ key }) => change(drilled(view, group, key))}
                  hrefOf={({ key }) => hrefOf(drilled(view, group, key))}
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

/** Why there is nothing, and what to do. */
function NoCalls({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText(TEXT).empty;
  const { clear } = useText(TEXT);
  if (view.filters.length > 0)
    return (
      <Empty
        title={text.filtered}
        action={
          <Button variant="default" onClick={() => change(WITHOUT_FILTERS)}>
            {clear}
          </Button>
        }
      >
        {text.filteredAbout}
      </Empty>
    );
  return (
    <Empty
      title={text.title}
      action={
        <>
          {view.range.name !== '30d' && (
            <Button variant="default" onClick={() => change(withRange({ range: '30d', start: '', end: '' }))}>
              {text.longer}
            </Button>
          )}
          <Button component={Link} href="/connect">
            {text.action}
          </Button>
        </>
      }
    >
      {view.everybody ? text.all : text.mine}
    </Empty>
  );
}

/** Whose it is, read anew, and as files. */
function Actions({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText(TEXT);
  const queries = useQueryClient();
  const { everybody, range, group } = view;
  const admin = isAdmin(useSelf());
  const file = `usage-${dateOf(range.start)}-${dateOf(range.end)}`;
  const save = useDoing((what: 'sums' | 'trend') =>
    saveFile(
      everybody ? `GET /api/usage/${what}` : `GET /api/usage/self/${what}`,
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
        <SegmentedControl
          size="xs"
          aria-label={text.whose.label}
          data={[
            { value: 'mine', label: text.whose.mine },
            { value: 'all', label: text.whose.all },
          ]}
          value={everybody ? 'all' : 'mine'}
          onChange={(whose) => {
            keepWhose(whose === 'all');
            change({ ...WITHOUT_FILTERS, whose, group: 'model' });
          }}
        />
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<IconDownload size={14} />} loading={save.isPending}>
            {text.csv}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => save.mutate('sums')}>{text.csvGroups(text.groups[group])}</Menu.Item>
          <Menu.Item onClick={() => save.mutate('trend')}>
            {text.csvTrend(range.granularity === 'hour' ? text.chart.hour : text.chart.day)}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Tooltip label={text.refresh}>
        <ActionIcon
          variant="default"
          size={30}
          aria-label={text.refresh}
          onClick={() =>
            void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => `${name}`.includes('/api/usage/') })
          }
        >
          <IconRefresh size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
