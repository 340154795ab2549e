/**
 * Settings of LiteLLM, of config.yaml and of the table `LiteLLM_Config`: what has a section here is taken over, everything else is listed by
 * its name. Environment variables of the configuration are sealed in the database. Facts: BerriAI/litellm 1.110.2, litellm/proxy/utils.py
 * (`send_email`), litellm/proxy/management_endpoints/ui_sso.py, litellm/proxy/_types.py (`ConfigGeneralSettings`).
 */
import { type ForeignLink, type Note, Secret, type Setting } from '../inventory.ts';
import { asObject, asTexts, type Row, textOf } from '../values.ts';

/** The settings of both places, in LiteLLM's own parts. */
export interface Settings {
  readonly general: Row;
  readonly router: Row;
  readonly litellm: Row;
  readonly variables: ReadonlyMap<string, string>;
  /** `LiteLLM_SSOConfig`, by the names of its fields. */
  readonly sso: Row;
  /** Other parts, by name. */
  readonly others: Row;
}

/** What settings become. */
export interface FoundSettings {
  readonly sections: Readonly<Record<string, Setting>>;
  /** The provider in `console.oauth` whose identifiers of users are those that LiteLLM stores; undefined: there is none. */
  readonly identityProvider: Pick<ForeignLink, 'provider' | 'issuer'> | undefined;
  /** The only addresses that calls may come from; undefined: all. */
  readonly addresses: readonly string[] | undefined;
  readonly notes: readonly Note[];
}

/** Settings that are read here or by another function. */
const READ = {
  router: new Set(['model_group_alias', 'fallbacks', 'default_fallbacks', 'routing_strategy', 'num_retries']),
  litellm: new Set([
    ...['fallbacks', 'default_fallbacks', 'model_alias_map', 'num_retries'],
    ...['cost_discount_config', 'cost_margin_config'],
  ]),
  general: new Set(['allowed_ips', 'alerting']),
};
const OF_ITSELF = 'a setting of its own database or log';
const OF_PROCESSES = 'several processes of this gateway share their counters by the section `counters`';
/** Why others are not here, or what to do. */
const REASONS: Readonly<Record<string, string>> = {
  'general_settings.master_key': 'it is not imported: create a key for its clients',
  'general_settings.database_url': 'import the database, too',
  'general_settings.pass_through_endpoints': 'write a channel and its passthrough route (section `passthrough`)',
  'general_settings.max_parallel_requests': 'the section `limits` has limits of all keys',
  'general_settings.global_max_parallel_requests': 'the section `limits` has limits of the gateway',
  'general_settings.alerting_threshold': 'the section `alerts` sets which alerts are sent',
  'general_settings.enforce_user_param': 'requests without `user` are accepted here',
  'router_settings.context_window_fallbacks':
    'a model has one list of fallbacks here, which are tried when its channels fail',
  'router_settings.content_policy_fallbacks':
    'a model has one list of fallbacks here, which are tried when its channels fail',
  'litellm_settings.context_window_fallbacks':
    'a model has one list of fallbacks here, which are tried when its channels fail',
  'litellm_settings.content_policy_fallbacks':
    'a model has one list of fallbacks here, which are tried when its channels fail',
  'router_settings.timeout': 'a channel has its own `timeout`',
  'litellm_settings.request_timeout': 'a channel has its own `timeout`',
  'litellm_settings.personal_key_model_access_from_teams':
    'keys of users call the models of their own lists here, also those that no team of the user has: give them lists of models',
  'litellm_settings.max_budget':
    'a budget of the whole gateway sends an alert (`alerts.budget.gateway`), and refuses no calls',
  'litellm_settings.budget_duration':
    'a budget of the whole gateway sends an alert (`alerts.budget.gateway`), and refuses no calls',
  'litellm_settings.cache': 'the section `cache` sets which answers are stored',
  'litellm_settings.callbacks': 'the sections `events` and `telemetry` send usage to other services',
  'litellm_settings.success_callback': 'the sections `events` and `telemetry` send usage to other services',
  'litellm_settings.failure_callback': 'the sections `events` and `telemetry` send usage to other services',
  'general_settings.store_model_in_db': OF_ITSELF,
  'general_settings.proxy_batch_write_at': OF_ITSELF,
  'general_settings.encryption_algorithm': OF_ITSELF,
  'litellm_settings.set_verbose': OF_ITSELF,
  'litellm_settings.json_logs': OF_ITSELF,
  'litellm_settings.drop_params': 'parameters that a model does not accept are always left out here, with a warning',
  'router_settings.redis_host': OF_PROCESSES,
  'router_settings.redis_port': OF_PROCESSES,
  'router_settings.redis_password': OF_PROCESSES,
  'router_settings.redis_url': OF_PROCESSES,
  guardrails: 'the section `guard` has rules for requests: write them there',
  mcp_servers: 'MCP servers are not supported',
  search_tools: 'search tools are not supported',
  team_settings: 'settings of a team are not supported',
  vector_store_registry: 'vector stores are not supported',
};
const ELSE = 'there is no such setting; look for it in the README of the plugin that it is about';
/** Settings that a decision is needed about, because calls would be answered otherwise. */
const DECIDE =
  /^(?:guardrails|general_settings\.(?:master_key|pass_through_endpoints)|litellm_settings\.(?:(?:default_)?max_budget|personal_key_model_access_from_teams))/;

/** Variables that name a service which has a section here. */
const SMTP = [
  'SMTP_HOST',
  'SMTP_PORT',
  'SMTP_USERNAME',
  'SMTP_PASSWORD',
  'SMTP_SENDER_EMAIL',
  'SMTP_TLS',
  'SMTP_USE_SSL',
];
const GOOGLE = 'https://accounts.google.com';
const SIGN_IN = /^(?:GOOGLE|MICROSOFT|GENERIC)_|^PROXY_BASE_URL$/;

/** Reads them. `used`: variables that deployments read. */
export function readSettings(settings: Settings, used: ReadonlySet<string>): FoundSettings {
  const notes: Note[] = [];
  const sections: Record<string, Setting> = {};
  const { general, router, litellm, variables, others } = settings;
  const mail = mailOf(variables);
  if (mail !== undefined) sections.mail = mail;
  const oauth = oauthOf(settings, notes);
  if (Object.keys(oauth).length > 0) sections.console = { oauth };
  const slack = variables.get('SLACK_WEBHOOK_URL');
  if (slack !== undefined && asTexts(general.alerting).includes('slack'))
    sections.alerts = { to: [{ slack: new Secret('SLACK_WEBHOOK_URL', slack) }] };
  const told = asTexts(general.alerting).filter((each) => each !== 'slack' || slack === undefined);
  if (told.length > 0)
    leave('general_settings.alerting', `${told.join(', ')}: the section \`alerts\` says who is told`);
  const retries = Number(textOf(router, 'num_retries') ?? textOf(litellm, 'num_retries'));
  if (Number.isInteger(retries) && retries >= 0 && retries < 10) sections.listen = { attempts: { max: retries + 1 } };
  const strategy = textOf(router, 'routing_strategy');
  if (strategy !== undefined && strategy !== 'simple-shuffle') {
    const why = `${strategy}: a key keeps to one of the channels with the same priority here, and other keys to others`;
    notes.push({ kind: 'changed', where: 'router_settings.routing_strategy', what: 'routing_strategy', why });
  }
  for (const [part, values, read] of [
    ['general_settings', general, READ.general],
    ['router_settings', router, READ.router],
    ['litellm_settings', litellm, READ.litellm],
  ] as const) {
    for (const name of Object.keys(values)) if (!read.has(name)) leave(`${part}.${name}`);
  }
  for (const name of Object.keys(others)) leave(name);
  for (const name of variables.keys()) {
    const isRead =
      used.has(name) ||
      SMTP.includes(name) ||
      SIGN_IN.test(name) ||
      (name === 'SLACK_WEBHOOK_URL' && slack !== undefined);
    if (!isRead) leave(`environment_variables.${name}`, 'no imported channel reads it');
  }
  const allowed = asTexts(general.allowed_ips);
  return {
    sections,
    identityProvider: 'google' in oauth ? { provider: 'google', issuer: GOOGLE } : undefined,
    addresses: allowed.length === 0 ? undefined : allowed,
    notes,
  };

  function leave(name: string, why = REASONS[name] ?? ELSE): void {
    notes.push({ kind: DECIDE.test(name) ? 'decide' : 'left', where: name, what: name, why });
  }
}

/** `SMTP_TLS` is true if it is not set: the connection begins without, and is secured (STARTTLS). */
function mailOf(variables: ReadonlyMap<string, string>): Setting | undefined {
  const host = variables.get('SMTP_HOST');
  const from = variables.get('SMTP_SENDER_EMAIL');
  if (host === undefined || from === undefined) return undefined;
  const isTls = variables.get('SMTP_USE_SSL')?.toLowerCase() === 'true';
  const [user, password] = [variables.get('SMTP_USERNAME'), variables.get('SMTP_PASSWORD')];
  const who = user === undefined ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}@`;
  const url = `${isTls ? 'smtps' : 'smtp'}://${who}${host}:${variables.get('SMTP_PORT') ?? '587'}`;
  return { smtp: new Secret('SMTP_URL', url), from };
}

/** The providers that have discovery. */
function oauthOf({ variables, sso }: Settings, notes: Note[]): Record<string, Setting> {
  const of = (name: string): string | undefined => textOf(sso, name.toLowerCase()) ?? variables.get(name);
  const oauth: Record<string, Setting> = {};
  const add = (name: string, issuer: string, id: string): void => {
    const secret = new Secret(`${name.toUpperCase()}_CLIENT_SECRET`, of(`${name.toUpperCase()}_CLIENT_SECRET`) ?? '');
    oauth[name] = { type: 'oidc', issuer, id, secret };
    const why = 'sign-in was taken over: enter the new redirect URL at the provider';
    notes.push({ kind: 'decide', where: 'console.oauth', what: name, why });
  };
  const google = of('GOOGLE_CLIENT_ID');
  if (google !== undefined) add('google', GOOGLE, google);
  const microsoft = of('MICROSOFT_CLIENT_ID');
  if (microsoft !== undefined)
    add('microsoft', `https://login.microsoftonline.com/${of('MICROSOFT_TENANT') ?? 'common'}/v2.0`, microsoft);
  if (of('GENERIC_CLIENT_ID') !== undefined) {
    const why = `the provider at ${of('GENERIC_AUTHORIZATION_ENDPOINT') ?? '?'} is named by its endpoints; here it needs its issuer: write it in \`console.oauth\``;
    notes.push({ kind: 'decide', where: 'console.oauth', what: 'generic', why });
  }
  return oauth;
}

/** Two settings of one part: those of the database come before those of the file, as there. */
export function merged(file: unknown, database: unknown): Row {
  return { ...asObject(file), ...asObject(database) };
}
