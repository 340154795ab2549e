/** The view of the logs: scope, range, filters and the open record. All of it is in the address. */
import type { Search } from '../../api/client.ts';
import { isAdmin, useSelf } from '../../api/hooks.ts';
import { type Step, useAddress } from '../../parts/address.ts';
import type { TimeRange } from '../../parts/range.ts';
import { useScope } from '../../parts/scope.tsx';
import { useRangeOf } from '../../parts/time-range.tsx';

/** The record kinds with their numbers in `/api`. */
export const KINDS = { use: 2, error: 5, 'top-up': 1, refund: 6, login: 7, manage: 3, system: 4, request: 8 } as const;
/** A value of the list above. */
export type Kind = keyof typeof KINDS;

/** Outcomes of calls. */
export const OUTCOMES = ['served', 'refused', 'failed', 'aborted', 'recovered'] as const;
/** A value of `OUTCOMES`. */
export type Outcome = (typeof OUTCOMES)[number];

/** Filters in the order of their chips; the second list is for the scope of all users only. */
const OWN_FILTERS = ['kind', 'outcome', 'model', 'key', 'token_id', 'channel', 'request_id'] as const;
const ALL_USERS_FILTERS = [...OWN_FILTERS, 'username', 'user_id', 'department_id'] as const;
/** The name of a filter in the address. */
export type FilterName = (typeof ALL_USERS_FILTERS)[number];

/** The parameters that reset all filters. */
export const WITHOUT_FILTERS = Object.fromEntries(
  [...ALL_USERS_FILTERS, 'before'].map((name) => [name, '']),
) as Readonly<Record<FilterName | 'before', string>>;

const NAMES = { whose: '', range: '7d', start: '', end: '', ...WITHOUT_FILTERS, latency: '', open: '' } as const;
/** Parameters of the address. */
export type Change = Partial<Record<keyof typeof NAMES, string>>;

/** An active filter. */
export interface Filter {
  readonly name: FilterName;
  readonly value: string;
}

/** The view. */
export interface View {
  readonly admin: boolean;
  readonly allUsers: boolean;
  readonly range: TimeRange;
  readonly filters: readonly Filter[];
  /** Records before this cursor; empty: the newest. */
  readonly before: string;
  readonly latency: boolean;
  /** The `request_id` of the open record; empty: none. */
  readonly open: string;
}

/** The view of the address, how to change it, and the address of a change. */
export function useView(): readonly [View, (change: Change, step?: Step) => void, (change: Change) => string] {
  const [params, change, hrefOf] = useAddress(NAMES);
  const admin = isAdmin(useSelf());
  // A filter by user implies the scope of all users.
  const asksForSomebody = params.username !== '' || params.user_id !== '' || params.department_id !== '';
  const allUsers = useScope(admin, params.whose, change) || (admin && asksForSomebody);
  const range = useRangeOf(params, NAMES.range);
  const names: readonly FilterName[] = allUsers ? ALL_USERS_FILTERS : OWN_FILTERS;
  const view: View = {
    admin,
    allUsers,
    range,
    filters: names.flatMap((name) => (isGood(name, params[name]) ? [{ name, value: params[name] }] : [])),
    before: isId(params.before) ? params.before : '',
    latency: params.latency === 'open',
    open: params.open,
  };
  return [view, change, hrefOf];
}

/** True if a text can be the ID of a record. */
export function isId(value: string): boolean {
  return /^[0-9a-v]{26}$/.test(value);
}

function isGood(name: FilterName, value: string): boolean {
  if (name === 'kind') return Object.hasOwn(KINDS, value);
  if (name === 'outcome') return isOutcome(value);
  if (name === 'token_id' || name === 'user_id' || name === 'department_id') return /^[1-9]\d{0,14}$/.test(value);
  return value !== '' && value.length <= 256;
}

function isOutcome(value: string): boolean {
  return (OUTCOMES as readonly string[]).includes(value);
}

/** The value of a filter; '' if not set. */
export function filterOf({ filters }: Pick<View, 'filters'>, name: FilterName): string {
  return filters.find((filter) => filter.name === name)?.value ?? '';
}

/** The view as a query of `/api`. A search for one request ID ignores the range. */
export function searchOf(view: View): Search<'GET /api/log/'> {
  const { filters, range } = view;
  const search: Search<'GET /api/log/'> = {};
  if (filterOf(view, 'request_id') === '') {
    search.start_timestamp = range.start;
    search.end_timestamp = range.end;
  }
  for (const { name, value } of filters) {
    if (name === 'kind') search.type = KINDS[value as Kind];
    else if (name === 'outcome') search.outcome = value as Outcome;
    else if (name === 'model') search.model_name = value;
    else if (name === 'key') search.token_name = value;
    else if (name === 'token_id' || name === 'user_id' || name === 'department_id') search[name] = Number(value);
    else if (name === 'request_id') search.request_id = value.slice(0, 64);
    else search[name] = value;
  }
  return search;
}
