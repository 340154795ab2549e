/** The form of a key, and its conversion to the service's fields. */

import { coreErrors } from '../../../../core/contracts/errors.ts';
import type { KeyRecord } from '../../../../core/contracts/identity.ts';
import type { KeyChanges, NewKey } from '../../../../core/contracts/keys.ts';
import type { Balance } from '../../../../core/contracts/ledger.ts';
import { LATEST_MS } from '../../../../core/sdk.ts';
import { type ReadOnly, readOnly, readOnlyProperties } from '../../format/read-only.ts';
import type { Members } from '../../format/schemas.ts';
import { MOST_UNITS, microOf, secondsOf } from '../../format/units.ts';
import { NEVER, type ShownKey } from './key.ts';
import { limitsForm, limitsOf } from './key-limits.ts';

const LONGEST_LIST = 32_768;

export const keyFormProperties = {
  name: { type: 'string', maxLength: 200 },
  expired_time: {
    type: 'integer',
    minimum: NEVER,
    maximum: LATEST_MS / 1_000,
    description: 'Expiry, Unix seconds in the future; -1: never.',
  },
  remain_quota: {
    type: 'integer',
    minimum: 0,
    maximum: MOST_UNITS,
    description:
      'The amount that it may spend from now on, running calls included, in quota units. If used_quota and held_quota of the record are sent along, it is the amount that was left then: what calls have spent since is not returned.',
  },
  unlimited_quota: {
    type: 'boolean',
    description: "Limited only by the user's balance. Default: true unless remain_quota is set.",
  },
  model_limits_enabled: { type: 'boolean', description: 'Default: true if model_limits is not empty.' },
  model_limits: { type: 'string', maxLength: LONGEST_LIST, description: 'Model names, separated by commas.' },
  allow_ips: {
    type: ['string', 'null'],
    maxLength: LONGEST_LIST,
    description: 'Allowed addresses and networks (10.0.0.0/8), one per line; empty: all.',
  },
  group: {
    type: ['string', 'null'],
    maxLength: 64,
    description:
      'The group of channels that it uses; empty: that of its user. Users may choose the groups that GET /api/user/self/groups lists, administrators any.',
  },
  limits: limitsForm,
  strict: { type: 'boolean', description: 'Refuse translations that would change the answer.' },
} as const;

const MADE = 'The gateway generates it.';

/** Members of the record that a form cannot set. */
export const FIXED: ReadOnly = {
  ...readOnly(MADE, 'key', 'created_time'),
  ...readOnly('Use a group with `of`, whose groups are tried in its order.', ...['cross_group_retry', 'auto_groups']),
  DeletedAt: 'DELETE /api/token/:id ends a key.',
};
/** The same without the section `groups`. */
export const WITHOUT_GROUPS = readOnly(
  'Models and prices are the same for all keys, because the configuration has no section `groups`.',
  'group',
);
/** Members that calls change: the values that the client read may be outdated. */
export const COUNTED: ReadOnly = {
  accessed_time: MADE,
  used_quota: 'Set remain_quota, the amount that a key may still spend.',
  held_quota: 'Set remain_quota, the amount that a key may still spend.',
};
/** Members that clients send along from a record, or for features that do not exist. */
export const fixedKeyProperties = {
  ...readOnlyProperties(FIXED),
  ...Object.fromEntries(
    Object.keys(COUNTED).map((name) => [name, { description: 'Counted by the gateway; ignored.' }]),
  ),
  ...Object.fromEntries(
    ['used_quota', 'held_quota'].map((name) => [
      name,
      { description: 'Counted by the gateway: it says from when the remain_quota that is sent along is.' },
    ]),
  ),
  user_id: {
    description: 'For administrators: the owner, a user with a role below yours. Omitted or 0: yourself.',
    type: 'integer',
    minimum: 0,
  },
} as const;

/** The members that are used; a change may omit any of them. */
export type KeyForm = Members<typeof keyFormProperties & Pick<typeof fixedKeyProperties, 'user_id'>>;

const withoutQuota = () =>
  coreErrors.invalid_request_error('A key that is not unlimited needs a remain_quota.').with({ param: 'remain_quota' });

/** A new key from its form. Refuses (400) contradictions. */
export function newKeyOf(form: KeyForm & { readonly name: string }, accountId: number, nowMs: number): NewKey {
  const { unlimited_quota: unlimited = form.remain_quota === undefined, remain_quota: remain, strict, limits } = form;
  if (!unlimited && remain === undefined) throw withoutQuota();
  const { models, addresses, expiresMs } = restrictionsOf(form, undefined, nowMs);
  return {
    accountId,
    name: form.name,
    allowance: unlimited ? undefined : microOf(remain ?? 0),
    models: models ?? undefined,
    addresses: addresses ?? undefined,
    expiresMs: expiresMs ?? undefined,
    ...(strict !== undefined && { strict }),
    ...(limits !== undefined && { limits: limitsOf(limits) }),
  };
}

/** The changes in a form; omitted members stay unchanged. Refuses (400) contradictions. */
export function keyChangesOf(form: KeyForm, key: KeyRecord, nowMs: number): KeyChanges {
  const { name, strict, limits } = form;
  return {
    ...(name !== undefined && { name }),
    ...(strict !== undefined && { strict }),
    ...(limits !== undefined && { limits: limitsOf(limits) }),
    ...restrictionsOf(form, key, nowMs),
  };
}

/**
 * The amount that the key may spend from now on, in micro-quota; null: limited only by the balance. Undefined if unchanged: clients send back the
 * record that they read, and the key may have spent something since. `balance`: the current one.
 */
export function availableOf(form: KeyForm, current: ShownKey, balance: Balance | undefined): bigint | null | undefined {
  const { remain_quota: remain, unlimited_quota: requested } = form;
  const unlimited = requested ?? (remain === undefined && current.unlimited_quota);
  if (unlimited) return current.unlimited_quota ? undefined : null;
  if (!current.unlimited_quota && (remain === undefined || remain === current.remain_quota)) return undefined;
  if (remain === undefined) throw withoutQuota();
  return current.unlimited_quota ? microOf(remain) : sinceRead({ ...form, remain }, current, balance);
}

/** The balance after a change of a record that was read earlier; undefined: it was not changed. */
function sinceRead(
  { remain, used_quota: used, held_quota: held }: Readonly<Record<string, unknown>> & { readonly remain: number },
  current: ShownKey,
  balance: Balance | undefined,
): bigint | undefined {
  if (typeof used !== 'number' || !Number.isSafeInteger(used)) return microOf(remain);
  const given = remain + used + (typeof held === 'number' && Number.isSafeInteger(held) ? held : 0);
  const more = microOf(given - (current.remain_quota + current.used_quota + current.held_quota));
  if (more === 0n || balance === undefined) return undefined;
  const after = balance.granted - balance.used - (balance.debt ?? 0n) + more;
  return after > 0n ? after : 0n;
}

/** The names of a key's fields in the API. */
export const KEY_WORDS = { models: 'model_limits', addresses: 'allow_ips' } as const;

function restrictionsOf(
  form: KeyForm,
  key: KeyRecord | undefined,
  nowMs: number,
): Pick<KeyChanges, 'models' | 'addresses' | 'expiresMs'> {
  const models = modelsOf(form, key);
  const { allow_ips: ips, expired_time: expires } = form;
  return {
    ...(models !== undefined && { models }),
    ...(ips !== undefined && { addresses: listOf(ips ?? '', /[\s,]+/) }),
    ...(expires !== undefined && { expiresMs: expiryOf(expires, key, nowMs) }),
  };
}

/** Undefined: unchanged. */
function modelsOf(form: KeyForm, key: KeyRecord | undefined): readonly string[] | null | undefined {
  const { model_limits_enabled: enabled, model_limits: names } = form;
  if (enabled === false) return null;
  if (names === undefined && (enabled === undefined || key?.models !== undefined)) return undefined;
  const list = listOf(names ?? '', /,/);
  // The service refuses an empty list.
  return list === null && enabled === true ? [] : list;
}

function expiryOf(seconds: number, key: KeyRecord | undefined, nowMs: number): number | null {
  if (seconds === NEVER) return null;
  const ms = seconds * 1_000;
  const before = key?.expiresMs;
  // An expired key may stay expired while other fields change.
  if (before !== undefined && secondsOf(before) === seconds) return before;
  if (ms > nowMs) return ms;
  throw coreErrors
    .invalid_request_error('expired_time must be in the future, in unix seconds, or -1 for never.')
    .with({ param: 'expired_time' });
}

function listOf(text: string, between: RegExp): readonly string[] | null {
  const list = text
    .split(between)
    .map((each) => each.trim())
    .filter((each) => each !== '');
  return list.length === 0 ? null : [...new Set(list)];
}
