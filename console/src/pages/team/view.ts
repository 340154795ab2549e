/** The view of the team page: tab, range, department. All of it is in the address. */
import { pageOf, useAddress } from '../../parts/address.ts';
import type { TimeRange } from '../../parts/range.ts';
import { useRangeOf } from '../../parts/time-range.tsx';

/** The tabs of the page. */
export const TABS = ['overview', 'forecast', 'budgets', 'members', 'models'] as const;
/** The groups of the cost chart. */
export const GROUPS = ['department', 'member', 'model'] as const;

const NAMES = {
  tab: 'overview',
  range: '30d',
  start: '',
  end: '',
  department_id: '',
  group: 'department',
  /** The department of the forecast chart. */
  of: '',
  find: '',
  page: '1',
} as const;
/** Parameters of the address. */
export type Change = Partial<Record<keyof typeof NAMES, string>>;

/** The view. */
export interface View {
  readonly tab: (typeof TABS)[number];
  readonly range: TimeRange;
  /** '': all departments. */
  readonly department: string;
  readonly group: (typeof GROUPS)[number];
  readonly of: string;
  readonly find: string;
  readonly page: number;
}

/** The view of the address, and how to change it. */
export function useView(): readonly [View, (change: Change) => void] {
  const [params, change] = useAddress(NAMES);
  const range = useRangeOf(params, NAMES.range);
  const view: View = {
    tab: TABS.find((tab) => tab === params.tab) ?? 'overview',
    range,
    department: /^[1-9]\d{0,14}$/.test(params.department_id) ? params.department_id : '',
    group: GROUPS.find((group) => group === params.group) ?? 'department',
    of: params.of,
    find: params.find,
    page: pageOf(params.page),
  };
  return [view, change];
}

/** The view as a query of `/api`. */
export function searchOf({ range, department }: Pick<View, 'range' | 'department'>) {
  return {
    start_timestamp: range.start,
    end_timestamp: range.end,
    ...(department !== '' && { department_id: Number(department) }),
  };
}
