/** A vendor's error in the common form of all styles, and what it means for the call. */

import { member } from '../bytes/values.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Json } from '../contracts/formats/json.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';

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

/** Only the start of a message counts: the rest may quote the request, and clients must not control this. */
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

/** The prompt is too long, with the vendor's message. All styles have one code for it, on which clients shorten it. */
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

const CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'model_max_prompt_tokens_exceeded',
  'tokens_limit_reached',
]);

const WORDS = new RegExp(
  [
    'prompt (is )?too long',
    'input is too long',
    'input token count.*(exceeds the maximum|only supports? up to \\d)',
    "exceed(s|ed|ing)? (the |this |your )?(model'?s? )?(available |maximum |max )?context (window|length|size|limit)",
    'context (window|length|size) (exceeds|has been exceeded|exceeded)',
    'context[_ ](length|window)[_ ]exceeded',
    'maximum (context|model|prompt) length (is|of) \\d',
    'too large for model with \\d+ maximum context length',
    'reduce the length of (the|your) (messages|prompt|input)',
    'token count.*exceeds the limit of \\d',
    "(greater|longer) than the (model'?s )?context length",
    'exceeded model token limit',
    'context length is only \\d',
    'configured context size is \\d',
    'input length.*exceeds.*(context length|maximum (allowed )?input length)',
    'prompt exceeds (the )?max(imum)? (context )?length',
    'range of input length should be',
    'tokens in request more than max tokens allowed',
    'total number of tokens in the prompt cannot exceed',
    'too many tokens: size limited to \\d',
    '(input|prompt) tokens? exceeds? the (configured )?(limit|maximum)',
    'number of (input|prompt) tokens.{0,40}(exceeds?|exceeded|cannot exceed)',
    'input length.{0,40}exceeds the max(imum)? (input )?(length|tokens)',
    'total tokens of .{0,40}exceeds? max message tokens',
    '`?inputs`? (tokens \\+ `?max_new_tokens`? must be <=|must have less than) \\d',
    'request body too large for .{1,80} model\\W+max size: \\d+ tokens',
    'prompt (has|contains) \\d+ tokens.{0,60}(limit|maximum|at most)',
  ].join('|'),
  'i',
);

/** The limit is that of the answer, or of tokens per minute: a shorter prompt would not help. */
const OTHER_LIMITS = /max_(completion_|output_)?tokens\W.{0,60}\b(is|are) too (large|high)|tokens per (min|day)/i;

/** Only this many characters of a message are searched. */
const MAX_READ = 1_000;

/** Whether the message says that the prompt is too long for the model. */
export function isContextOverflow({ message, code }: VendorError): boolean {
  if (CODES.has(code.toLowerCase())) return true;
  const words = message.slice(0, MAX_READ);
  return WORDS.test(words) && !OTHER_LIMITS.test(words);
}

const SEALED_CODES: ReadonlySet<string> = new Set(['invalid_encrypted_content', 'previous_response_not_found']);

/** Vendors begin with the place of the reasoning: `messages.1.content.0: Invalid `signature` in `thinking` block`. */
const SEALED_WORDS =
  /^([\w.]+: )?(the )?encrypted content .{0,200}(could not be|did not match)|^([\w.]+: )?invalid `?signature`? in `?thinking`? block/i;

/** Whether the request has reasoning or an id that only the account that made it can read: another account may be that one. */
export function isOfOtherAccount({ message, code }: VendorError): boolean {
  return SEALED_CODES.has(code.toLowerCase()) || SEALED_WORDS.test(message.slice(0, MAX_READ));
}

/** A separate number, not a part of a model's name or a date. */
const NUMBER = /(?<![\w.,-])\d{1,3}(?:,\d{3})+(?![\w-])|(?<![\w.,-])\d{3,}(?![\w-])/g;

/** The tokens of the prompt and the model's maximum, if the message has both. The larger number is the prompt's. */
export function overflowTokens(message: string): { readonly prompt: number; readonly most: number } | undefined {
  const [a, b] = [...message.slice(0, MAX_READ).matchAll(NUMBER)].map(([digits]) => Number(digits.replaceAll(',', '')));
  return a === undefined || b === undefined || a === b ? undefined : { prompt: Math.max(a, b), most: Math.min(a, b) };
}

/** Maximum nesting of errors inside errors as text: one level for each gateway they have passed. */
const MAX_LAYERS = 3;
const MAX_LENGTH = 1_000;

/** The vendor's error; undefined if there is none. The code is that of the innermost error that has one. */
export function refusalIn(body: Buffer): VendorError | undefined {
  let text = body.toString('utf8');
  let error: VendorError | undefined;
  for (let layer = 0; layer <= MAX_LAYERS; layer++) {
    const inner = nestedError(text);
    if (inner === undefined) break;
    error = { message: inner.message, code: inner.code || (error?.code ?? '') };
    text = inner.message;
  }
  return error && { ...error, message: error.message.slice(0, MAX_LENGTH) };
}

function nestedError(text: string): VendorError | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    const message = sentence(value);
    return message === undefined ? undefined : { message, code: codeIn(value) };
  } catch {
    return undefined;
  }
}

function sentence(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return nonEmpty(value);
  // Some vendors wrap the error in an array.
  if (Array.isArray(value)) return sentence(value[0] as Json | undefined);
  if (typeof value !== 'object' || value === null) return undefined;
  const { error, message, detail, msg, loc } = value as { readonly [member: string]: Json };
  return sentence(error) ?? nonEmpty(message) ?? located(nonEmpty(msg), loc) ?? sentence(detail);
}

function codeIn(value: Json | undefined): string {
  if (Array.isArray(value)) return codeIn(value[0] as Json | undefined);
  if (typeof value !== 'object' || value === null) return '';
  const { error, ...around } = value as { readonly [member: string]: Json };
  return codeIn(error) || readVendorError(around).code;
}

function nonEmpty(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** FastAPI servers put the message and the path in `detail`: `["body", "messages", 0, "content"]`. */
function located(words: string | undefined, place: Json | undefined): string | undefined {
  return words !== undefined && Array.isArray(place) ? `${place.join('.')}: ${words}` : words;
}
