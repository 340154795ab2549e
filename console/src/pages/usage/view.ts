/** The view of the usage page: scope, range, filters, group. All of it is in the address. */
import type { Search } from '../../api/client.ts';
import { isAdmin, useSelf } from '../../api/hooks.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import type { TimeRange } from '../../parts/range.ts';
import { useScope } from '../../parts/scope.tsx';
import { type RangeChange, useRangeOf } from '../../parts/time-range.tsx';
import { MEASURES, type Measure } from '../../parts/trend-series.ts';

/** Groups for the viewer's own usage. */
export const OWN_GROUPS = ['model', 'key', 'tag'] as const;
/** More groups for all users. */
export const GROUPS = ['model', 'key', 'account', 'department', 'channel', 'tag'] as const;
/** A value of `GROUPS`. */
export type GroupBy = (typeof GROUPS)[number];

/** The query parameter, and the parameter of the address, that selects one group. */
export const FILTER_OF = {
  model: 'model',
  key: 'token_id',
  account: 'user_id',
  department: 'department_id',
  channel: 'channel',
  tag: 'tag',
} as const satisfies Record<GroupBy, string>;
/** Its name. */
export type FilterName = (typeof FILTER_OF)[GroupBy];

/** The view. */
export interface View {
  readonly allUsers: boolean;
  readonly range: TimeRange;
  readonly group: GroupBy;
  readonly measure: Measure;
  /** The active filters in the order of `GROUPS`. */
  readonly filters: readonly { readonly by: GroupBy; readonly name: FilterName; readonly value: string }[];
  readonly find: string;
  readonly page: number;
}

/** The parameters that reset all filters. */
export const WITHOUT_FILTERS = {
  ...(Object.fromEntries(Object.values(FILTER_OF).map((name) => [name, ''])) as Readonly<Record<FilterName, string>>),
  find: '',
  page: '1',
};

const NAMES = {
  whose: 'mine',
  range: '7d',
  start: '',
  end: '',
  group: 'model',
  measure: 'cost',
  ...WITHOUT_FILTERS,
} as const;
/** Parameters of the address. */
export type Change = Partial<Record<keyof typeof NAMES, string>>;

/** The view of the address, how to change it, and the address of a change. */
export function useView(): readonly [View, (change: Change) => void, (change: Change) => string] {
  const [params, change, hrefOf] = useAddress(NAMES);
  const allUsers = useScope(isAdmin(useSelf()), params.whose, change);
  const chosen = useRangeOf(params, NAMES.range);
  const groups: readonly GroupBy[] = allUsers ? GROUPS : OWN_GROUPS;
  // The sums of tags are by day.
  const range = params.tag !== '' || params.group === 'tag' ? { ...chosen, granularity: 'day' as const } : chosen;
  const view: View = {
    allUsers,
    range,
    group: groups.find((group) => group === params.group) ?? 'model',
    measure: MEASURES.find((measure) => measure === params.measure) ?? 'cost',
    filters: groups.flatMap((by) => {
      const name = FILTER_OF[by];
      const value = params[name];
      const isNumber = by === 'key' || by === 'account' || by === 'department';
      return value === '' || (isNumber && !/^[1-9]\d{0,14}$/.test(value)) ? [] : [{ by, name, value }];
    }),
    find: params.find,
    page: pageOf(params.page),
  };
  return [view, change, hrefOf];
}

/** Another range; resets page and search. */
export function withRange(range: RangeChange): Change {
  return { ...range, page: '1' };
}

/** Filters by one group, and groups by the next one without a filter. */
export function drillDown({ allUsers, filters }: View, by: GroupBy, value: string): Change {
  const groups: readonly GroupBy[] = allUsers ? GROUPS : OWN_GROUPS;
  const next = groups.find((group) => group !== by && !filters.some((filter) => filter.by === group));
  return { [FILTER_OF[by]]: value, group: next ?? by, find: '', page: '1' };
}

/** The view as a query of `/api`. */
export function searchOf({ filters }: View, { start, end }: { readonly start: number; readonly end: number }) {
  const search: Search<'GET /api/usage/sums'> = { start_timestamp: start, end_timestamp: end };
  for (const { name, value } of filters) {
    if (name === 'model' || name === 'channel' || name === 'tag') search[name] = value;
    else search[name] = Number(value);
  }
  return search;
}
