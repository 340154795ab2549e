/** The errors of core, and those that several plugins return: one code has one meaning, wherever it comes from. */
import { defineErrors, type GatewayError } from './gateway-error.ts';

/** Retrying does not help. */
const NO_RETRY = { 'x-should-retry': 'false' };
const IN_ONE_SECOND = { 'retry-after': '1', 'retry-after-ms': '1000' };
const IN_TWO_SECONDS = { 'retry-after': '2', 'retry-after-ms': '2000' };

/** Statuses by which a vendor refuses an invalid request. */
const ABOUT_THE_REQUEST = [400, 404, 409, 413, 415, 422];

/** The message that is given, or a usual one that is not `help`. */
const givenOr =
  (usual: string) =>
  (message = usual): string =>
    message;

/** Errors of calls. */
const ofCalls = defineErrors({
  bad_request: { status: 400, help: 'The request is not well-formed HTTP.' },
  duplicate_header: {
    status: 400,
    text: (name: string) => `The header ${name} must not be sent twice.`,
    help: 'A header was sent twice, and two parsers could read it differently. `param` names it. Send it once.',
  },
  invalid_host: {
    status: 400,
    param: 'host',
    help: 'The `Host` header is missing, or is not one host name or address.',
  },
  invalid_content_length: {
    status: 400,
    param: 'content-length',
    help: '`Content-Length` is not a whole number of bytes.',
  },
  invalid_transfer_encoding: {
    status: 400,
    help: '`Transfer-Encoding` must be exactly `chunked`, without a `Content-Length`.',
  },
  unexpected_body: {
    status: 400,
    text: (method: string) => `A ${method} request must not have a body.`,
    help: 'A request with this method must not have a body.',
  },
  invalid_path: {
    status: 400,
    text: givenOr('The request target must be a plain absolute path such as /v1/chat/completions.'),
    help: 'The path is not in plain form: send it without `..`, double slashes or encoded slashes.',
  },
  invalid_json: { status: 400, help: 'The body is not one JSON object in UTF-8, or is nested too deeply.' },
  invalid_request_error: {
    status: ABOUT_THE_REQUEST,
    help: 'A field of the request, which `param` names, is missing or invalid; or a vendor with another API refused the request, with this status.',
  },
  unsupported_parameter: {
    status: 400,
    help: 'The field that `param` names is valid, but the vendor of this model does not support it, and without it the answer would be different. Leave it out, or use another model.',
  },
  translation_refused: {
    status: 400,
    text: (warnings: readonly string[]) =>
      `The vendor of this model does not support parts of this request, and the model or the key is \`strict\`: ${warnings.join(', ')}. Leave them out, or use another model.`,
    help: 'The model or the key is `strict`, and the vendor’s API cannot express what the message names. Leave it out, or use another model.',
  },
  media_not_fetched: {
    status: 400,
    help: 'The URL of an image or file does not resolve to a public address, or could not be fetched. `param` names the field.',
  },
  context_length_exceeded: {
    status: 400,
    help: 'The prompt does not fit into the context window of the model. Shorten it.',
  },
  invalid_api_key: {
    status: 401,
    headers: { 'www-authenticate': 'Bearer', ...NO_RETRY },
    help: 'The API key is missing, malformed or unknown. Send `Authorization: Bearer sk-…`.',
  },
  account_disabled: { status: 403, help: 'The account is disabled. Ask an administrator.' },
  model_not_allowed: {
    status: 403,
    param: 'model',
    headers: NO_RETRY,
    text: (key: string, what: string) => `The key "${key}" may not use ${what}.`,
    help: 'The key, or its group, may not use this model.',
  },
  not_found: { status: 404, help: 'This path does not exist.' },
  model_not_found: {
    status: 404,
    param: 'model',
    help: 'The model does not exist, or does not support this API. `GET /v1/models` lists the models.',
  },
  method_not_allowed: {
    status: 405,
    help: 'The path does not support this method; the header `allow` lists those that it does.',
  },
  request_timeout: { status: 408, help: 'The request did not arrive in time. Try again.' },
  length_required: { status: 411, help: 'The request has no body. Send one with a `Content-Length` or in chunks.' },
  request_too_large: { status: 413, help: 'The request is larger than allowed (`listen.body`).' },
  uri_too_long: {
    status: 414,
    text: (most: number) => `The address is longer than ${most} characters.`,
    help: 'The URL is too long.',
  },
  unsupported_media_type: {
    status: 415,
    param: 'content-type',
    help: 'Send the body as JSON in UTF-8, or as a multipart body if the endpoint accepts files.',
  },
  unsupported_content_encoding: {
    status: 415,
    param: 'content-encoding',
    text: (supported: string) => `The body may be compressed by one of: ${supported}. Or send it without compression.`,
    help: 'The body is compressed in a way that is not supported, or more than once. The header `accept-encoding` names what is: gzip, deflate and br, and zstd from Node 24 on.',
  },
  expectation_failed: {
    status: 417,
    param: 'expect',
    help: 'The only `Expect` header that is supported is `100-continue`.',
  },
  rate_limit_exceeded: {
    status: 429,
    help: 'Too many requests: a rate limit is reached, or all vendors of the model are at theirs. Try again later; `retry-after` says when.',
  },
  concurrency_limit_exceeded: {
    status: 429,
    headers: IN_ONE_SECOND,
    help: 'Too many requests are running at the same time. Try again when one has ended.',
  },
  headers_too_large: { status: 431, help: 'The headers are larger than 16 KiB.' },
  too_many_headers: {
    status: 431,
    text: (most: number) => `A request may have at most ${most} headers.`,
    help: 'The request has too many headers.',
  },
  internal_error: {
    status: 500,
    text: givenOr('Internal error of the gateway. Its log has the details under the request id.'),
    help: 'Internal error of the gateway. Try again; the log of the gateway has the details under the request id.',
  },
  upstream_unreachable: { status: 502, help: 'The vendor could not be reached. Try again later.' },
  upstream_error: {
    status: 502,
    text: givenOr('The vendor returned an error.'),
    help: 'The vendor returned an error: try again later. Or the gateway’s account at the vendor cannot be used: the message says so, and only an administrator can help.',
  },
  bad_upstream_response: {
    status: 502,
    text: givenOr('The vendor returned an invalid answer.'),
    help: 'The vendor returned an invalid answer. Try again later.',
  },
  upstream_broke_off: {
    status: 502,
    text: (reason: string) => `The answer broke off: ${reason}.`,
    help: 'The vendor’s answer is incomplete. Streams of chat and messages are cut without an error event: clients then repeat the request, as they do if the vendor itself cuts them.',
  },
  upstream_overloaded: {
    status: [503, 529],
    text: givenOr('The vendor is overloaded. Try again later.'),
    help: 'The vendor is overloaded. Try again later; `retry-after` says when, if the vendor does.',
  },
  no_channel: {
    status: 503,
    text: givenOr('No channel for this model is available now.'),
    help: 'No channel of this model is enabled.',
  },
  overloaded: {
    status: 503,
    headers: IN_ONE_SECOND,
    help: 'Running requests use all memory allowed for bodies (`listen.body.inFlight`), or the rate limits cannot be checked right now. Try again after `retry-after`.',
  },
  storage_unavailable: {
    status: 503,
    headers: IN_TWO_SECONDS,
    help: 'The gateway cannot write to its database right now. Try again later.',
  },
  spool_unavailable: {
    status: 503,
    text: (code: string) => `The gateway cannot store the uploaded files right now${code}. Try again later.`,
    headers: IN_TWO_SECONDS,
    help: 'The gateway cannot store the uploaded files right now. Try again later.',
  },
  shutting_down: {
    status: 503,
    text: givenOr('The gateway is starting or stopping. Try again.'),
    headers: { ...IN_TWO_SECONDS, 'x-should-retry': 'true' },
    help: 'The gateway is starting or stopping. Try again.',
  },
  upstream_timeout: {
    status: 504,
    text: givenOr('The vendor did not answer in time.'),
    help: 'The vendor did not answer in time. Try again later.',
  },
  http_version_not_supported: { status: 505, help: 'Send HTTP/1.1.' },
});

/** Errors of passthrough routes and of protocol upgrades. */
const ofRequests = defineErrors(
  {
    body_not_signable: {
      status: 400,
      help: 'The vendor of this passthrough route signs the bodies of requests: only requests without a body can be sent.',
    },
    upgrade_not_served: {
      status: 426,
      param: 'upgrade',
      headers: { upgrade: 'HTTP/1.1' },
      text: 'This path does not support WebSocket or another upgrade. Send the request over plain HTTP/1.1.',
      help: 'The path does not support WebSocket or another upgrade. Send the request over plain HTTP/1.1.',
    },
    upstream_refused: {
      status: ABOUT_THE_REQUEST,
      text: (status: number) => `The vendor refused the websocket (status ${status}).`,
      help: 'The vendor refused the WebSocket; the status is the vendor’s.',
    },
  },
  'request',
);

const CONFLICT = 'Conflict: it was changed by another request. Reload and try again.';

/** Errors of `/api` that more than one plugin returns. */
const ofApi = defineErrors(
  {
    invalid_name: {
      status: 400,
      param: 'name',
      text: (longest: number) => `A name must have 1 to ${longest} visible characters.`,
      help: 'The name is empty, too long, or has invisible characters.',
    },
    invalid_group: {
      status: 400,
      param: 'group',
      text: (group: string, hint: string) => `There is no group "${group}"${hint}`,
      help: 'The section `groups` of the configuration has no such group. Omit it: the key then uses the group of its user.',
    },
    group_not_allowed: {
      status: 403,
      param: 'group',
      help: 'You may not choose this group for a key, or an administrator has set the group of the key.',
    },
    invalid_amount: { status: 400, help: 'The amount is not in the allowed range.' },
    invalid_plan: { status: 400, param: 'plan', help: 'This plan is not for sale, or cannot be paid this way.' },
    invalid_ratio: { status: 400, help: 'The price factor has more than six decimals, or is above a thousand.' },
    unknown_parameter: {
      status: 400,
      text: (name: string, hint: string) => `\`${name}\` is not a parameter of this request.${hint}`,
      help: 'The query has a parameter that this request does not support; ignoring it would return other data.',
    },
    oauth_state: { status: 400, help: 'This sign-in was not started in this browser, or has expired. Start again.' },
    not_signed_in: {
      status: 401,
      text: givenOr('Sign in first: POST /api/user/login.'),
      help: 'Your session has ended. Sign in again.',
    },
    invalid_access_token: { status: 401, help: 'The access token is unknown or has expired. Create another one.' },
    wrong_code: {
      status: 403,
      param: 'code',
      help: 'This code is incorrect, expired or already used. Each code works once.',
    },
    account_not_found: {
      status: 404,
      text: (idOrName?: number | string) =>
        idOrName === undefined
          ? 'There is no such account.'
          : `There is no account ${typeof idOrName === 'number' ? idOrName : `called "${idOrName}"`}.`,
      help: 'The account does not exist.',
    },
    key_not_found: {
      status: 404,
      text: (id?: number | string) => (id === undefined ? 'You have no such key.' : `There is no key ${id}.`),
      help: 'The key does not exist, or belongs to another user.',
    },
    service_token_not_found: { status: 404, help: 'The service token does not exist, or was revoked or has expired.' },
    order_not_found: {
      status: 404,
      text: (tradeNo?: string) => (tradeNo === undefined ? 'You have no such order.' : `There is no order ${tradeNo}.`),
      help: 'The order does not exist, or belongs to another user.',
    },
    code_not_found: {
      status: 404,
      text: (id: number | string) => `There is no redemption code ${id}.`,
      help: 'The redemption code does not exist.',
    },
    department_not_found: {
      status: 404,
      text: (id?: number) => `There is no ${id === undefined ? 'such department' : `department ${id}`}.`,
      help: 'The department does not exist.',
    },
    not_available: {
      status: 404,
      help: 'This feature is not enabled on this gateway: its plugin is not in the pipeline, or it is not configured.',
    },
    conflict: { status: 409, help: CONFLICT },
    name_taken: { status: 409, param: 'name', help: 'This name is already in use. Choose another one.' },
    email_taken: {
      status: 409,
      param: 'email',
      help: 'An account with this email address exists. Sign in to it, or use another address.',
    },
    identity_taken: { status: 409, help: 'This OAuth account is already linked to another user.' },
    ticket_used: { status: 409, help: 'The invitation or code was just used by another request. Start again.' },
    no_second_factor: { status: 409, help: 'The account has no second factor.' },
    unlimited: { status: 409, help: 'The account is unlimited: it has no balance to set or credit.' },
    other_plan_runs: { status: 409, help: 'Another plan is still active. Wait until it ends, or cancel it first.' },
    no_room: { status: 409, help: 'The amount is more than an account can have.' },
  },
  'api',
);

/** Errors that only commands report. */
const ofCommands = defineErrors(
  {
    backup_unusable: { status: 400, help: 'The file is not a complete backup, or is in use.' },
    file_exists: { status: 409, help: 'A file of this name exists. Move it away first.' },
  },
  'command',
);

/** All of them, by their codes. */
export const coreErrors = { ...ofCalls, ...ofRequests, ...ofApi, ...ofCommands };

/** A field is missing or invalid; `should` ends the sentence that begins with its name: `must be text`. */
export function invalidField(param: string, should: string): GatewayError {
  return coreErrors.invalid_request_error(`\`${param}\` ${should}.`).with({ param });
}

/** A list was not written because of one step: the error whose code is its `must`, otherwise a conflict (409). */
export function notWritten(must: string): GatewayError {
  const { identity_taken, ticket_used, other_plan_runs, no_room, conflict } = coreErrors;
  const made = Object.entries({ identity_taken, ticket_used, other_plan_runs, no_room }).find(
    ([code]) => code === must,
  );
  return (made?.[1] ?? conflict)();
}
