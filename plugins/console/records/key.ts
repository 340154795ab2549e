/** A key in the API: its permissions and its quota. */
import type { KeyRecord } from '../../../core/contracts/keys.ts';
import type { Balance } from '../../../core/contracts/ledger.ts';
import { boolean, integer, record, text, unixSeconds } from '../schemas.ts';
import { secondsOf, unitsOf } from '../units.ts';
import { limitsSchema, shownLimits } from './key-limits.ts';

/** The value for no expiry. */
export const NEVER = -1;

/** Remaining and used quota in whole quota units. A key without a limit can spend its user's balance. */
export function quotaOf(balance: Balance | undefined) {
  if (balance === undefined) return { remain: 0, used: 0, unlimited: true };
  const { granted, used, held, unlimited } = balance;
  return { remain: unlimited ? 0 : unitsOf(granted - used - held), used: unitsOf(used), unlimited };
}

/** The record: amounts in quota units, times in Unix seconds. `secret`: set only in the response that creates the key; otherwise the key is masked. */
export function shownKey(key: KeyRecord, balance: Balance | undefined, nowMs: number, secret?: string) {
  const { remain, used, unlimited } = quotaOf(balance);
  const isExpired = key.expiresMs !== undefined && key.expiresMs <= nowMs;
  const isExhausted = balance !== undefined && !unlimited && balance.granted <= balance.used + balance.held;
  return {
    id: key.id,
    user_id: key.accountId,
    name: key.name,
    key: secret ?? `${key.prefix}**********${key.suffix}`,
    status: !key.enabled ? 2 : isExpired ? 3 : isExhausted ? 4 : 1,
    created_time: secondsOf(key.createdMs),
    // Uses are stored to the minute; the first one must not be before the key's creation.
    accessed_time: key.usedMs === undefined ? 0 : secondsOf(Math.max(key.usedMs, key.createdMs)),
    expired_time: key.expiresMs === undefined ? NEVER : secondsOf(key.expiresMs),
    remain_quota: remain,
    used_quota: used,
    unlimited_quota: unlimited,
    model_limits_enabled: key.models !== undefined,
    model_limits: key.models?.join(',') ?? '',
    allow_ips: key.addresses?.join('\n') ?? '',
    group: '',
    strict: key.strict,
    limits: shownLimits(key.limits),
  };
}

/** Such a record. */
export type ShownKey = ReturnType<typeof shownKey>;

export const keySchema = record('Key', {
  id: integer,
  user_id: integer,
  name: text,
  key: { ...text, description: 'Its first and last four characters; complete only in the response that creates it.' },
  status: { enum: [1, 2, 3, 4], description: '1 enabled, 2 disabled, 3 expired, 4 exhausted.' },
  created_time: unixSeconds,
  accessed_time: {
    ...integer,
    description: 'The last call with it, to the minute, Unix seconds; 0: never.',
  },
  expired_time: { ...integer, description: 'Unix seconds; -1: never.' },
  remain_quota: { ...integer, description: 'The remaining amount, in quota units; 0 if it is unlimited.' },
  used_quota: integer,
  unlimited_quota: { ...boolean, description: "Limited only by the user's balance." },
  model_limits_enabled: boolean,
  model_limits: { ...text, description: 'The models it may call, separated by commas; empty: all.' },
  allow_ips: { ...text, description: 'Allowed addresses and networks, one per line; empty: all.' },
  group: { ...text, description: 'Always empty: prices and models are the same for all keys.' },
  strict: { ...boolean, description: 'Translations that would change the answer are refused.' },
  limits: { ...limitsSchema, description: 'Its own limits, in addition to those of all keys.' },
});
