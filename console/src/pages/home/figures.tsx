/** The figures at the top, the chart of the cost per day by model, and the last calls. */

import { useLocation } from 'wouter';
import { type Self, useApi } from '../../api/hooks.ts';
import { IconRefresh } from '../../icons.ts';
import { Chart, type Series } from '../../parts/chart.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { callHref, usageHref } from '../../parts/links.tsx';
import { Empty, Failure, Loaded } from '../../parts/notes.tsx';
import { IconButton, LinkButton, Section } from '../../parts/page.tsx';
import { dateOf, momentsOf } from '../../parts/range.ts';
import { trendSeries } from '../../parts/trend-series.ts';
import { Figure, Money, State, type Tone, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { type Calls, type Costs, daysLeft, type Line, lastMonth, type Spent } from './calls.ts';
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
  const format = useFormat();
  return (
    <div className="grid-figures home-figures">
      <SpentFigure
        label={text.everybody.today}
        sum={costs?.today}
        to="/team?range=today"
        compared={costs && text.weekAgo(format.money(costs.weekAgo.quota))}
      />
      <SpentFigure label={text.everybody.week} sum={costs?.week} to="/team?range=7d" />
      <SpentFigure label={text.everybody.month} sum={costs?.month} to="/team?range=30d" />
    </div>
  );
}

function SpentFigure({
  label,
  sum,
  to,
  compared,
}: {
  readonly label: string;
  readonly sum: Spent | undefined;
  readonly to: string;
  /** Appended to the number of calls. */
  readonly compared?: string | undefined;
}) {
  const text = useText();
  const format = useFormat();
  return (
    <Figure
      label={label}
      value={sum === undefined ? '…' : <Money units={sum.quota} />}
      note={
        sum === undefined
          ? text.utc
          : [text.requests(format.number(sum.requests)), ...(compared === undefined ? [] : [compared])].join(' · ')
      }
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

const OUTCOMES = ['served', 'refused', 'failed', 'aborted', 'recovered'] as const;
type Outcome = (typeof OUTCOMES)[number];
const MOODS: Readonly<Record<Outcome, Tone>> = {
  served: 'good',
  refused: 'warn',
  failed: 'bad',
  aborted: 'idle',
  recovered: 'warn',
};

/** The last ten calls. The list changes only when the user refreshes it. */
export function Recent({ calls }: { readonly calls: Calls }) {
  const text = useText();
  const format = useFormat();
  const [, go] = useLocation();
  const columns: readonly Column<Line>[] = [
    { key: 'time', title: text.words.time, cell: ({ created_at }) => <When at={created_at} /> },
    { key: 'model', title: text.words.model, cell: ({ model_name }) => model_name ?? '' },
    { key: 'key', title: text.words.key, from: 'md', cell: ({ token_name }) => token_name ?? '' },
    {
      key: 'tokens',
      title: text.tokens,
      align: 'right',
      from: 'sm',
      cell: ({ prompt_tokens = 0, completion_tokens = 0 }) =>
        `${format.number(prompt_tokens)} / ${format.number(completion_tokens)}`,
    },
    {
      key: 'took',
      title: text.words.duration,
      align: 'right',
      from: 'lg',
      cell: ({ use_time = 0 }) => (use_time === 0 ? `< ${format.duration(1_000)}` : format.duration(use_time * 1_000)),
    },
    { key: 'cost', title: text.words.cost, align: 'right', cell: ({ quota }) => <Money units={quota} /> },
    {
      key: 'state',
      title: text.words.result,
      from: 'sm',
      cell: (line) => {
        const outcome = outcomeOf(line);
        return outcome === undefined ? '' : <State tone={MOODS[outcome]}>{text.outcomes[outcome]}</State>;
      },
    },
  ];
  return (
    <Section
      title={text.recent}
      flush
      actions={
        <>
          <IconButton label={text.words.refresh} onClick={calls.readAgain}>
            <IconRefresh size={16} />
          </IconButton>
          <LinkButton href="/logs">{text.logs}</LinkButton>
        </>
      }
    >
      {calls.latest === undefined && calls.error !== null ? (
        <Failure error={calls.error} again={calls.readAgain} />
      ) : (
        <DataTable
          caption={text.recent}
          columns={columns}
          rows={calls.latest}
          rowKey={({ request_id }) => request_id}
          onOpen={({ request_id }) => go(callHref(request_id))}
        />
      )}
    </Section>
  );
}

/** The outcome; undefined if there is none. */
function outcomeOf({ other }: Line): Outcome | undefined {
  try {
    const { outcome } = JSON.parse(other) as { readonly outcome?: unknown };
    return OUTCOMES.find((each) => each === outcome);
  } catch {
    return undefined;
  }
}
