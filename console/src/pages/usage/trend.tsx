/** The totals of the view, compared with the previous period, and its chart by day or hour and group. */
import { Group, NativeSelect, SegmentedControl, Skeleton } from '@mantine/core';
import { useLocation } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { Chart } from '../../parts/chart.tsx';
import { MOST_SERIES } from '../../parts/chart-colors.ts';
import { logsHref } from '../../parts/links.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { momentsOf, rangeBefore, stepOf } from '../../parts/range.ts';
import { customRange } from '../../parts/time-range.tsx';
import { MEASURES, type Sums, trendSeries } from '../../parts/trend-series.ts';
import { Figure, Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';
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
  const text = useText();
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
            aria-label={text.words.by}
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
              id === null ? text.words.allOthers : name(id, label),
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

const HOUR_S = 3_600;
const MANY_TIMES = 10;

/** The figures at the top. */
export function Figures({ view, total }: { readonly view: View; readonly total: Sums | undefined }) {
  const { figures: text, words } = useText();
  const format = useFormat();
  // Whole hours, so that the query stays the same for a while and its answer is cached.
  const now = Math.floor(Date.now() / 1_000 / HOUR_S) * HOUR_S + HOUR_S - 1;
  const { data: earlier } = useApi(view.allUsers ? 'GET /api/usage/sums' : 'GET /api/usage/self/sums', {
    search: { ...searchOf(view, rangeBefore(view.range, now)), group_by: 'none' },
  });
  if (total === undefined) return <Skeleton height={84} aria-hidden />;
  const before = earlier?.total;
  const compared = (now: number, then: number | undefined): string | undefined => {
    if (then === undefined || (now === 0 && then === 0)) return undefined;
    if (then === 0) return text.none;
    const change = now / then - 1;
    // Large changes are shown as a factor instead of thousands of percent.
    if (change >= MANY_TIMES - 1) return text.times(format.number(Math.round(now / then)));
    if (Math.abs(change) < 0.005) return text.same;
    return text.than(
      `${change > 0 ? '+' : '−'}${format.percent(Math.abs(change) >= 0.1 ? Math.round(Math.abs(change) * 100) / 100 : Math.abs(change))}`,
    );
  };
  const all = total.requests + total.errors;
  const tokens = total.prompt_tokens + total.completion_tokens;
  const each = total.requests === 0 ? undefined : Math.round(total.quota / total.requests);
  const eachBefore = before === undefined || before.requests === 0 ? undefined : before.quota / before.requests;
  return (
    <div className="grid-figures">
      <Figure label={words.cost} value={<Money units={total.quota} />} note={compared(total.quota, before?.quota)} />
      <Figure
        label={words.calls}
        value={format.number(all)}
        note={compared(all, before && before.requests + before.errors)}
      />
      <Figure
        label={words.errors}
        value={all === 0 ? '–' : format.percent(total.errors / all)}
        note={all === 0 ? text.noRequests : text.failed(format.number(total.errors))}
      />
      <Figure
        label={words.costPerCall}
        value={each === undefined ? '–' : <Money units={each} />}
        note={each === undefined ? undefined : compared(each, eachBefore)}
      />
      <Figure
        label={words.inputTokens}
        value={<span title={format.number(total.prompt_tokens)}>{format.short(total.prompt_tokens)}</span>}
        note={compared(total.prompt_tokens, before?.prompt_tokens)}
      />
      <Figure
        label={words.outputTokens}
        value={<span title={format.number(total.completion_tokens)}>{format.short(total.completion_tokens)}</span>}
        note={tokens === 0 ? undefined : text.ofAll(format.percent(total.completion_tokens / tokens))}
      />
    </div>
  );
}
