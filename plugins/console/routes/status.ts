/** `GET /api/status`: what anybody may know of this gateway. */
import { createRequire } from 'node:module';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { Ledger } from '../../../core/contracts/ledger.ts';
import { Mail } from '../../../core/contracts/mail.ts';
import { OAuth } from '../../../core/contracts/oauth.ts';
import { Payments } from '../../../core/contracts/payments.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import type { Site } from '../../../core/contracts/site.ts';
import { refuse } from '../../../core/plugin.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { boolean, integer, nothing, number, text, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';

/** Of this gateway. */
export const { version } = createRequire(import.meta.url)('turnpike/package.json') as { readonly version: string };

/** What tools of this family look for and what is the same at every gateway of this kind: there is none of it. */
const ABSENT = {
  announcements_enabled: false,
  api_info_enabled: false,
  chats: [],
  data_export_default_time: 'hour',
  checkin_enabled: false,
  custom_currency_exchange_rate: 1,
  custom_currency_symbol: '',
  default_collapse_sidebar: false,
  default_use_auto_group: false,
  demo_site_enabled: false,
  discord_client_id: '',
  discord_oauth: false,
  docs_link: '',
  enable_batch_update: false,
  enable_data_export: false,
  enable_drawing: false,
  enable_task: false,
  faq_enabled: false,
  footer_html: '',
  linuxdo_client_id: '',
  linuxdo_minimum_trust_level: 0,
  linuxdo_oauth: false,
  logo: '',
  mj_notify_enabled: false,
  privacy_policy_enabled: false,
  self_use_mode_enabled: false,
  HeaderNavModules: '',
  SidebarModulesAdmin: '',
  telegram_bot_name: '',
  telegram_oauth: false,
  theme: 'default',
  turnstile_check: false,
  turnstile_site_key: '',
  uptime_kuma_enabled: false,
  user_agreement_enabled: false,
  wechat_login: false,
  wechat_qrcode: '',
};

/** The rows. */
export function statusRoutes({ host, site }: Tools): readonly ApiRoute[] {
  const startedMs = host.lasting({ name: 'console.started', version: 1, make: () => host.clock.now() });

  /** A text that is nowhere to be set: tools show what it says above what they have to say. */
  const noText = (path: string, summary: string): ApiRoute =>
    route({
      method: 'GET',
      path,
      who: 'visitor',
      summary,
      tag: 'Status',
      answer: { const: '' },
      handle: () => '',
    });

  /** What tools of this family ask for and what is not here: said as such, and not taken for the id of a user. */
  const absent = (method: 'GET' | 'POST', path: string, what: string): ApiRoute =>
    route({
      method,
      path,
      who: 'member',
      summary: `There are no ${what}: 404.`,
      tag: 'Status',
      isAbsent: true,
      answer: nothing,
      handle: () => refuse(coreErrors.not_available(`This gateway has no ${what}.`)),
    });

  return [
    route({
      method: 'GET',
      path: '/api/status',
      who: 'visitor',
      summary: 'What anybody may know of this gateway.',
      tag: 'Status',
      answer: {
        title: 'Status',
        type: 'object',
        required: [
          'quota_per_unit',
          'version',
          'system_name',
          'server_address',
          'register_enabled',
          'invitation_required',
          'email_verification',
          'letters',
          'oauth_providers',
          'passkey_login',
          'passkey_rp_id',
          'passkey_origins',
        ],
        properties: {
          quota_per_unit: { ...integer, description: 'Quota units in one currency unit.' },
          version: text,
          system_name: text,
          start_time: unixSeconds,
          server_address: text,
          register_enabled: boolean,
          password_register_enabled: boolean,
          password_login_enabled: { const: true },
          invitation_required: boolean,
          email_verification: boolean,
          letters: {
            description: 'What becomes of letters: a server sends them, or they stand in the log; or there are none.',
            enum: ['sent', 'logged', 'none'],
          },
          price: { ...number, description: 'Currency for one unit bought, at the first provider of payments; else 1.' },
          stripe_unit_price: { ...number, description: 'The same at stripe, where that is one of them.' },
          setup: { const: true },
          display_in_currency: { const: true },
          quota_display_type: { const: 'USD' },
          usd_exchange_rate: { const: 1 },
          oauth_providers: {
            description: 'What one can sign in with: GET /api/oauth/:name.',
            type: 'array',
            items: { type: 'object', required: ['name', 'label'], properties: { name: text, label: text } },
          },
          github_oauth: boolean,
          github_client_id: text,
          oidc_enabled: boolean,
          oidc_client_id: { ...text, description: 'Of the first that speaks OpenID Connect.' },
          oidc_display_name: text,
          oidc_authorization_endpoint: { const: '' },
          passkey_login: boolean,
          passkey_display_name: text,
          passkey_rp_id: text,
          passkey_origins: { ...text, description: 'With commas between them.' },
          passkey_allow_insecure: boolean,
          passkey_user_verification: { const: 'required' },
          passkey_attachment: { const: '' },
          ...Object.fromEntries(Object.entries(ABSENT).map(([name, value]) => [name, { const: value }])),
        },
      },
      handle() {
        const payments = host.find(Payments);
        return {
          ...ABSENT,
          version,
          start_time: secondsOf(startedMs),
          setup: true,
          quota_per_unit: host.find(Ledger)?.perUnit ?? 500_000,
          display_in_currency: true,
          quota_display_type: 'USD',
          usd_exchange_rate: 1,
          ...pricesOf(payments),
          password_login_enabled: true,
          letters: lettersOf(host.find(Mail)),
          ...signInOf(site, host.find(OAuth), host.find(SecondFactors) !== undefined),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/api/setup',
      who: 'visitor',
      summary: 'Whether the gateway is set up: it always is, the first start makes root.',
      tag: 'Status',
      answer: {
        type: 'object',
        required: ['status', 'root_init', 'database_type'],
        properties: { status: { const: true }, root_init: { const: true }, database_type: { const: 'sqlite' } },
      },
      handle: () => ({ status: true, root_init: true, database_type: 'sqlite' }),
    }),
    absent('GET', '/api/user/aff', 'invitation codes of users; administrators make invitations'),
    absent('GET', '/api/user/checkin', 'check-ins'),
    absent('POST', '/api/user/checkin', 'check-ins'),
    noText('/api/notice', 'The notice of the day: empty.'),
    noText('/api/about', 'About this gateway: empty.'),
    noText('/api/home_page_content', 'What stands on the front page: empty.'),
  ];
}

/** What one unit costs; 1 where nothing is sold. */
function pricesOf(payments: Payments | undefined) {
  const providers = payments?.offer.providers ?? [];
  const sold = providers.flatMap(({ name, price }) =>
    price === undefined ? [] : [{ name, price: Number(price.price) }],
  );
  const first = sold[0]?.price ?? 1;
  return { price: first, stripe_unit_price: sold.find(({ name }) => name === 'stripe')?.price ?? first };
}

function lettersOf(mail: Mail | undefined): 'sent' | 'logged' | 'none' {
  if (mail === undefined) return 'none';
  return mail.delivers ? 'sent' : 'logged';
}

/** How one comes in. */
function signInOf(
  { name, root, secure, registration, emailProof, passkeys, oauth }: Site,
  offered: OAuth | undefined,
  hasPasskeys: boolean,
) {
  const providers = offered?.providers ?? [];
  const github = providers.some((provider) => provider.name === 'github') ? oauth.github : undefined;
  const oidc = providers.find((provider) => oauth[provider.name]?.type === 'oidc');
  const isOpen = registration !== 'closed';
  return {
    system_name: name,
    server_address: root,
    register_enabled: isOpen,
    password_register_enabled: isOpen,
    invitation_required: registration === 'invite',
    email_verification: emailProof,
    github_oauth: github !== undefined,
    github_client_id: github?.id ?? '',
    oidc_enabled: oidc !== undefined,
    oidc_client_id: (oidc && oauth[oidc.name]?.id) ?? '',
    oidc_display_name: oidc?.label ?? '',
    // The console asks /api/oauth/state where to go; nothing is put together in the browser.
    oidc_authorization_endpoint: '',
    oauth_providers: providers.map((provider) => ({ name: provider.name, label: provider.label })),
    passkey_login: hasPasskeys && passkeys.possible,
    passkey_display_name: name,
    passkey_rp_id: passkeys.rpId,
    passkey_origins: passkeys.origins.join(','),
    passkey_allow_insecure: !secure,
    passkey_user_verification: 'required',
    passkey_attachment: '',
  };
}
