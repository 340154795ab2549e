/** The cause of a failed call, derived from the gateway's answer. Pure. */
import type { ErrorCode } from '../api/errors.ts';

/** The causes; the texts have a sentence and a next step for each. */
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

/** The source of the message. */
export type Voice = 'gateway' | 'vendor' | 'either';

/** A refusal, or a stream that failed. */
export interface Refused {
  /** 0: no answer. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The channel; empty if the gateway itself answered. */
  readonly channel: string;
  /** Empty if missing. */
  readonly requestId: string;
  /** Seconds until a retry, if given. */
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

/** The cause. */
export function causeOf({ status, code, message, channel }: Refused): Cause {
  if (status === 0) return 'network';
  // Vendors may send any code, such as `constructor`, so only own properties count.
  const cause = Object.hasOwn(BY_CODE, code) ? BY_CODE[code as ErrorCode] : undefined;
  if (cause !== undefined && channel === '') return cause;
  // Subscription limits and budgets of keys and departments reset, or an administrator raises them.
  if (code.startsWith('QUOTA_')) return 'window';
  // The gateway's message for a rate-limited vendor begins with this word.
  if (status === 429) return channel !== '' || message.startsWith('The vendor') ? 'busy' : 'limit';
  if (channel !== '') return status >= 500 ? 'vendor' : 'request';
  if (status === 401) return 'key';
  if (/^(upstream_|bad_upstream|no_channel)/.test(code)) return 'vendor';
  return status >= 500 ? 'gateway' : 'request';
}

/** The source of the message. */
export function voiceOf({ code, channel }: Refused): Voice {
  if (channel !== '') return 'vendor';
  // The gateway may have encoded a message of a vendor with another API.
  return code === 'invalid_request_error' || code === 'request_too_large' ? 'either' : 'gateway';
}
