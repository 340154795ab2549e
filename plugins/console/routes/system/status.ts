/** `GET /api/status`: public information about this gateway. */

import { createRequire } from 'node:module';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import { Ledger } from '../../../../core/contracts/ledger.ts';
import { Mail } from '../../../../core/contracts/mail.ts';
import { OAuth } from '../../../../core/contracts/oauth.ts';
import { Payments } from '../../../../core/contracts/payments.ts';
import { SecondFactors } from '../../../../core/contracts/second-factors.ts';
import type { Site } from '../../../../core/contracts/site.ts';
import { refuse } from '../../../../core/plugin.ts';
import { boolean, constants, integer, list, nothing, number, object, text, unixSeconds } from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';
import { type ApiRoute, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Status');

export const { version } = createRequire(import.meta.url)('../../../../package.json') as { readonly version: string };

/** Constant members that API clients expect, most for features that do not exist. */
const CONSTANT = {
  password_login_enabled: true,
  setup: true,
  display_in_currency: true,
  quota_display_type: 'USD',
  usd_exchange_rate: 1,
  passkey_user_verification: 'required',
  passkey_attachment: '',
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

export function statusRoutes({ host, site }: Tools): readonly ApiRoute[] {
  const startedMs = host.lasting({ name: 'console.started', version: 1, make: () => host.clock.now() });

  /** A route for a text that cannot be configured; clients show it if it is not empty. */
  const noText = (path: string, summary: string): ApiRoute =>
    route('visitor', 'GET', path, {
      summary,
      answer: { const: '' },
      handle: () => '',
    });

  /** A route for a feature that does not exist; otherwise its path would be parsed as a user id. */
  const absent = (method: 'GET' | 'POST', path: string, what: string): ApiRoute =>
    route('member', method, path, {
      summary: `Always 404: there are no ${what}.`,
      isAbsent: true,
      answer: nothing,
      handle: () => refuse(coreErrors.not_available(`This gateway has no ${what}.`)),
    });

  return [
    route('visitor', 'GET', '/api/status', {
      summary: 'Returns public information about this gateway.',
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
          invitation_required: boolean,
          email_verification: boolean,
          letters: {
            description: 'How emails are delivered: by a mail server, or only written to the log; or not at all.',
            enum: ['sent', 'logged', 'none'],
          },
          price: { ...number, description: 'Price of one unit at the first payment provider; otherwise 1.' },
          stripe_unit_price: { ...number, description: 'The same at stripe, if it is configured.' },
          oauth_providers: {
            ...list({ name: text, label: text }),
            description: 'The OAuth providers: GET /api/oauth/:name.',
          },
          github_oauth: boolean,
          github_client_id: text,
          oidc_enabled: boolean,
          oidc_client_id: { ...text, description: 'Of the first OIDC provider.' },
          oidc_display_name: text,
          oidc_authorization_endpoint: { const: '' },
          passkey_login: boolean,
          passkey_display_name: text,
          passkey_rp_id: text,
          passkey_origins: { ...text, description: 'Separated by commas.' },
          passkey_allow_insecure: boolean,
          ...constants(CONSTANT),
        },
      },
      handle() {
        const payments = host.find(Payments);
        return {
          ...CONSTANT,
          version,
          start_time: secondsOf(startedMs),
          quota_per_unit: host.find(Ledger)?.perUnit ?? 500_000,
          ...pricesOf(payments),
          letters: mailDeliveryOf(host.find(Mail)),
          ...signInOf(site, host.find(OAuth), host.find(SecondFactors) !== undefined),
        };
      },
    }),
    route('visitor', 'GET', '/api/setup', {
      summary: 'Returns whether the gateway is set up: always true, because the first start creates root.',
      answer: object({ status: { const: true }, root_init: { const: true }, database_type: { const: 'sqlite' } }),
      handle: () => ({ status: true, root_init: true, database_type: 'sqlite' }),
    }),
    absent('GET', '/api/user/aff', 'invitation codes of users; administrators make invitations'),
    absent('GET', '/api/user/checkin', 'check-ins'),
    absent('POST', '/api/user/checkin', 'check-ins'),
    noText('/api/notice', 'Returns the announcement: always empty.'),
    noText('/api/about', 'Returns the about page: always empty.'),
    noText('/api/home_page_content', 'Returns the home page: always empty.'),
  ];
}

/** The price of one unit; 1 without payments. */
function pricesOf(payments: Payments | undefined) {
  const providers = payments?.offer.providers ?? [];
  const sold = providers.flatMap(({ name, price }) =>
    price === undefined ? [] : [{ name, price: Number(price.price) }],
  );
  const first = sold[0]?.price ?? 1;
  return { price: first, stripe_unit_price: sold.find(({ name }) => name === 'stripe')?.price ?? first };
}

function mailDeliveryOf(mail: Mail | undefined): 'sent' | 'logged' | 'none' {
  if (mail === undefined) return 'none';
  return mail.delivers ? 'sent' : 'logged';
}

/** The sign-in and registration methods. */
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
    // Clients get the URL from /api/oauth/state; they do not build it.
    oidc_authorization_endpoint: '',
    oauth_providers: providers.map((provider) => ({ name: provider.name, label: provider.label })),
    passkey_login: hasPasskeys && passkeys.possible,
    passkey_display_name: name,
    passkey_rp_id: passkeys.rpId,
    passkey_origins: passkeys.origins.join(','),
    passkey_allow_insecure: !secure,
  };
}
