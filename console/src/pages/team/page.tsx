/** The team page for administrators: spending of all users, and budget forecasts. */
import { Box, Group, Progress, Stack, Tabs } from '@mantine/core';
import { useLocation } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import type { DepartmentBudget } from '../../api/operations.ts';
import { DataTable, paged } from '../../parts/data-table.tsx';
import { DepartmentSelect, useDepartments } from '../../parts/department-select.tsx';
import { logsHref, usageHref } from '../../parts/links.tsx';
import { Failure, Loaded } from '../../parts/notes.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { type SumRow, SumsTable } from '../../parts/sums-table.tsx';
import { TimeRangePicker, useRangeWords } from '../../parts/time-range.tsx';
import { Money } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { CsvButton } from './csv-button.tsx';
import { NoCalls, NoDepartments } from './empty.tsx';
import { Forecast } from './forecast.tsx';
import { Overview } from './overview.tsx';
import { useText } from './text.ts';
import { type Change, searchOf, TABS, useView, type View } from './view.ts';

const PARTS = { overview: Overview, forecast: Forecast, budgets: Budgets, members: Members, models: Models } as const;

export default function TeamPage() {
  const text = useText();
  const rangeText = useRangeWords();
  const [view, change] = useView();
  const { tab, range, department } = view;
  const Part = PARTS[tab];
  return (
    <Page name="team" about={tab === 'forecast' ? text.about : text.aboutIn(rangeText(range))}>
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(chosen) => change({ tab: chosen ?? 'overview', find: '', page: '1' })}
      >
        <Tabs.List aria-label={text.parts} mb="md">
          {TABS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {text.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {TABS.map((each) => (
          <Tabs.Panel key={each} value={each}>
            <Group gap="xs" mb="md" display={each === 'forecast' ? 'none' : undefined}>
              <TimeRangePicker range={range} onChange={(chosen) => change({ ...chosen, page: '1' })} />
              <DepartmentSelect
                label={text.words.department}
                hiddenLabel
                size="xs"
                placeholder={text.words.allDepartments}
                value={department}
                onChange={(id) => change({ department_id: id, find: '', page: '1' })}
              />
            </Group>
            <Stack gap="md">
              <Part view={view} change={change} />
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}

type Row = DepartmentBudget;
const PAGE_SIZE = 25;

function Budgets({ view, change }: { readonly view: View; change(change: Change): void }) {
  const text = useText();
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
                  { key: 'name', title: text.words.department, cell: nameOf },
                  { key: 'period', title: text.budgets.period, from: 'sm', cell: period },
                  {
                    key: 'budget',
                    title: text.words.budget,
                    align: 'right',
                    cell: ({ budget }) => (budget === null ? text.forecast.none : <Money units={budget} />),
                  },
                  {
                    key: 'used',
                    title: text.words.used,
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

interface ListProps {
  readonly view: View;
  change(change: Change): void;
}

function Members({ view, change }: ListProps) {
  const text = useText();
  const [, go] = useLocation();
  const members = useApi('GET /api/team/members', { search: searchOf(view) }, { refetchOnWindowFocus: false });
  const departments = new Map(members.data?.items.map((row) => [`${row.user_id}`, row.department]));
  const which = { range: view.range, allUsers: true };
  const rows = members.data?.items.map(
    (row): SumRow => ({
      key: `${row.user_id}`,
      name: row.display_name || row.username || `#${row.user_id}`,
      note: row.display_name !== '' && row.display_name !== row.username ? row.username : undefined,
      sums: row,
      logs: logsHref({ user_id: `${row.user_id}` }, which),
    }),
  );
  return (
    <Section
      title={text.words.members}
      about={text.open.usage}
      flush
      actions={<CsvButton of="GET /api/team/members" view={view} what={text.words.members} />}
    >
      {members.isError && rows === undefined ? (
        <Failure error={members.error} again={() => void members.refetch()} />
      ) : (
        <SumsTable
          caption={text.words.members}
          of={text.words.user}
          measure="cost"
          rows={rows}
          extra={[
            {
              key: 'department',
              title: text.words.department,
              from: 'md',
              cell: ({ key }) => departments.get(key) || text.nameless.department,
            },
          ]}
          find={view.find}
          page={view.page}
          onView={change}
          onOpen={({ key }) => go(usageHref({ user_id: key }, which))}
          empty={<NoCalls view={view} change={change} />}
        />
      )}
    </Section>
  );
}

function Models({ view, change }: ListProps) {
  const text = useText();
  const [, go] = useLocation();
  const models = useApi('GET /api/team/models', { search: searchOf(view) }, { refetchOnWindowFocus: false });
  const of: Record<string, string> = view.department === '' ? {} : { department_id: view.department };
  const which = { range: view.range, allUsers: true };
  const rows = models.data?.items.map(
    (row): SumRow => ({
      key: row.model,
      name: row.model || text.nameless.model,
      sums: row,
      closed: row.model === '',
      logs: row.model === '' ? undefined : logsHref({ ...of, model: row.model }, which),
    }),
  );
  return (
    <Section
      title={text.words.models}
      about={text.open.usage}
      flush
      actions={<CsvButton of="GET /api/team/models" view={view} what={text.words.models} />}
    >
      {models.isError && rows === undefined ? (
        <Failure error={models.error} again={() => void models.refetch()} />
      ) : (
        <SumsTable
          caption={text.words.models}
          of={text.words.model}
          measure="cost"
          rows={rows}
          find={view.find}
          page={view.page}
          onView={change}
          onOpen={({ key }) => go(usageHref({ ...of, model: key }, which))}
          empty={<NoCalls view={view} change={change} />}
        />
      )}
    </Section>
  );
}
