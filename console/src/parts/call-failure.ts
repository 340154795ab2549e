/** Why a call failed: one cause out of few, by what the gateway answered. Pure. */

import type { ErrorCode } from '../api/errors.ts';

/** Each has a sentence and a next step in the texts beside this. */
export type Cause =
  | 'network'
  | 'session'
  | 'key'
  | 'expired'
  | 'disabled'
  | 'account'
  | 'scope'
  | 'address'
  | 'balance'
  | 'allowance'
  | 'window'
  | 'price'
  | 'model'
  | 'limit'
  | 'busy'
  | 'vendor'
  | 'request'
  | 'gateway';

/** Whose words came with it. */
export type Voice = 'gateway' | 'vendor' | 'either';

/** An answer that is a refusal, or the end of one that broke off. */
export interface Refused {
  /** 0: there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Who answered for it; empty where the gateway itself did. */
  readonly channel: string;
  /** Empty where there is none. */
  readonly requestId: string;
  /** Seconds to wait, where it said so. */
  readonly retryAfter: number | undefined;
}

const BY_CODE: Readonly<Partial<Record<ErrorCode, Cause>>> = {
  not_signed_in: 'session',
  key_expired: 'expired',
  key_disabled: 'disabled',
  account_disabled: 'account',
  department_disabled: 'account',
  model_not_allowed: 'scope',
  ip_not_allowed: 'address',
  QUOTA_USER_INSUFFICIENT: 'balance',
  QUOTA_TOKEN_INSUFFICIENT: 'allowance',
  model_not_priced: 'price',
  model_not_found: 'model',
  concurrency_limit_exceeded: 'limit',
  storage_unavailable: 'gateway',
};

/** The one cause. */
export function causeOf({ status, code, message, channel }: Refused): Cause {
  if (status === 0) return 'network';
  // Vendors have codes of their own: `constructor` is none of ours.
  const known = Object.hasOwn(BY_CODE, code) ? BY_CODE[code as ErrorCode] : undefined;
  if (known !== undefined && channel === '') return known;
  // Windows of a subscription and budgets of departments end by themselves, or are raised by somebody else.
  if (code.startsWith('QUOTA_')) return 'window';
  // Of vendors at their limits our own sentence begins with this word.
  if (status === 429) return channel !== '' || message.startsWith('The vendor') ? 'busy' : 'limit';
  if (channel !== '') return status >= 500 ? 'vendor' : 'request';
  if (status === 401) return 'key';
  if (/^(upstream_|bad_upstream|no_channel)/.test(code)) return 'vendor';
  return status >= 500 ? 'gateway' : 'request';
}

/** Who says what stands in the message. */
export function voiceOf({ code, channel }: Refused): Voice {
  if (channel !== '') return 'vendor';
  // Here the gateway may be telling, in its own form, what a vendor of another style said.
  return code === 'invalid_request_error' || code === 'request_too_large' ? 'either' : 'gateway';
}
