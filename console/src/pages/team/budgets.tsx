/** Budgets of departments. */
import { Box, Progress } from '@mantine/core';
import { useApi } from '../../api/hooks.ts';
import type { DepartmentBudget } from '../../api/operations.ts';
import { DataTable, paged } from '../../parts/data-table.tsx';
import { useDepartments } from '../../parts/department-select.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Section } from '../../parts/page.tsx';
import { Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { CsvButton } from './csv-button.tsx';
import { NoDepartments } from './no-departments.tsx';
import { TEXT } from './text.ts';
import { type Change, searchOf, type View } from './view.ts';

type Row = DepartmentBudget;
const PAGE_SIZE = 25;

/** The tab. */
export function Budgets({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText(TEXT);
  const month = useFormat().dates({ month: 'long', year: 'numeric' }, true);
  const paths = new Map(useDepartments()?.map(({ id, path }) => [id, path]));
  const budgets = useApi('GET /api/team/budgets', { search: searchOf(view) }, { refetchOnWindowFocus: false });
  const period = (row: Row): string =>
    row.period === 'month' && row.period_start !== null ? month(row.period_start) : text.budgets.total;
  const nameOf = (row: Row): string => paths.get(row.department_id) ?? row.name;
  return (
    <Section
      title={text.budgets.title}
      about={text.budgets.about}
      flush
      actions={<CsvButton of="GET /api/team/budgets" view={view} what={text.budgets.title} />}
    >
      <Loaded query={budgets} height={240}>
        {({ items }) => {
          const rows = items.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)) || a.period.localeCompare(b.period));
          const [shown, pager] = paged(rows, view.page, PAGE_SIZE, change);
          return (
            <>
              <DataTable
                caption={text.budgets.title}
                rows={shown}
                rowKey={(row) => `${row.department_id} ${row.period}`}
                empty={<NoDepartments />}
                columns={[
                  { key: 'name', title: text.department, cell: nameOf },
                  { key: 'period', title: text.budgets.period, from: 'sm', cell: period },
                  {
                    key: 'budget',
                    title: text.budgets.budget,
                    align: 'right',
                    cell: ({ budget }) => (budget === null ? text.forecast.none : <Money units={budget} />),
                  },
                  {
                    key: 'used',
                    title: text.budgets.used,
                    align: 'right',
                    from: 'sm',
                    cell: ({ used }) => <Money units={used} />,
                  },
                  {
                    key: 'left',
                    title: text.budgets.left,
                    align: 'right',
                    cell: ({ remaining }) => (remaining === null ? '–' : <Money units={remaining} />),
                  },
                  { key: 'share', title: text.budgets.share, align: 'right', from: 'md', cell: UsedShare },
                  {
                    key: 'spent',
                    title: text.budgets.spent,
                    align: 'right',
                    from: 'md',
                    cell: ({ spent }) => <Money units={spent} />,
                  },
                ]}
              />
              {pager}
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

function UsedShare({ percentage }: Row) {
  const format = useFormat();
  if (percentage === null) return '–';
  const color = percentage >= 100 ? 'red.8' : percentage >= 80 ? 'orange.8' : 'pine';
  return (
    <Box>
      <span className="number">{format.percent(percentage / 100)}</span>
      <Progress value={Math.min(100, percentage)} color={color} size="sm" miw={80} mt={2} aria-hidden />
    </Box>
  );
}
