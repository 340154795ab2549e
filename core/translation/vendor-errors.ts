/** A vendor's error in the common form of all styles, and what it means for the call. */
import { coreErrors } from '../contracts/errors.ts';
import type { Json } from '../contracts/json.ts';
import type { GatewayError } from '../errors.ts';
import { isContextOverflow } from './context-overflow.ts';
import { member } from './values.ts';

/** An error of a vendor: message and code; the code may be empty. */
export interface VendorError {
  readonly message: string;
  readonly code: string;
}

/** From an unvalidated message and code. */
export function vendorError(message: Json | undefined, code: Json | undefined): VendorError {
  return {
    message:
      typeof message === 'string' && message !== '' ? message : 'The vendor reported an error without a message.',
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : '',
  };
}

/** From an error that is an object, or only a text. A textual code is preferred to a number. */
export function readVendorError(error: Json | undefined): VendorError {
  if (typeof error === 'string') return vendorError(error, undefined);
  const codes = [member(error, 'code'), member(error, 'type'), member(error, 'status')];
  const inWords = codes.find((code) => typeof code === 'string' && /[a-z]/i.test(code));
  return vendorError(member(error, 'message'), inWords ?? codes.find((code) => code !== undefined && code !== null));
}

/**
 * The meaning of an error regardless of its status. `overflow`: the prompt exceeds the model's context window.
 * `unpaid`: the operator's account at the vendor cannot pay. `limited`: the operator's rate limit is reached.
 * `overloaded`: the vendor is overloaded.
 */
export type Fault = 'overflow' | 'unpaid' | 'limited' | 'overloaded';

const UNPAID_CODES: ReadonlySet<string> = new Set([
  ...['insufficient_quota', 'insufficient_balance', 'insufficient_credits', 'insufficient_user_quota'],
  ...['billing_error', 'billing_hard_limit_reached', 'billing_not_active', 'exceeded_current_quota_error'],
  ...['account_deactivated', 'arrearage'],
]);

/**
 * Only the start of a message is matched: later parts may quote the request, and a client must not control how a
 * refusal is classified.
 */
const UNPAID_WORDS = new RegExp(
  [
    'your credit balance is too low',
    'insufficient (account |user )?(balance|credits?|funds)\\b',
    'you have reached your specified \\S* ?usage limits',
    'your (team|account|organization|project) \\S+ has either used all available credits',
    'your \\w+ credits are depleted',
    'your account is not active, please check your billing',
    'access denied, please make sure your account is in good standing',
    'this organization has been disabled',
    '(账户)?余额不足',
    '(您的)?账户已欠费',
  ]
    .map((words) => `^(error: )?${words}`)
    .join('|'),
  'i',
);

const LIMITED_CODES: ReadonlySet<string> = new Set([
  ...['rate_limit_error', 'rate_limit_exceeded', 'rate_limit_reached_error', 'resource_exhausted'],
  ...['too_many_requests', '429'],
]);

const OVERLOADED_CODES: ReadonlySet<string> = new Set([
  ...['overloaded', 'overloaded_error', 'engine_overloaded', 'engine_overloaded_error', 'server_overloaded'],
  ...['server_is_overloaded', 'service_unavailable', 'service_unavailable_error', 'unavailable', '503', '529'],
]);

/** Whether the operator's account at the vendor cannot pay for the call. */
export function isUnpaid({ message, code }: VendorError): boolean {
  return UNPAID_CODES.has(code.toLowerCase()) || UNPAID_WORDS.test(message);
}

/** The meaning of an error inside an answer or a stream, without its own status; undefined: the vendor failed. */
export function faultOf(error: VendorError): Fault | undefined {
  if (isUnpaid(error)) return 'unpaid';
  if (isContextOverflow(error)) return 'overflow';
  const code = error.code.toLowerCase();
  if (LIMITED_CODES.has(code)) return 'limited';
  return OVERLOADED_CODES.has(code) ? 'overloaded' : undefined;
}

/**
 * The prompt is too long, with the vendor's message. All styles use the same code, on which clients shorten the prompt.
 */
export function overflowError(message: string): GatewayError {
  return coreErrors.context_length_exceeded(withoutAccounts(message));
}

/** The vendor is overloaded. `status`: the client style's status for that. */
export function overloadedError(status: number, headers: Readonly<Record<string, string>> = {}): GatewayError {
  return coreErrors.upstream_overloaded().with({ status, headers });
}

/** The client's error in the middle of a stream. */
export function streamError(error: VendorError, overloadedStatus = 503): GatewayError {
  switch (faultOf(error)) {
    case 'overflow':
      return overflowError(error.message);
    case 'unpaid':
      return coreErrors.upstream_error();
    case 'limited':
      return coreErrors.rate_limit_exceeded(withoutAccounts(error.message));
    case 'overloaded':
      return coreErrors.upstream_overloaded(withoutAccounts(error.message)).with({ status: overloadedStatus });
    default:
      return coreErrors.upstream_error(withoutAccounts(error.message));
  }
}

/** Vendors name the operator's account in messages, which clients need not know. */
const ACCOUNT_IDS = /\b(org|organization|proj|project|acct|account|user)[-_][A-Za-z0-9]{6,}/g;

/** A vendor's message without the names of the operator's accounts. */
export function withoutAccounts(message: string): string {
  return message.replaceAll(ACCOUNT_IDS, '$1-…');
}
