/** The codes of all errors, and what each means. Made by `npm run errors` from the tables of core and the plugins. */
// biome-ignore-all lint: made by a script

/** The meaning and the remedy of each error, in English. */
export const HELP = {
  bad_request: 'The request is not well-formed HTTP.',
  duplicate_header: 'A header was sent twice, and two parsers could read it differently. param names it. Send it once.',
  invalid_host: 'The Host header is missing, or is not one host name or address.',
  invalid_content_length: 'Content-Length is not a whole number of bytes.',
  invalid_transfer_encoding: 'Transfer-Encoding must be exactly chunked, without a Content-Length.',
  unexpected_body: 'A request with this method must not have a body.',
  invalid_path: 'The path is not in plain form: send it without .., double slashes or encoded slashes.',
  invalid_json: 'The body is not one JSON object in UTF-8, or is nested too deeply.',
  invalid_request_error:
    'A field of the request, which param names, is missing or invalid; or a vendor with another API refused the request, with this status.',
  unsupported_parameter:
    'The field that param names is valid, but the vendor of this model does not support it, and without it the answer would be different. Leave it out, or use another model.',
  translation_refused:
    'The model or the key is strict, and the vendor’s API cannot express what the message names. Leave it out, or use another model.',
  media_not_fetched:
    'The URL of an image or file does not resolve to a public address, or could not be fetched. param names the field.',
  context_length_exceeded: 'The prompt does not fit into the context window of the model. Shorten it.',
  body_not_signable:
    'The vendor of this passthrough route signs the bodies of requests: only requests without a body can be sent.',
  upstream_refused: 'The vendor refused the WebSocket; the status is the vendor’s.',
  invalid_name: 'The name is empty, too long, or has invisible characters.',
  invalid_group:
    'The section groups of the configuration has no such group. Omit it: the key then uses the group of its user.',
  invalid_amount: 'The amount is not in the allowed range.',
  invalid_plan: 'This plan is not for sale, or cannot be paid this way.',
  invalid_ratio: 'The price factor has more than six decimals, or is above a thousand.',
  unknown_parameter:
    'The query has a parameter that this request does not support; ignoring it would return other data.',
  oauth_state: 'This sign-in was not started in this browser, or has expired. Start again.',
  invalid_email: 'This is not an email address, for example ann@example.com.',
  invalid_password: 'The password is too short or too long.',
  common_password: 'This password is too common. Choose another one.',
  invalid_token_addresses:
    'The list is empty, or has an entry that is neither an IP address nor a network. Omit it to accept the token from every address.',
  read_only: 'The member that param names cannot be set by this request.',
  limit_wanted: 'The user has no balance that limits the key. Set remain_quota, or unlimited_quota.',
  webhook_url_wanted: 'Notifications by webhook need a URL (webhook_url).',
  invalid_webhook_url:
    'The webhook URL must begin with https:// or http://, resolve to a public address, and contain no credentials.',
  invalid_range: 'The end of the time range is before its start.',
  range_too_long: 'The time range is too long for one response. Shorten it.',
  filter_too_wide: 'Too many users or keys match. Narrow the filter.',
  provider_wanted: 'Select a provider.',
  oauth_denied: 'The provider denied the sign-in, or you cancelled it there. Try again, or sign in another way.',
  configuration_wrong: 'gateway.yaml has errors, which problems lists. The running configuration is unchanged.',
  invalid_idempotency_key: 'Idempotency-Key must have 1 to 255 printable ASCII characters.',
  department_circle: 'A department cannot be placed below itself.',
  department_too_deep: 'Departments can be nested ten levels deep.',
  import_source_refused:
    'The source is neither a database URL nor an uploaded file. Files of the gateway’s machine are imported with turnpike import.',
  invalid_models: 'The list of models is empty, or names a model that does not exist. Omit it to allow every model.',
  invalid_addresses:
    'The list is empty, or has an entry that is neither an IP address nor a network. Omit it to allow every address.',
  invalid_limits:
    'A limit of the key limits nothing, has an amount out of range, or is for the same models as another one.',
  limits_off: 'The plugin that would enforce this limit is not in the pipeline.',
  oauth_code: 'The provider did not accept this sign-in. Start again.',
  invalid_method: 'This payment method does not exist.',
  invalid_product: 'This product does not exist. Choose one of the products.',
  invalid_url: 'The return address is not a page of this console.',
  invalid_code: 'The redemption code is incorrect, used, disabled or expired.',
  invalid_form: 'The multipart body is malformed: it has no boundary, no end, or a part without a name.',
  conversation_too_long:
    'The conversation is too long to be continued by its id. Start a new conversation with the messages that are still needed.',
  invalid_api_key: 'The API key is missing, malformed or unknown. Send Authorization: Bearer sk-….',
  not_signed_in: 'Your session has ended. Sign in again.',
  invalid_access_token: 'The access token is unknown or has expired. Create another one.',
  key_disabled: 'The API key is disabled. Enable it, or use another one.',
  key_expired: 'The API key has expired. Use another one.',
  session_wanted: 'This action needs a session; an access token is not enough. Sign in again.',
  access_token_wanted: 'An API key was sent instead of an access token. Send an access token, or sign in.',
  wrong_credentials: 'The name or password is incorrect, or the account is disabled.',
  sign_in_expired: 'This sign-in has expired, or had too many attempts. Start again.',
  metrics_not_allowed:
    '/metrics requires its token (metrics.token); without one, it answers direct local requests only.',
  tool_not_priced: 'A tool that the vendor runs has no price for this model (perUse). Send the request without it.',
  service_not_priced: 'The service tier has no price for this model (service). Send the request without it.',
  model_not_priced: 'The model has no price, or none for calls of this kind. Ask an administrator to add one.',
  account_disabled: 'The account is disabled. Ask an administrator.',
  model_not_allowed: 'The key, or its group, may not use this model.',
  group_not_allowed: 'You may not choose this group for a key, or an administrator has set the group of the key.',
  wrong_code: 'This code is incorrect, expired or already used. Each code works once.',
  address_not_allowed: 'The service token is not accepted from this IP address.',
  editor_off: 'The configuration cannot be changed here: configuration.editor is false in gateway.yaml.',
  scope_insufficient: 'The service token does not have the scope of this request.',
  person_wanted:
    'A service token cannot do this. Sign in: only a person may change passwords, second factors, service tokens, and the own account.',
  role_insufficient: 'Your role does not allow this.',
  root_protected: 'This is not allowed on the root account.',
  verification_required: 'Confirm with your second factor first. If you have none, set one up under Security.',
  second_factor_wanted: 'The account has a second factor. Confirm with it, not with the password.',
  cross_site:
    'The request was refused as cross-site. Open the console at the address in console.url of gateway.yaml, or correct that setting.',
  registration_closed:
    'Registration is off. If you have an account here, sign in; you can link an OAuth account under Security.',
  invitation_wanted: 'This invitation is missing, used or expired. Ask an administrator for a new one.',
  invitation_for_another:
    'The invitation is for another email address. Sign in with the OAuth account of the invited address, or choose a name and a password.',
  email_wanted: 'A new account needs a verified email address.',
  wrong_password: 'The password is incorrect.',
  reset_refused: 'This link is used, expired or for another email address. Request another one.',
  group_not_found: 'The group of the key, or of its account, is not in the configuration. Ask an administrator.',
  content_refused:
    'The request or the answer has content that a rule of this gateway does not allow; the message names the rule.',
  ip_not_allowed: 'The key may not be used from this IP address.',
  QUOTA_MONTHLY_DAILY_EXCEEDED:
    'The daily limit of the plan has too little left for this call; the message says when it resets.',
  QUOTA_MONTHLY_WEEKLY_EXCEEDED:
    'The weekly limit of the plan has too little left for this call; the message says when it resets.',
  QUOTA_MONTHLY_EXCEEDED:
    'The 30-day limit of the plan has too little left for this call; the message says when it resets.',
  QUOTA_SUBSCRIPTION_EXPIRED: 'The plan has expired. Renew it, or have it cancelled to pay from the balance.',
  content_not_allowed: 'You may not read this prompt and answer.',
  QUOTA_USER_INSUFFICIENT:
    'The balance of the account is too low for this call. Top up, or request fewer output tokens.',
  QUOTA_TOKEN_INSUFFICIENT: 'The quota of the key is too low for this call. Raise it, or request fewer output tokens.',
  QUOTA_TOKEN_PERIOD_EXCEEDED:
    'A daily, weekly or monthly budget of the key has too little left for this call; the message says when it resets.',
  QUOTA_DEPARTMENT_EXCEEDED:
    'A budget of the department has too little left for this call. Ask an administrator to raise it.',
  QUOTA_HOLD_EXCEEDED:
    'The answer was cut off because it costs more than could be reserved for it. Top up, or request fewer output tokens.',
  department_disabled: 'The department is disabled; its members cannot make calls.',
  passkey_refused: 'The passkey was not accepted. Start again.',
  not_found: 'This path does not exist.',
  model_not_found: 'The model does not exist, or does not support this API. GET /v1/models lists the models.',
  account_not_found: 'The account does not exist.',
  key_not_found: 'The key does not exist, or belongs to another user.',
  service_token_not_found: 'The service token does not exist, or was revoked or has expired.',
  order_not_found: 'The order does not exist, or belongs to another user.',
  code_not_found: 'The redemption code does not exist.',
  department_not_found: 'The department does not exist.',
  not_available:
    'This feature is not enabled on this gateway: its plugin is not in the pipeline, or it is not configured.',
  secret_not_found: 'The secret does not exist.',
  report_not_found: 'There is no report, or nothing to hand out. Import first.',
  version_not_found: 'The version does not exist, or is not kept any more.',
  session_not_found: 'The session does not exist, or has already ended.',
  member_not_found: 'The user is not a member of this department.',
  subscription_not_found: 'The user has no subscription.',
  binding_not_found: 'No account of this provider is linked.',
  invitation_not_found: 'The invitation does not exist, or was used, revoked or has expired.',
  invoice_not_found:
    'There is no invoice: the order does not exist, belongs to another user, is not paid, or was paid from the balance.',
  call_not_found: 'The request does not exist, belongs to another user, or is older than the retention period.',
  channel_not_found: 'The channel does not exist.',
  provider_not_found: 'This sign-in provider is not configured.',
  plan_not_found: 'The plan does not exist.',
  content_not_found: 'The prompt and the answer of this call are not stored, or are older than the retention period.',
  previous_response_not_found:
    'The account has no such response, or it is no longer stored. Send the whole conversation in input.',
  response_not_found: 'The account has no such response, or it is no longer stored.',
  method_not_allowed: 'The path does not support this method; the header allow lists those that it does.',
  request_timeout: 'The request did not arrive in time. Try again.',
  conflict: 'Conflict: it was changed by another request. Reload and try again.',
  name_taken: 'This name is already in use. Choose another one.',
  email_taken: 'An account with this email address exists. Sign in to it, or use another address.',
  identity_taken: 'This OAuth account is already linked to another user.',
  ticket_used: 'The invitation or code was just used by another request. Start again.',
  no_second_factor: 'The account has no second factor.',
  unlimited: 'The account is unlimited: it has no balance to set or credit.',
  other_plan_runs: 'Another plan is still active. Wait until it ends, or cancel it first.',
  no_room: 'The amount is more than an account can have.',
  too_many_service_tokens: 'The account has too many service tokens. Revoke one that is not used any more.',
  last_root: 'The last root account cannot be deleted, disabled or demoted.',
  configuration_conflict:
    'The configuration was changed in the meantime; last says by whom and when. Reload it and try again.',
  configuration_unwritable:
    'The gateway cannot write gateway.yaml. Make the file and its folder writable for its user, or change it there.',
  secret_used: 'The configuration uses this secret; used_in has the places. Remove it there first.',
  invitation_outdated:
    'The department, plan or role of this invitation is not available any more, or the administrator who made it may not invite any more. Ask for a new one.',
  no_password: 'The account has no password. Set up a second factor within five minutes after a sign-in.',
  role_unchanged: 'The user already has this role.',
  request_running: 'A request with this Idempotency-Key is still running. Repeat it in a moment to get its answer.',
  answer_not_kept:
    'The request with this Idempotency-Key was carried out, at least in part, but its answer was not kept. Read the records that it concerns.',
  no_backups_configured: 'No scheduled backups are configured. Add the section backup to gateway.yaml.',
  department_not_empty: 'The department has members or departments. Move or delete them first.',
  no_budget: 'The department has no budget to raise. Set one first.',
  import_running: 'Another import is running. Wait for its end.',
  upload_out_of_order:
    'The part does not continue the uploaded file, or the file is on another gateway. Upload it again.',
  too_many_keys: 'An account can have a thousand keys. Delete one that is not used any more.',
  models_not_added: 'The models cannot be added to the configuration. The message has the reason.',
  provider_bound: 'Another account of this provider is already linked. Unlink it first.',
  last_login_method: 'This is the only way to sign in to this account. Set a password or add a passkey first.',
  code_used: 'The redemption code was used and cannot be changed.',
  insufficient_balance: 'The balance is too low. Top up first.',
  order_completed: 'The order is already complete.',
  order_returned: 'The order was refunded or disputed.',
  order_cannot_be_given: 'The ordered item cannot be delivered; the message has the reason.',
  price_list_changed: 'The published price list has changed since it was compared. Compare it again.',
  lease_not_returned: 'A process of the gateway does not answer. Try again in a few seconds.',
  no_setup: 'This setup has expired. Start it again.',
  two_factor_enabled: 'Two-factor sign-in is already enabled. Disable it first.',
  passkey_taken: 'This passkey belongs to another account.',
  passkey_exists: 'The account already has a passkey. Remove it first.',
  no_passkey: 'The account has no passkey.',
  length_required: 'The request has no body. Send one with a Content-Length or in chunks.',
  precondition_failed: 'The record was changed since its ETag was read. Read it again, and repeat the change.',
  request_too_large: 'The request is larger than allowed (listen.body).',
  upload_too_large: 'The uploaded file is too large. Copy it to the gateway’s machine and use turnpike import.',
  uri_too_long: 'The URL is too long.',
  unsupported_media_type: 'Send the body as JSON in UTF-8, or as a multipart body if the endpoint accepts files.',
  unsupported_content_encoding:
    'The body is compressed in a way that is not supported, or more than once. The header accept-encoding names what is: gzip, deflate and br, and zstd from Node 24 on.',
  expectation_failed: 'The only Expect header that is supported is 100-continue.',
  idempotency_key_reused:
    'This Idempotency-Key was used for another request within the last 24 hours. Use a new one for each request, and the same one only to repeat it.',
  upgrade_not_served: 'The path does not support WebSocket or another upgrade. Send the request over plain HTTP/1.1.',
  rate_limit_exceeded:
    'Too many requests: a rate limit is reached, or all vendors of the model are at theirs. Try again later; retry-after says when.',
  concurrency_limit_exceeded: 'Too many requests are running at the same time. Try again when one has ended.',
  codes_locked: 'Too many incorrect codes. Try again later; retry-after says when.',
  headers_too_large: 'The headers are larger than 16 KiB.',
  too_many_headers: 'The request has too many headers.',
  internal_error:
    'Internal error of the gateway. Try again; the log of the gateway has the details under the request id.',
  api_not_implemented: '/v1/images/variations is not implemented. To change an image, use /v1/images/edits.',
  upstream_unreachable: 'The vendor could not be reached. Try again later.',
  upstream_error:
    'The vendor returned an error: try again later. Or the gateway’s account at the vendor cannot be used: the message says so, and only an administrator can help.',
  bad_upstream_response: 'The vendor returned an invalid answer. Try again later.',
  upstream_broke_off:
    'The vendor’s answer is incomplete. Streams of chat and messages are cut without an error event: clients then repeat the request, as they do if the vendor itself cuts them.',
  models_not_listed: 'The vendor has no list of models, or did not return it. Enter the names of the models.',
  oauth_provider_failed: 'The provider could not be reached, or returned an error. Try again later.',
  payment_provider_failed: 'The payment provider could not be reached, or returned an error. Try again later.',
  price_list_refused: 'The published price list could not be read, or is implausible. Current prices stay as they are.',
  upstream_overloaded: 'The vendor is overloaded. Try again later; retry-after says when, if the vendor does.',
  no_channel: 'No channel of this model is enabled.',
  overloaded:
    'Running requests use all memory allowed for bodies (listen.body.inFlight), or the rate limits cannot be checked right now. Try again after retry-after.',
  storage_unavailable: 'The gateway cannot write to its database right now. Try again later.',
  spool_unavailable: 'The gateway cannot store the uploaded files right now. Try again later.',
  shutting_down: 'The gateway is starting or stopping. Try again.',
  upstream_timeout: 'The vendor did not answer in time. Try again later.',
  http_version_not_supported: 'Send HTTP/1.1.',
} as const;

/** The code of an error. */
export type ErrorCode = keyof typeof HELP;
