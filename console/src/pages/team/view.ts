/** What the page of the team shows: which part, when, of which department. All of it is in the address. */
import { pageOf, useAddress } from '../../parts/address.ts';
import type { TimeRange } from '../../parts/range.ts';
import { useRangeOf } from '../../parts/time-range.tsx';

/** The parts of the page. */
export const TABS = ['overview', 'forecast', 'budgets', 'members', 'models'] as const;
/** By what cost is told apart. */
export const GROUPS = ['department', 'member', 'model'] as const;

const NAMES = {
  tab: 'overview',
  range: '30d',
  start: '',
  end: '',
  department_id: '',
  group: 'department',
  /** The department of the forecast's chart. */
  of: '',
  find: '',
  page: '1',
} as const;
/** Members of the address. */
export type Change = Partial<Record<keyof typeof NAMES, string>>;

/** What is shown. */
export interface View {
  readonly tab: (typeof TABS)[number];
  readonly range: TimeRange;
  /** '': all of them. */
  readonly department: string;
  readonly group: (typeof GROUPS)[number];
  readonly of: string;
  readonly find: string;
  readonly page: number;
}

/** What the address says, and how to change it. */
export function useView(): readonly [View, (change: Change) => void] {
  const [said, change] = useAddress(NAMES);
  const range = useRangeOf(said, NAMES.range);
  const view: View = {
    tab: TABS.find((tab) => tab === said.tab) ?? 'overview',
    range,
    department: /^[1-9]\d{0,14}$/.test(said.department_id) ? said.department_id : '',
    group: GROUPS.find((group) => group === said.group) ?? 'department',
    of: said.of,
    find: said.find,
    page: pageOf(said.page),
  };
  return [view, change];
}

/** The same as `/api` is asked for it. */
export function searchOf({ range, department }: Pick<View, 'range' | 'department'>) {
  return {
    start_timestamp: range.start,
    end_timestamp: range.end,
    ...(department !== '' && { department_id: Number(department) }),
  };
}
