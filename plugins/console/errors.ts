/** The errors of `/api` that no service returns: missing permissions and invalid requests. */
import { defineErrors } from '../../core/sdk.ts';

/** By their codes. */
export const errors = defineErrors(
  {
    read_only: {
      status: 400,
      text: (name: string, instead: string) => `\`${name}\` cannot be set by this request. ${instead}`,
      help: 'The member that `param` names cannot be set by this request.',
    },
    limit_wanted: {
      status: 400,
      param: 'remain_quota',
      help: 'The user has no balance that limits the key. Set `remain_quota`, or `unlimited_quota`.',
    },
    webhook_url_wanted: {
      status: 400,
      param: 'webhook_url',
      help: 'Notifications by webhook need a URL (`webhook_url`).',
    },
    invalid_webhook_url: {
      status: 400,
      text: (must: string) => `webhook_url must ${must}.`,
      help: 'The webhook URL must begin with `https://` or `http://`, resolve to a public address, and contain no credentials.',
    },
    invalid_range: { status: 400, help: 'The end of the time range is before its start.' },
    range_too_long: {
      status: 400,
      text: (days: number) => `The range must be at most ${days} days.`,
      help: 'The time range is too long for one response. Shorten it.',
    },
    filter_too_wide: { status: 400, help: 'Too many users or keys match. Narrow the filter.' },
    provider_wanted: {
      status: 400,
      param: 'provider',
      text: 'Select a provider: ?provider=….',
      help: 'Select a provider.',
    },
    oauth_denied: {
      status: 400,
      text: (provider: string, why: string) => `${provider} denied the sign-in (${why}).`,
      help: 'The provider denied the sign-in, or you cancelled it there. Try again, or sign in another way.',
    },
    configuration_wrong: {
      status: 400,
      text: (line: number | undefined, message: string | undefined) =>
        `gateway.yaml was not applied; line ${line}: ${message}`,
      help: '`gateway.yaml` has errors, which `problems` lists. The running configuration is unchanged.',
    },
    configuration_conflict: {
      status: 409,
      text: (by: string | undefined) =>
        `The configuration was changed ${by === undefined ? 'outside the console' : `by ${by}`} in the meantime. Reload it and try again.`,
      help: 'The configuration was changed in the meantime; `last` says by whom and when. Reload it and try again.',
    },
    configuration_unwritable: {
      status: 409,
      text: (why: string) => `The configuration cannot be saved: ${why}.`,
      help: 'The gateway cannot write `gateway.yaml`. Make the file and its folder writable for its user, or change it there.',
    },
    editor_off: {
      status: 403,
      help: 'The configuration cannot be changed here: `configuration.editor` is false in gateway.yaml.',
    },
    models_not_listed: {
      status: 502,
      text: (why: string) => `The vendor did not list its models: ${why}.`,
      help: 'The vendor has no list of models, or did not return it. Enter the names of the models.',
    },
    secret_not_found: { status: 404, param: 'name', help: 'The secret does not exist.' },
    report_not_found: { status: 404, help: 'There is no report, or nothing to hand out. Import first.' },
    secret_used: {
      status: 409,
      param: 'name',
      text: (name: string, places: readonly string[]) =>
        `The configuration uses the secret ${name}: ${places.join(', ')}. Remove it there first.`,
      help: 'The configuration uses this secret; `used_in` has the places. Remove it there first.',
    },
    version_not_found: { status: 404, help: 'The version does not exist, or is not kept any more.' },
    session_wanted: { status: 401, help: 'This action needs a session; an access token is not enough. Sign in again.' },
    access_token_wanted: {
      status: 401,
      help: 'An API key was sent instead of an access token. Send an access token, or sign in.',
    },
    wrong_credentials: { status: 401, help: 'The name or password is incorrect, or the account is disabled.' },
    sign_in_expired: { status: 401, help: 'This sign-in has expired, or had too many attempts. Start again.' },
    scope_insufficient: {
      status: 403,
      text: (scope: string) => `This request needs a service token with the scope "${scope}".`,
      help: 'The service token does not have the scope of this request.',
    },
    person_wanted: {
      status: 403,
      help: 'A service token cannot do this. Sign in: only a person may change passwords, second factors, service tokens, and the own account.',
    },
    role_insufficient: { status: 403, help: 'Your role does not allow this.' },
    root_protected: { status: 403, help: 'This is not allowed on the root account.' },
    verification_required: {
      status: 403,
      text: 'This requires a verification within the last five minutes: POST /api/verify with a second factor, or with the password if the account has no second factor.',
      help: 'Confirm with your second factor first. If you have none, set one up under Security.',
    },
    second_factor_wanted: {
      status: 403,
      param: 'method',
      help: 'The account has a second factor. Confirm with it, not with the password.',
    },
    cross_site: {
      status: 403,
      help: 'The request was refused as cross-site. Open the console at the address in `console.url` of gateway.yaml, or correct that setting.',
    },
    registration_closed: {
      status: 403,
      help: 'Registration is off. If you have an account here, sign in; you can link an OAuth account under Security.',
    },
    invitation_wanted: {
      status: 403,
      param: 'invite_code',
      help: 'This invitation is missing, used or expired. Ask an administrator for a new one.',
    },
    invitation_for_another: {
      status: 403,
      text: (invited: string, verified: string) => `This invitation is for ${invited}, not for ${verified}.`,
      help: 'The invitation is for another email address. Sign in with the OAuth account of the invited address, or choose a name and a password.',
    },
    email_wanted: { status: 403, help: 'A new account needs a verified email address.' },
    wrong_password: { status: 403, help: 'The password is incorrect.' },
    reset_refused: {
      status: 403,
      param: 'token',
      help: 'This link is used, expired or for another email address. Request another one.',
    },
    session_not_found: { status: 404, help: 'The session does not exist, or has already ended.' },
    member_not_found: { status: 404, param: 'user_id', help: 'The user is not a member of this department.' },
    subscription_not_found: {
      status: 404,
      param: 'user_id',
      text: (name: string) => `"${name}" has no subscription.`,
      help: 'The user has no subscription.',
    },
    binding_not_found: { status: 404, help: 'No account of this provider is linked.' },
    invitation_not_found: { status: 404, help: 'The invitation does not exist, or was used, revoked or has expired.' },
    invitation_outdated: {
      status: 409,
      param: 'invite_code',
      help: 'The department, plan or role of this invitation is not available any more, or the administrator who made it may not invite any more. Ask for a new one.',
    },
    invoice_not_found: {
      status: 404,
      param: 'trade_no',
      help: 'There is no invoice: the order does not exist, belongs to another user, is not paid, or was paid from the balance.',
    },
    call_not_found: {
      status: 404,
      param: 'request_id',
      help: 'The request does not exist, belongs to another user, or is older than the retention period.',
    },
    no_password: {
      status: 409,
      param: 'method',
      help: 'The account has no password. Set up a second factor within five minutes after a sign-in.',
    },
    role_unchanged: {
      status: 409,
      text: (name: string) => `"${name}" already has this role.`,
      help: 'The user already has this role.',
    },
    invalid_idempotency_key: {
      status: 400,
      help: '`Idempotency-Key` must have 1 to 255 printable ASCII characters.',
    },
    idempotency_key_reused: {
      status: 422,
      help: 'This `Idempotency-Key` was used for another request within the last 24 hours. Use a new one for each request, and the same one only to repeat it.',
    },
    request_running: {
      status: 409,
      headers: { 'retry-after': '1' },
      help: 'A request with this `Idempotency-Key` is still running. Repeat it in a moment to get its answer.',
    },
    answer_not_kept: {
      status: 409,
      help: 'The request with this `Idempotency-Key` was carried out, at least in part, but its answer was not kept. Read the records that it concerns.',
    },
    precondition_failed: {
      status: 412,
      help: 'The record was changed since its `ETag` was read. Read it again, and repeat the change.',
    },
    no_backups_configured: {
      status: 409,
      help: 'No scheduled backups are configured. Add the section `backup` to gateway.yaml.',
    },
  },
  'api',
);
