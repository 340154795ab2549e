/** What tools send about a key, in their words, and what it means in ours. */
import { coreErrors } from '../../../core/contracts/errors.ts';
import type { KeyChanges, KeyRecord, NewKey } from '../../../core/contracts/keys.ts';
import { type ReadOnly, readOnlyProperties } from '../read-only.ts';
import { MOST_UNITS, microOf, secondsOf } from '../units.ts';
import { NEVER, type ShownKey } from './key.ts';

/** The members that count; all of them may be left out of a change. */
export interface KeyForm {
  readonly user_id?: number;
  readonly name?: string;
  /** Unix seconds; -1: never. */
  readonly expired_time?: number;
  readonly remain_quota?: number;
  readonly unlimited_quota?: boolean;
  readonly model_limits_enabled?: boolean;
  readonly model_limits?: string;
  readonly allow_ips?: string | null;
  readonly strict?: boolean;
}

/** The end of the year 9999: whoever means never says so. */
const LATEST_S = 253_402_300_799;
const LONGEST_LIST = 32_768;

/** Their schemas. */
export const keyFormProperties = {
  name: { type: 'string', maxLength: 200 },
  expired_time: {
    type: 'integer',
    minimum: NEVER,
    maximum: LATEST_S,
    description: 'When it stops to work, unix seconds in the future; -1: never.',
  },
  remain_quota: {
    type: 'integer',
    minimum: 0,
    maximum: MOST_UNITS,
    description: 'What it may spend from now on, in quota units.',
  },
  unlimited_quota: {
    type: 'boolean',
    description: 'It may spend what its account has. Left out: unless remain_quota is there.',
  },
  model_limits_enabled: { type: 'boolean', description: 'Left out: where model_limits names some.' },
  model_limits: { type: 'string', maxLength: LONGEST_LIST, description: 'Names of models, with commas between them.' },
  allow_ips: {
    type: ['string', 'null'],
    maxLength: LONGEST_LIST,
    description: 'Addresses and networks (10.0.0.0/8), one on a line; empty: all.',
  },
  strict: { type: 'boolean', description: 'A translation that would change the answer is refused.' },
} as const;

const NO_GROUPS = 'Models and prices are the same for all keys: model_limits says what a key may call.';
const MADE = 'The gateway makes it.';

/** Members of the record that a form does not set. */
export const FIXED: ReadOnly = {
  key: MADE,
  created_time: MADE,
  group: NO_GROUPS,
  cross_group_retry: NO_GROUPS,
  auto_groups: NO_GROUPS,
  DeletedAt: 'DELETE /api/token/:id ends a key.',
};
/** Members that calls change: what was read may be older than what is. */
export const COUNTED: ReadOnly = { accessed_time: MADE, used_quota: 'remain_quota says what a key may still spend.' };
/** Members that tools send along from a record they were shown, or for what is not here. */
export const fixedKeyProperties = {
  ...readOnlyProperties(FIXED),
  ...Object.fromEntries(
    Object.keys(COUNTED).map((name) => [
      name,
      { description: 'Counted by the gateway; sent back, it changes nothing.' },
    ]),
  ),
  user_id: {
    description: 'Whose key: a user with a role below your own, for administrators. Left out or 0: your own.',
    type: 'integer',
    minimum: 0,
  },
};

/** A new key, as it is asked for. Refuses (400) what makes no sense. */
export function newKeyOf(form: KeyForm & { readonly name: string }, accountId: number, nowMs: number): NewKey {
  const { unlimited_quota: unlimited = form.remain_quota === undefined, remain_quota: remain, strict } = form;
  if (!unlimited && remain === undefined) {
    throw coreErrors
      .invalid_request_error('A key that is not unlimited needs a remain_quota.')
      .with({ param: 'remain_quota' });
  }
  const { models, addresses, expiresMs } = restrictionsOf(form, undefined, nowMs);
  return {
    accountId,
    name: form.name,
    allowance: unlimited ? undefined : microOf(remain ?? 0),
    models: models ?? undefined,
    addresses: addresses ?? undefined,
    expiresMs: expiresMs ?? undefined,
    ...(strict !== undefined && { strict }),
  };
}

/** What is to change of a key; members that are left out stay. Refuses (400) what makes no sense. */
export function keyChangesOf(form: KeyForm, key: KeyRecord, nowMs: number): KeyChanges {
  const { name, strict } = form;
  return {
    ...(name !== undefined && { name }),
    ...(strict !== undefined && { strict }),
    ...restrictionsOf(form, key, nowMs),
  };
}

/**
 * What is to be available to a key from now on, in micro-quota; null: as much as its account has. Undefined where that stays as it
 * is: tools send back what they were shown, and meanwhile the key may have spent something.
 */
export function availableOf(form: KeyForm, shown: ShownKey): bigint | null | undefined {
  const { remain_quota: remain, unlimited_quota: asked } = form;
  const unlimited = asked ?? (remain === undefined && shown.unlimited_quota);
  if (unlimited) return shown.unlimited_quota ? undefined : null;
  if (!shown.unlimited_quota && (remain === undefined || remain === shown.remain_quota)) return undefined;
  if (remain === undefined) {
    throw coreErrors
      .invalid_request_error('A key that is not unlimited needs a remain_quota.')
      .with({ param: 'remain_quota' });
  }
  return microOf(remain);
}

/** What tools call fields of a key. */
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

/** Undefined: they stay as they are. */
function modelsOf(form: KeyForm, key: KeyRecord | undefined): readonly string[] | null | undefined {
  const { model_limits_enabled: enabled, model_limits: names } = form;
  if (enabled === false) return null;
  if (names === undefined && (enabled === undefined || key?.models !== undefined)) return undefined;
  const list = listOf(names ?? '', /,/);
  // Limited to nothing is what the service refuses.
  return list === null && enabled === true ? [] : list;
}

function expiryOf(seconds: number, key: KeyRecord | undefined, nowMs: number): number | null {
  if (seconds === NEVER) return null;
  const ms = seconds * 1_000;
  const before = key?.expiresMs;
  // What has expired may stay so while something else is changed.
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
