/** Overview of the team: figures, cost over time, departments. */
import { NativeSelect, Skeleton } from '@mantine/core';
import { useLocation } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { Chart } from '../../parts/chart.tsx';
import { MOST_SERIES } from '../../parts/chart-colors.ts';
import { usageHref } from '../../parts/links.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { momentsOf, stepOf } from '../../parts/range.ts';
import { SumsTable } from '../../parts/sums-table.tsx';
import { customRange } from '../../parts/time-range.tsx';
import { trendSeries } from '../../parts/trend-series.ts';
import { Figure, Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { CsvButton } from './csv-button.tsx';
import { NoCalls } from './empty.tsx';
import { useText } from './text.ts';
import { type Change, GROUPS, searchOf, type View } from './view.ts';

/** The tab. */
export function Overview({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText();
  const overview = useApi('GET /api/team/overview', { search: searchOf(view) }, { refetchOnWindowFocus: false });
  if (overview.data?.requests === 0 && overview.data.errors === 0)
    return (
      <Section title={text.tabs.overview}>
        <NoCalls view={view} change={change} />
      </Section>
    );
  return (
    <Loaded query={overview} height={600}>
      {(data) => (
        <>
          <Figures data={data} view={view} />
          <Trend view={view} change={change} />
          <Section
            title={text.words.departments}
            about={text.open.departments}
            flush
            actions={<CsvButton of="GET /api/team/overview" view={view} what={text.tabs.overview} />}
          >
            <SumsTable
              caption={text.words.departments}
              of={text.words.department}
              measure="cost"
              rows={data.departments.map((row) => ({
                key: `${row.department_id}`,
                name: row.name || (row.department_id === 0 ? text.nameless.department : `#${row.department_id}`),
                sums: row,
                closed: row.department_id === 0,
              }))}
              find={view.find}
              page={view.page}
              onView={change}
              onOpen={({ key }) => change({ department_id: key, group: 'member', find: '', page: '1' })}
              empty={<NoCalls view={view} change={change} />}
            />
          </Section>
        </>
      )}
    </Loaded>
  );
}

type Data = NonNullable<ReturnType<typeof useApi<'GET /api/team/overview'>>['data']>;

function Figures({ data, view }: { readonly data: Data; readonly view: View }) {
  const { figures: text, words } = useText();
  const format = useFormat();
  const forecast = useApi('GET /api/team/forecast', undefined, { staleTime: 60_000 }).data;
  const spending =
    view.department === ''
      ? forecast?.total
      : forecast?.departments.find(({ department_id }) => `${department_id}` === view.department);
  const all = data.requests + data.errors;
  const share = all === 0 ? 0 : data.errors / all;
  return (
    <div className="grid-figures">
      <Figure
        label={words.cost}
        value={<Money units={data.quota} />}
        note={text.today(format.money(data.today.quota))}
      />
      <Figure
        label={words.thisMonth}
        value={<Money units={data.month.quota} />}
        note={spending && text.projected(format.money(spending.projected))}
      />
      <Figure label={words.calls} value={format.number(all)} note={text.errors(format.percent(share))} />
      <Figure
        label={words.tokens}
        value={format.short(data.prompt_tokens + data.completion_tokens)}
        note={text.output(format.short(data.completion_tokens))}
      />
      <Figure
        label={text.people}
        value={format.number(data.active_members)}
        note={text.keys(format.number(data.active_keys))}
      />
      <Figure label={text.models} value={format.number(data.active_models)} />
    </div>
  );
}

function Trend({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText();
  const format = useFormat();
  const [, go] = useLocation();
  const { range, group } = view;
  const trend = useApi(
    'GET /api/team/cost-trend',
    { search: { ...searchOf(view), granularity: range.granularity, group_by: group, top: MOST_SERIES } },
    { refetchOnWindowFocus: false },
  );
  const moments = momentsOf(range, Date.now() / 1_000);
  const name = (id: string | null, label: string): string => {
    if (id === null) return text.words.allOthers;
    if (label !== '') return label;
    return id === '' || id === '0' ? text.nameless[group] : `#${id}`;
  };
  const openDay = (time: number): void => {
    const end = time + stepOf(range) - 1;
    if (range.granularity === 'day') change({ ...customRange(time, end), page: '1' });
    else
      go(
        usageHref(view.department === '' ? {} : { department_id: view.department }, {
          range: { start: time, end },
          allUsers: true,
        }),
      );
  };
  return (
    <Section
      title={text.trend.title[group]}
      actions={
        <>
          <NativeSelect
            size="xs"
            aria-label={text.words.by}
            data={GROUPS.map((each) => ({ value: each, label: text.trend.groups[each] }))}
            value={group}
            onChange={(event) => change({ group: event.currentTarget.value })}
          />
          <CsvButton
            of="GET /api/team/cost-trend"
            view={view}
            what={text.trend.title[group]}
            more={{ granularity: range.granularity, group_by: group, top: MOST_SERIES }}
          />
        </>
      }
    >
      {trend.data === undefined && !trend.isError ? (
        <Skeleton height={300} aria-hidden />
      ) : (
        <Loaded query={trend}>
          {({ items }) => (
            <Chart
              label={text.trend.title[group]}
              times={moments}
              step={stepOf(range)}
              series={trendSeries(items, moments, 'cost', name)}
              bars
              stacked
              height={240}
              unit={text.trend.unit}
              show={format.money}
              onPick={openDay}
            />
          )}
        </Loaded>
      )}
    </Section>
  );
}
