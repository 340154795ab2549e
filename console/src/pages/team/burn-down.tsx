/** The remaining budget of a department over the month with a forecast; without a budget, its spending. */
import { NativeSelect, Select } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import { Chart, type Series } from '../../parts/chart.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { burnOf, type Forecast } from './outlook.ts';
import { useText } from './text.ts';
import type { Change, View } from './view.ts';

/** The section. */
export function BurnDown({
  forecast,
  view,
  change,
  nameOf,
}: {
  readonly forecast: Forecast;
  readonly view: View;
  change(change: Change): void;
  nameOf(id: number, name: string): string;
}) {
  const text = useText();
  const format = useFormat();
  const [id = '', period] = view.of.split(' ');
  const department = forecast.departments.find(({ department_id }) => `${department_id}` === id);
  const budgets = department?.budgets ?? [];
  const budget = budgets.find((each) => each.period === period) ?? budgets[0];
  const now = Date.now() / 1_000;
  const trend = useApi(
    'GET /api/usage/trend',
    {
      search: {
        start_timestamp: forecast.month_start,
        end_timestamp: forecast.month_end - 1,
        granularity: 'day',
        group_by: 'none',
        ...(department !== undefined && { department_id: department.department_id }),
      },
    },
    { refetchOnWindowFocus: false },
  );
  const name = nameOf(department?.department_id ?? 0, department?.name ?? '');
  const title = budget === undefined ? text.burn.spending(name) : text.burn.title(name);
  const choices = [
    { value: '', label: text.words.allUsers },
    ...forecast.departments
      .map((each) => ({ value: `${each.department_id}`, label: nameOf(each.department_id, each.name) }))
      .sort((a, b) => a.label.localeCompare(b.label)),
  ];
  return (
    <Section
      title={title}
      actions={
        <>
          {choices.length > 1 && (
            <Select
              size="xs"
              aria-label={text.words.department}
              data={choices}
              value={department === undefined ? '' : id}
              onChange={(chosen) => change({ of: chosen ?? '' })}
              searchable
              limit={50}
              allowDeselect={false}
            />
          )}
          {budgets.length > 1 && (
            <NativeSelect
              size="xs"
              aria-label={text.words.budget}
              data={budgets.map((each) => ({
                value: each.period,
                label: each.period === 'month' ? text.burn.monthBudget : text.words.totalBudget,
              }))}
              value={budget?.period ?? ''}
              onChange={(event) => change({ of: `${id} ${event.currentTarget.value}` })}
            />
          )}
        </>
      }
    >
      <Loaded query={trend} height={290}>
        {({ items }) => {
          const spent = new Map(items.map(({ timestamp, quota }) => [timestamp, quota]));
          const perDay = (department ?? forecast.total).daily_mean_7;
          const { days, actual, ahead, even } = burnOf(forecast, spent, perDay, budget, now);
          const series: Series[] = [
            { name: budget === undefined ? text.burn.spent : text.burn.left, values: actual },
            { name: text.burn.ahead, values: ahead, line: 'dashed' },
            ...(even === undefined ? [] : [{ name: text.burn.even, values: even, line: 'solid' as const, rest: true }]),
          ];
          return (
            <Chart
              label={title}
              times={days}
              series={series}
              bars
              stacked
              height={240}
              unit={text.burn.unit}
              show={format.money}
            />
          );
        }}
      </Loaded>
    </Section>
  );
}
