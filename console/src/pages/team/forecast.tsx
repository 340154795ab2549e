/** The forecast of the month by department, and whether budgets last. */
import { Group, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { type Column, DataTable, paged } from '../../parts/data-table.tsx';
import { useDepartments } from '../../parts/department-select.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Muted, Section } from '../../parts/page.tsx';
import { Money, State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import {
  type Budget,
  BurnDown,
  type DepartmentForecast,
  MOODS,
  outlookOf,
  type Forecast as Told,
} from './burn-down.tsx';
import { NoDepartments } from './empty.tsx';
import { useText } from './text.ts';
import type { Change, View } from './view.ts';

/** A department with one of its budgets; number 0 stands for all users. */
interface Row {
  readonly of: Omit<DepartmentForecast, 'budgets' | 'parent_id'>;
  readonly budget: Budget | undefined;
  /** True if the row above is for another budget of the same department. */
  readonly again: boolean;
}
const PAGE_SIZE = 25;

/** The tab. */
export function Forecast({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText();
  const forecast = useApi('GET /api/team/forecast', undefined, { refetchOnWindowFocus: false });
  const paths = useDepartments();
  return (
    <Loaded query={forecast} height={480}>
      {(data) => {
        const path = new Map(paths?.map(({ id, path }) => [id, path]));
        const nameOf = (id: number, name: string): string => (id === 0 ? text.words.allUsers : (path.get(id) ?? name));
        const rows = rowsOf(data, nameOf);
        const [shown, pager] = paged(rows, view.page, PAGE_SIZE, change);
        return (
          <>
            <BurnDown forecast={data} view={view} change={change} nameOf={nameOf} />
            <Section
              title={text.forecast.title}
              about={`${text.forecast.about} ${data.departments.length > 0 ? text.forecast.show : ''}`}
              flush
            >
              <Table forecast={data} rows={shown} nameOf={nameOf} change={change} view={view} />
              {pager}
              {data.departments.length === 0 && <NoDepartments />}
            </Section>
          </>
        );
      }}
    </Loaded>
  );
}

function rowsOf(forecast: Told, nameOf: (id: number, name: string) => string): readonly Row[] {
  const all: Row = { of: { department_id: 0, name: '', ...forecast.total }, budget: undefined, again: false };
  const departments = forecast.departments.toSorted((a, b) =>
    nameOf(a.department_id, a.name).localeCompare(nameOf(b.department_id, b.name)),
  );
  return [
    all,
    ...departments.flatMap((of): readonly Row[] =>
      of.budgets.length === 0
        ? [{ of, budget: undefined, again: false }]
        : of.budgets.map((budget, at) => ({ of, budget, again: at > 0 })),
    ),
  ];
}

function Table({
  forecast,
  rows,
  nameOf,
  view,
  change,
}: {
  readonly forecast: Told;
  readonly rows: readonly Row[];
  nameOf(id: number, name: string): string;
  readonly view: View;
  change(change: Change): void;
}) {
  const { forecast: text, words } = useText();
  const format = useFormat();
  const unless = (again: boolean, node: ReactNode) => (again ? null : node);
  const writeDay = format.dates({ month: 'short', day: 'numeric' }, true);
  const day = (date: string): string => writeDay(Date.parse(date) / 1_000);
  const columns: readonly Column<Row>[] = [
    { key: 'name', title: useText().words.department, cell: ({ of }) => nameOf(of.department_id, of.name) },
    {
      key: 'state',
      title: text.state,
      cell: ({ of, budget }) => {
        if (budget === undefined) return null;
        const outlook = outlookOf(of, budget, forecast.month_end);
        return <State tone={MOODS[outlook]}>{text.words[outlook]}</State>;
      },
    },
    {
      key: 'spent',
      title: text.spent,
      align: 'right',
      from: 'sm',
      cell: ({ of, again }) => unless(again, <Money units={of.spent} />),
    },
    {
      key: 'mean',
      title: text.mean,
      align: 'right',
      from: 'md',
      cell: ({ of, again }) =>
        unless(
          again,
          <Tooltip label={text.meanOf(format.money(of.daily_mean_28))}>
            <span className="number">{format.money(of.daily_mean_7)}</span>
          </Tooltip>,
        ),
    },
    {
      key: 'projected',
      title: text.projected,
      align: 'right',
      cell: ({ of, again }) =>
        unless(
          again,
          <Group gap={6} justify="flex-end" wrap="nowrap">
            {of.confidence === 'low' && (
              <Tooltip label={text.why}>
                <span>
                  <State tone="info">{text.uncertain}</State>
                </span>
              </Tooltip>
            )}
            <Money units={of.projected} />
          </Group>,
        ),
    },
    {
      key: 'budget',
      title: words.budget,
      align: 'right',
      from: 'sm',
      cell: ({ budget, of }) =>
        budget === undefined ? (
          <Muted span>{of.department_id === 0 ? '' : text.none}</Muted>
        ) : (
          <>
            <Money units={budget.budget} /> {text[budget.period]}
          </>
        ),
    },
    {
      key: 'out',
      title: text.out,
      from: 'md',
      cell: ({ budget }) => {
        if (budget === undefined) return null;
        return budget.used_up_on === null ? text.lasts : `${day(budget.used_up_on)}`;
      },
    },
  ];
  return (
    <DataTable
      caption={text.title}
      columns={columns}
      rows={rows}
      rowKey={({ of, budget }) => `${of.department_id} ${budget?.period ?? ''}`}
      open={view.of === '' ? undefined : view.of}
      onOpen={({ of, budget }) =>
        change({ of: of.department_id === 0 ? '' : `${of.department_id} ${budget?.period ?? ''}`.trim() })
      }
    />
  );
}
