/** What the page of usage shows: whose, when, of what, told apart by what. All of it is in the address. */
import type { Search } from '../../api/client.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import type { TimeRange } from '../../parts/range.ts';
import { type RangeChange, useRangeOf } from '../../parts/time-range.tsx';
import { MEASURES, type Measure } from '../../parts/trend-series.ts';
import { useWhose } from '../../parts/whose.ts';
import { isAdmin, useSelf } from '../../shell/self.ts';

/** What one's own usage is told apart by. */
export const OWN_GROUPS = ['model', 'key'] as const;
/** And everybody's. */
export const GROUPS = ['model', 'key', 'account', 'department', 'channel'] as const;
/** One of them. */
export type GroupBy = (typeof GROUPS)[number];

/** The member of a query, and of the address, that asks for one group only. */
export const FILTER_OF = {
  model: 'model',
  key: 'token_id',
  account: 'user_id',
  department: 'department_id',
  channel: 'channel',
} as const satisfies Record<GroupBy, string>;
/** Its name. */
export type FilterName = (typeof FILTER_OF)[GroupBy];

/** What is shown. */
export interface View {
  readonly everybody: boolean;
  readonly range: TimeRange;
  readonly group: GroupBy;
  readonly measure: Measure;
  /** Those that are asked for, in the order of `GROUPS`. */
  readonly filters: readonly { readonly by: GroupBy; readonly name: FilterName; readonly value: string }[];
  readonly find: string;
  readonly page: number;
}

const NAMES = {
  whose: 'mine',
  range: '7d',
  start: '',
  end: '',
  group: 'model',
  measure: 'cost',
  model: '',
  token_id: '',
  user_id: '',
  department_id: '',
  channel: '',
  find: '',
  page: '1',
} as const;
/** Members of the address. */
export type Change = Partial<Record<keyof typeof NAMES, string>>;

/** What the address says, how to change it, and the address of a change. */
export function useView(): readonly [View, (change: Change) => void, (change: Change) => string] {
  const [said, change, hrefOf] = useAddress(NAMES);
  const everybody = useWhose(isAdmin(useSelf()), said.whose, change);
  const range = useRangeOf(said, NAMES.range);
  const groups: readonly GroupBy[] = everybody ? GROUPS : OWN_GROUPS;
  const view: View = {
    everybody,
    range,
    group: groups.find((group) => group === said.group) ?? 'model',
    measure: MEASURES.find((measure) => measure === said.measure) ?? 'cost',
    filters: groups.flatMap((by) => {
      const name = FILTER_OF[by];
      const value = said[name];
      const isNumber = by === 'key' || by === 'account' || by === 'department';
      return value === '' || (isNumber && !/^[1-9]\d{0,14}$/.test(value)) ? [] : [{ by, name, value }];
    }),
    find: said.find,
    page: pageOf(said.page),
  };
  return [view, change, hrefOf];
}

/** Another range; what was turned to or looked for was in the one before. */
export function withRange(range: RangeChange): Change {
  return { ...range, page: '1' };
}

/** Everything without filters. */
export const WITHOUT_FILTERS: Change = {
  model: '',
  token_id: '',
  user_id: '',
  department_id: '',
  channel: '',
  find: '',
  page: '1',
};

/** One group alone, told apart by what was not asked for yet. */
export function drilled({ everybody, filters }: View, by: GroupBy, value: string): Change {
  const groups: readonly GroupBy[] = everybody ? GROUPS : OWN_GROUPS;
  const next = groups.find((group) => group !== by && !filters.some((filter) => filter.by === group));
  return { [FILTER_OF[by]]: value, group: next ?? by, find: '', page: '1' };
}

/** The same as `/api` is asked for it. */
export function searchOf({ filters }: View, { start, end }: { readonly start: number; readonly end: number }) {
  const search: Search<'GET /api/usage/sums'> = { start_timestamp: start, end_timestamp: end };
  for (const { name, value } of filters) {
    if (name === 'model' || name === 'channel') search[name] = value;
    else search[name] = Number(value);
  }
  return search;
}
