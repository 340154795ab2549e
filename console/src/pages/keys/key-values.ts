/** Key states, and the values of the key form and their conversion for `/api`. */
import type { Body } from '../../api/client.ts';
import type * as api from '../../api/operations.ts';
import type { Tone } from '../../parts/values.tsx';
import { fromField, toField } from '../../shell/zone.ts';

/** Ways to enter the expiry; `keep`: unchanged. */
export const EXPIRIES = ['never', 'week', 'month', 'quarter', 'year', 'date'] as const;
/** A value of `EXPIRIES`. */
export type Expiry = (typeof EXPIRIES)[number];

const DAYS: Readonly<Partial<Record<Expiry, number>>> = { week: 7, month: 30, quarter: 90, year: 365 };

/** The limits that a key can have of its own, as `/api` names them. */
export const LIMITS = [
  'daily_budget',
  'weekly_budget',
  'monthly_budget',
  'requests_per_minute',
  'tokens_per_minute',
  'concurrent',
] as const;
/** A value of `LIMITS`. */
export type LimitName = (typeof LIMITS)[number];

/** One limit, of all models or of one. */
export interface LimitValue {
  /** Identifies the row in the form. */
  readonly id: number;
  /** A model or a pattern; empty: all models. */
  readonly model: string;
  readonly name: LimitName;
  /** Quota units for budgets; null: not entered. */
  readonly amount: number | null;
}

/** The fields. */
export interface KeyValues {
  readonly name: string;
  readonly limited: boolean;
  /** Quota units; null: not entered. */
  readonly amount: number | null;
  readonly expiry: Expiry;
  /** The value of a date and time field, in the chosen zone. */
  readonly date: string;
  readonly models: readonly string[];
  readonly addresses: string;
  readonly strict: boolean;
  readonly limits: readonly LimitValue[];
  /** The group of channels; empty: that of the user. */
  readonly group: string;
}

/** The initial values. */
export function valuesOf(key: Key | undefined): KeyValues {
  const ends = key !== undefined && key.expired_time > 0;
  return {
    name: key?.name ?? '',
    limited: key !== undefined && !key.unlimited_quota,
    amount: key === undefined || key.unlimited_quota ? null : key.remain_quota,
    expiry: ends ? 'date' : 'never',
    date: ends ? toField(key.expired_time) : '',
    models: key?.model_limits_enabled === true ? key.model_limits.split(',') : [],
    addresses: key?.allow_ips ?? '',
    strict: key?.strict ?? false,
    limits: limitValuesOf(key?.limits ?? []),
    group: key?.group ?? '',
  };
}

/** The expiry in unix seconds; -1: never; undefined if none is entered. */
export function endOf({ expiry, date }: Pick<KeyValues, 'expiry' | 'date'>, nowMs: number): number | undefined {
  if (expiry === 'never') return -1;
  const days = DAYS[expiry];
  if (days !== undefined) return Math.floor(nowMs / 1_000) + days * 86_400;
  return fromField(date);
}

/** The body that creates a key. */
export function newKeyOf(values: KeyValues, nowMs: number): Body<'POST /api/token/'> {
  return {
    name: values.name.trim(),
    ...limitsOf(values),
    expired_time: endOf(values, nowMs) ?? -1,
    ...(values.group !== '' && { group: values.group }),
    ...otherFields(values),
  };
}

/** The changed fields only, because calls may have changed the remaining quota in the meantime. */
export function changesOf(values: KeyValues, key: Key, nowMs: number): Body<'PUT /api/token/'> {
  const before = valuesOf(key);
  const sameAmount = values.limited === before.limited && (!values.limited || values.amount === before.amount);
  const sameEnd = values.expiry === before.expiry && values.date === before.date;
  return {
    id: key.id,
    name: values.name.trim(),
    ...(!sameAmount && limitsOf(values)),
    ...(!sameEnd && { expired_time: endOf(values, nowMs) ?? -1 }),
    ...(values.group !== before.group && { group: values.group }),
    ...otherFields(values),
  };
}

function limitsOf({ limited, amount }: KeyValues) {
  return limited ? { unlimited_quota: false, remain_quota: amount ?? 0 } : { unlimited_quota: true };
}

/** One row for each limit: `/api` has those of a model together. */
function limitValuesOf(limits: Key['limits']): readonly LimitValue[] {
  const rows = limits.flatMap((limit) =>
    LIMITS.flatMap((name) => {
      const amount = limit[name];
      return amount === null ? [] : [{ model: limit.model, name, amount }];
    }),
  );
  return rows.map((row, id) => ({ id, ...row }));
}

/** The rows by their models; of the same limit for the same model, the last one. */
function limitsByModel(rows: readonly LimitValue[]): NonNullable<Body<'POST /api/token/'>['limits']> {
  const byModel = new Map<string, Partial<Record<LimitName, number | null>>>();
  for (const { model, name, amount } of rows) {
    const key = model.trim();
    byModel.set(key, { ...byModel.get(key), [name]: amount });
  }
  return [...byModel].map(([model, limits]) => ({ model, ...limits }));
}

function otherFields({ models, addresses, strict, limits }: KeyValues) {
  return {
    model_limits_enabled: models.length > 0,
    model_limits: models.join(','),
    allow_ips: addresses.trim(),
    strict,
    limits: limitsByModel(limits),
  };
}

/** The form field for a field of `/api`; undefined if there is none. */
export function fieldNamed(param: string): keyof KeyValues | undefined {
  switch (param) {
    case 'name':
    case 'strict':
    case 'group':
      return param;
    case 'remain_quota':
    case 'unlimited_quota':
      return 'amount';
    case 'expired_time':
      return 'date';
    case 'model_limits':
    case 'model_limits_enabled':
      return 'models';
    case 'allow_ips':
      return 'addresses';
    default:
      return /^limits(\.|$)/.test(param) ? 'limits' : undefined;
  }
}

/** A key in the list. */
export type Key = api.Key;

/** State names of the console for the numbers in `/api`, in the order in which they are listed. */
export const STATES = ['enabled', 'disabled', 'expired', 'spent'] as const;
type KeyState = (typeof STATES)[number];

const BY_STATUS: Readonly<Record<Key['status'], KeyState>> = { 1: 'enabled', 2: 'disabled', 3: 'expired', 4: 'spent' };

/** The colour of each state. */
export const STATE_TONES: Readonly<Record<KeyState, Tone>> = {
  enabled: 'good',
  disabled: 'idle',
  expired: 'bad',
  spent: 'warn',
};

/** The state name of a key. */
export function stateOf({ status }: Pick<Key, 'status'>): KeyState {
  return BY_STATUS[status];
}

/** The number of a state; undefined for unknown names. */
export function statusOf(state: string): Key['status'] | undefined {
  const at = STATES.indexOf(state as KeyState);
  return at < 0 ? undefined : ((at + 1) as Key['status']);
}
