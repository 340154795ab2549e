/** Records as `/api` and the command line show them: amounts in quota units, times in Unix seconds. */
import type { Account, KeyLimit, KeyRecord, ServiceToken } from './identity.ts';
import { type Balance, MICRO, remaining } from './ledger.ts';
import type { Period } from './periods.ts';
import type { PriceComparison } from './prices.ts';

/** The numbers of roles. */
export const ROLE_NUMBERS = { member: 1, admin: 10, root: 100 } as const;

/** The value for no expiry. */
export const NEVER = -1;

/** Micro-quota in whole quota units, rounded down. */
export function unitsOf(micro: bigint): number {
  const units = micro / MICRO;
  return Number(micro < 0n && units * MICRO !== micro ? units - 1n : units);
}

/** Micro-quota in whole quota units, rounded up. */
export function unitsAbove(micro: bigint): number {
  return Number((micro + MICRO - 1n) / MICRO);
}

/** Milliseconds in Unix seconds; 0 for undefined. */
export function secondsOf(ms = 0): number {
  return Math.floor(ms / 1_000);
}

/** The names of the budgets of a limit. */
export const BUDGETS = { day: 'daily_budget', week: 'weekly_budget', month: 'monthly_budget' } as const;

/**
 * A balance in whole quota units, the same wherever it is shown: what is left (negative: owed), used, reserved for running calls, and owed. A key
 * without a limit can spend its user's balance.
 */
export function quotaOf(balance: Balance | undefined) {
  if (balance === undefined) return { remain: 0, used: 0, held: 0, debt: 0, unlimited: true };
  const { granted, used, held, unlimited, debt = 0n } = balance;
  return {
    remain: unlimited ? 0 : unitsOf(remaining({ granted, used, held, unlimited, debt })),
    used: unitsOf(used),
    held: unitsOf(held),
    debt: unitsAbove(debt),
    unlimited,
  };
}

/** The part of a key's quota that running calls hold: with the remaining and the used amount, it adds up to what the key was given. */
function heldOf(balance: Balance | undefined, remain: number, used: number): number {
  if (balance === undefined) return 0;
  const { granted, unlimited, held, debt = 0n } = balance;
  return unlimited ? unitsOf(held) : Math.max(0, unitsOf(granted - debt) - remain - used);
}

/** The part of a user's record that the account and its balance have. */
export function shownAccount(account: Account, balance: Balance | undefined) {
  const { remain, used, held, debt, unlimited } = quotaOf(balance);
  return {
    id: account.id,
    username: account.name,
    role: ROLE_NUMBERS[account.role],
    status: account.enabled ? 1 : 2,
    quota: remain,
    used_quota: used,
    held_quota: held,
    debt,
    unlimited_quota: unlimited,
    created_at: secondsOf(account.createdMs),
  };
}

/** The record of a key. `secret`: set only in the response that creates the key; otherwise the key is masked. */
export function shownKey(key: KeyRecord, balance: Balance | undefined, nowMs: number, secret?: string) {
  const { remain: left, used, unlimited } = quotaOf(balance);
  const remain = Math.max(0, left);
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
    held_quota: heldOf(balance, remain, used),
    unlimited_quota: unlimited,
    model_limits_enabled: key.models !== undefined,
    model_limits: key.models?.join(',') ?? '',
    allow_ips: key.addresses?.join('\n') ?? '',
    group: key.group ?? '',
    strict: key.strict,
    limits: shownLimits(key.limits),
  };
}

/** Such a record. */
export type ShownKey = ReturnType<typeof shownKey>;

/** The record of limits. */
export function shownLimits(limits: readonly KeyLimit[] = []) {
  return limits.map(({ model = '', requestsPerMinute, tokensPerMinute, concurrent, budgets = {} }) => {
    const units = (period: Period) => (budgets[period] === undefined ? null : unitsOf(budgets[period]));
    return {
      model,
      requests_per_minute: requestsPerMinute ?? null,
      tokens_per_minute: tokensPerMinute ?? null,
      concurrent: concurrent ?? null,
      daily_budget: units('day'),
      weekly_budget: units('week'),
      monthly_budget: units('month'),
    };
  });
}

/** The record of a service token. `madeBy`: the name of its maker; undefined: deleted. */
export function shownToken(token: ServiceToken, madeBy: string | undefined, nowMs: number) {
  const {
    id,
    name,
    suffix,
    scopes,
    addresses = [],
    accountId,
    createdMs,
    expiresMs,
    usedMs,
    usedIp,
    revokedMs,
  } = token;
  return {
    id,
    name,
    status: revokedMs !== undefined ? 'revoked' : expiresMs > nowMs ? 'valid' : 'expired',
    suffix,
    scopes,
    addresses,
    made_by: accountId,
    made_by_name: madeBy ?? '',
    created_at: secondsOf(createdMs),
    expires_at: secondsOf(expiresMs),
    used_at: secondsOf(usedMs),
    used_ip: usedIp,
    revoked_at: secondsOf(revokedMs),
  };
}

/** The record of a comparison with the published price list. */
export function shownComparison({ source, digest, changes, skipped }: PriceComparison) {
  return {
    source,
    digest,
    changes: changes.map((change) => ({
      ...change,
      amounts: change.amounts.map(({ field, old, new: now, percent }) => ({
        field,
        old: old ?? null,
        new: now ?? null,
        percent: percent ?? null,
      })),
    })),
    skipped,
  };
}
