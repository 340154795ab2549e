/** Cost per day of the last 30 days, by model. */
import { useLocation } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { Chart, type Series } from '../../parts/chart.tsx';
import { usageHref } from '../../parts/links.ts';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { LinkButton } from '../../parts/plain.tsx';
import { dateOf, momentsOf } from '../../parts/range.ts';
import { trendSeries } from '../../parts/trend-series.ts';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { lastMonth } from './costs.ts';
import { TEXT } from './text.ts';

const MOST_MODELS = 6;

/** The section; `allUsers`: of all users, for administrators. */
export function CostChart({ allUsers }: { readonly allUsers: boolean }) {
  const text = useText(TEXT);
  const format = useFormat();
  const [, go] = useLocation();
  const about = allUsers ? text.costsOfAll : text.costsAbout;
  const range = lastMonth();
  const moments = momentsOf(range, range.end);
  const trend = useApi(allUsers ? 'GET /api/usage/trend' : 'GET /api/usage/self/trend', {
    search: {
      start_timestamp: range.start,
      end_timestamp: range.end,
      granularity: 'day',
      group_by: 'model',
      top: MOST_MODELS,
    },
  });
  return (
    <Section
      title={text.costs}
      about={about}
      actions={<LinkButton href={usageHref({}, { allUsers })}>{text.usage}</LinkButton>}
    >
      <Loaded query={trend} height={230}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={text.quiet} action={<LinkButton href="/connect">{text.connect}</LinkButton>}>
              {text.quietAbout}
            </Empty>
          ) : (
            <Chart
              label={`${text.costs}. ${about}`}
              times={moments}
              series={nonZeroSeries(
                trendSeries(items, moments, 'cost', (group, name) =>
                  group === null ? text.others : name || text.noModel,
                ),
              )}
              stacked
              bars
              height={200}
              show={format.money}
              onPick={(time) => go(usageHref({ start: dateOf(time), end: dateOf(time) }, { allUsers }))}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

/** Models that cost something; if none did, all. */
function nonZeroSeries(series: readonly Series[]): readonly Series[] {
  const nonZero = series.filter(({ values }) => values.some((value) => (value ?? 0) > 0));
  return nonZero.length > 0 ? nonZero : series;
}
