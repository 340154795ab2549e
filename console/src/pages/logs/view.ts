/** What the page of the log shows: whose lines, of when, under which filters, and which is open. All of it is in the address. */
import type { Search } from '../../api/client.ts';
import { type Step, useAddress } from '../../parts/address.ts';
import type { TimeRange } from '../../parts/range.ts';
import { useRangeOf } from '../../parts/time-range.tsx';
import { useWhose } from '../../parts/whose.ts';
import { isAdmin, useSelf } from '../../shell/self.ts';

/** The kinds of lines, by the numbers that `/api` knows them by. */
export const KINDS = { use: 2, error: 5, 'top-up': 1, refund: 6, login: 7, manage: 3, system: 4, request: 8 } as const;
/** One of them. */
export type Kind = keyof typeof KINDS;

/** How calls end. */
export const OUTCOMES = ['served', 'refused', 'failed', 'aborted', 'recovered'] as const;
/** One of them. */
export type Outcome = (typeof OUTCOMES)[number];

/** What lines can be asked for by, in the order of their chips; the second part only of everybody's. */
const OWN_FILTERS = ['kind', 'outcome', 'model', 'key', 'token_id', 'channel', 'request_id'] as const;
const EVERYBODY_FILTERS = [...OWN_FILTERS, 'username', 'user_id', 'department_id'] as const;
/** One of them, as the address names it. */
export type FilterName = (typeof EVERYBODY_FILTERS)[number];

const NAMES = {
  whose: '',
  range: '7d',
  start: '',
  end: '',
  kind: '',
  outcome: '',
  model: '',
  key: '',
  token_id: '',
  channel: '',
  request_id: '',
  username: '',
  user_id: '',
  department_id: '',
  before: '',
  latency: '',
  open: '',
} as const;
/** Members of the address. */
export type Change = Partial<Record<keyof typeof NAMES, string>>;

/** A filter that is asked for. */
export interface Filter {
  readonly name: FilterName;
  readonly value: string;
}

/** What is shown. */
export interface View {
  readonly admin: boolean;
  readonly everybody: boolean;
  readonly range: TimeRange;
  readonly filters: readonly Filter[];
  /** Lines behind this one; empty: the newest. */
  readonly before: string;
  readonly latency: boolean;
  /** The `request_id` of the line that is open; empty: none is. */
  readonly open: string;
}

/** Everything without filters. */
export const WITHOUT_FILTERS: Change = {
  kind: '',
  outcome: '',
  model: '',
  key: '',
  token_id: '',
  channel: '',
  request_id: '',
  username: '',
  user_id: '',
  department_id: '',
  before: '',
};

/** What the address says, how to change it, and the address of a change. */
export function useView(): readonly [View, (change: Change, step?: Step) => void, (change: Change) => string] {
  const [said, change, hrefOf] = useAddress(NAMES);
  const admin = isAdmin(useSelf());
  // Whoever asks for a person asks for somebody else's lines.
  const asksForSomebody = said.username !== '' || said.user_id !== '' || said.department_id !== '';
  const everybody = useWhose(admin, said.whose, change) || (admin && asksForSomebody);
  const range = useRangeOf(said, NAMES.range);
  const names: readonly FilterName[] = everybody ? EVERYBODY_FILTERS : OWN_FILTERS;
  const view: View = {
    admin,
    everybody,
    range,
    filters: names.flatMap((name) => (isGood(name, said[name]) ? [{ name, value: said[name] }] : [])),
    before: isId(said.before) ? said.before : '',
    latency: said.latency === 'open',
    open: said.open,
  };
  return [view, change, hrefOf];
}

/** True of what can be the id of a line. */
export function isId(said: string): boolean {
  return /^[0-9a-v]{26}$/.test(said);
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

/** What a filter is asked for by; '' where it is not. */
export function filterOf({ filters }: Pick<View, 'filters'>, name: FilterName): string {
  return filters.find((filter) => filter.name === name)?.value ?? '';
}

/** The same as `/api` is asked for it. Whoever looks for one line finds it, however old it is. */
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
