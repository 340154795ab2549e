/** The team page for administrators: spending of all users, and budget forecasts. */
import { Group, Stack, Tabs } from '@mantine/core';
import { PAGE_NAMES } from '../../pages.tsx';
import { DepartmentSelect } from '../../parts/department-select.tsx';
import { Page } from '../../parts/page.tsx';
import { TimeRangePicker, useRangeWords } from '../../parts/time-range.tsx';
import { useText } from '../../text.ts';
import { Budgets } from './budgets.tsx';
import { Forecast } from './forecast.tsx';
import { Overview } from './overview.tsx';
import { Members, Models } from './people-and-models.tsx';
import { TEXT } from './text.ts';
import { TABS, useView } from './view.ts';

const PARTS = { overview: Overview, forecast: Forecast, budgets: Budgets, members: Members, models: Models } as const;

export default function TeamPage() {
  const text = useText(TEXT);
  const names = useText(PAGE_NAMES);
  const rangeText = useRangeWords();
  const [view, change] = useView();
  const { tab, range, department } = view;
  const Part = PARTS[tab];
  return (
    <Page title={names.team} about={tab === 'forecast' ? text.about : text.aboutIn(rangeText(range))}>
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
                label={text.department}
                hiddenLabel
                size="xs"
                placeholder={text.everywhere}
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
