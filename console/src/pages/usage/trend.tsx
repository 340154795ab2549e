/** The chart of the view by day or hour and group. */
import { Group, NativeSelect, SegmentedControl } from '@mantine/core';
import { useLocation } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { Chart } from '../../parts/chart.tsx';
import { MOST_SERIES } from '../../parts/chart-colors.ts';
import { logsHref } from '../../parts/links.ts';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { momentsOf, stepOf } from '../../parts/range.ts';
import { customRange } from '../../parts/time-range.tsx';
import { MEASURES, trendSeries } from '../../parts/trend-series.ts';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';
import { type Change, GROUPS, OWN_GROUPS, searchOf, type View, withRange } from './view.ts';

/** The section. `name`: the display name of a group. */
export function Trend({
  view,
  change,
  name,
}: {
  readonly view: View;
  change(change: Change): void;
  name(group: string, label: string): string;
}) {
  const text = useText(TEXT);
  const format = useFormat();
  const [, go] = useLocation();
  const { range, measure, group } = view;
  const trend = useApi(
    view.allUsers ? 'GET /api/usage/trend' : 'GET /api/usage/self/trend',
    {
      search: {
        ...searchOf(view, range),
        granularity: range.granularity,
        group_by: group,
        top: MOST_SERIES,
      } as object,
    },
    { refetchOnWindowFocus: false },
  );
  const step = range.granularity === 'hour' ? text.chart.hour : text.chart.day;
  const title = text.chart.label(text.chart.title[measure], step, text.groups[group]);
  const moments = momentsOf(range, Date.now() / 1_000);
  const openStep = (time: number): void => {
    const end = time + stepOf(range) - 1;
    const active = Object.fromEntries(view.filters.map(({ name, value }) => [name, value]));
    if (range.granularity === 'day') change(withRange(customRange(time, end)));
    else go(logsHref(active, { range: { start: time, end }, allUsers: view.allUsers }));
  };
  return (
    <Section
      title={title}
      about={text.chart.pick}
      actions={
        <Group gap="xs">
          <NativeSelect
            size="xs"
            aria-label={text.chart.group}
            data={(view.allUsers ? GROUPS : OWN_GROUPS).map((each) => ({ value: each, label: text.column[each] }))}
            value={group}
            onChange={(event) => change({ group: event.currentTarget.value, find: '', page: '1' })}
          />
          <SegmentedControl
            size="xs"
            aria-label={text.chart.measure}
            data={MEASURES.map((each) => ({ value: each, label: text.chart.title[each] }))}
            value={measure}
            onChange={(chosen) => change({ measure: chosen, page: '1' })}
          />
        </Group>
      }
    >
      <Loaded query={trend} height={286}>
        {({ items }) => (
          <Chart
            label={title}
            times={moments}
            step={stepOf(range)}
            series={trendSeries(items, moments, measure, (id, label) =>
              id === null ? text.chart.others : name(id, label),
            )}
            bars
            stacked
            height={240}
            unit={text.chart.unit[measure]}
            show={measure === 'cost' ? format.money : format.short}
            onPick={openStep}
          />
        )}
      </Loaded>
    </Section>
  );
}
