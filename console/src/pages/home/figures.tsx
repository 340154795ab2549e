/** The figures at the top, and the chart of the cost per day by model. */
import { useLocation } from 'wouter';
import type { Self } from '../../api/hooks.ts';
import { useApi } from '../../api/hooks.ts';
import { Chart, type Series } from '../../parts/chart.tsx';
import { usageHref } from '../../parts/links.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { LinkButton, Section } from '../../parts/page.tsx';
import { dateOf, momentsOf } from '../../parts/range.ts';
import { trendSeries } from '../../parts/trend-series.ts';
import { Figure, Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { type Costs, daysLeft, lastMonth, type Spent } from './costs.ts';
import { useText } from './text.ts';

const YEAR_DAYS = 365;

/** The row of figures. */
export function Figures({ self, costs }: { readonly self: Self; readonly costs: Costs | undefined }) {
  const text = useText();
  const format = useFormat();
  const unlimited = self.unlimited_quota === true;
  const days = unlimited || self.quota <= 0 ? undefined : daysLeft(self.quota, costs);
  const note = (): string => {
    if (unlimited) return text.noBalance;
    if (self.quota <= 0) return text.nothingLeft;
    return days !== undefined && days < YEAR_DAYS ? text.lasts(format.number(Math.floor(days))) : text.prepaid;
  };
  return (
    <div className="grid-figures home-figures">
      <Figure
        label={text.words.balance}
        value={<Money units={unlimited ? null : self.quota} />}
        note={note()}
        href="/wallet"
      />
      <SpentFigure label={text.today} sum={costs?.today} to="/usage?range=today" />
      <SpentFigure label={text.week} sum={costs?.week} to="/usage?range=7d" />
      <SpentFigure label={text.month} sum={costs?.month} to="/usage?range=30d" />
    </div>
  );
}

/** The figures of all users, for administrators. */
export function AllUsersFigures({ costs }: { readonly costs: Costs | undefined }) {
  const text = useText();
  return (
    <div className="grid-figures home-figures">
      <SpentFigure label={text.everybody.today} sum={costs?.today} to="/team?range=today" />
      <SpentFigure label={text.everybody.week} sum={costs?.week} to="/team?range=7d" />
      <SpentFigure label={text.everybody.month} sum={costs?.month} to="/team?range=30d" />
    </div>
  );
}

function SpentFigure({
  label,
  sum,
  to,
}: {
  readonly label: string;
  readonly sum: Spent | undefined;
  readonly to: string;
}) {
  const text = useText();
  const format = useFormat();
  return (
    <Figure
      label={label}
      value={sum === undefined ? '…' : <Money units={sum.quota} />}
      note={sum === undefined ? text.utc : text.requests(format.number(sum.requests))}
      href={to}
    />
  );
}

const MOST_MODELS = 6;

/** The section; `allUsers`: of all users, for administrators. */
export function CostChart({ allUsers }: { readonly allUsers: boolean }) {
  const text = useText();
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
      actions={<LinkButton href={usageHref({}, { allUsers })}>{text.words.usage}</LinkButton>}
    >
      <Loaded query={trend} height={230}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={text.quiet} action={<LinkButton href="/connect">{text.words.connectAClient}</LinkButton>}>
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
