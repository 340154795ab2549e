/** The settings that users change with `PUT /api/user/setting`. */

import { isIP } from 'node:net';
import type { Person } from '../../../../core/contracts/accounts.ts';
import { BUDGET_EMAILS } from '../../../../core/contracts/alerts.ts';
import type { Json, JsonObject, Vault } from '../../../../core/plugin.ts';
import { isPublicAddress } from '../../../../core/sdk.ts';
import { errors } from '../../errors.ts';
import { NOTHING_MEANT, type ReadOnly, readOnly, readOnlyProperties, refuseOthers } from '../../format/read-only.ts';
import { type Accepted, bodyOf, EMAIL_PATTERN } from '../../format/schemas.ts';

/** Members that consoles store. */
export const keptProperties = {
  language: {
    description: 'The language of emails: Chinese if it begins with `zh`, otherwise English.',
    type: 'string',
    maxLength: 35,
  },
  sidebar_modules: { description: 'JSON text of the client.', type: 'string', maxLength: 20_000 },
} as const;

/** Settings of similar gateways that this one does not have. */
const NOT_HERE: ReadOnly = {
  ...readOnly(
    'Set notify_type to one notification method: email or webhook.',
    'bark_url',
    'gotify_url',
    'gotify_token',
  ),
  accept_unset_model_ratio_model: 'A model without a price is not served.',
  upstream_model_update_notify_enabled: 'Models are configured in gateway.yaml.',
};

export const settingsForm = bodyOf([], {
  notify_type: { description: 'How notifications are sent.', enum: ['email', 'webhook'] },
  quota_warning_threshold: {
    description: 'Quota units; a notification is sent when the balance falls below it. Null: none is sent.',
    type: ['number', 'null'],
    exclusiveMinimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  },
  webhook_url: {
    description: 'A URL that begins with https:// or http://. Empty or null removes it.',
    type: ['string', 'null'],
    maxLength: 2_000,
  },
  webhook_secret: {
    description: 'Signs webhook notifications. Empty: unchanged; null removes it. Never returned.',
    type: ['string', 'null'],
    maxLength: 500,
  },
  notification_email: {
    description: "Used instead of the account's email address. Empty or null removes it.",
    type: ['string', 'null'],
    maxLength: 254,
    pattern: `^$|${EMAIL_PATTERN}`,
  },
  budget_emails: {
    description:
      'Whether you get an email when budgets of your keys or your plan are nearly used; needs the plugin `alerts`.',
    type: 'boolean',
  },
  record_ip_log: { description: 'Whether your own log contains IP addresses.', type: 'boolean' },
  ...keptProperties,
  ...readOnlyProperties(NOT_HERE),
  gotify_priority: { description: 'Part of gotify_url; ignored without it.' },
});

/** The form; absent members stay unchanged. */
type SettingsForm = Accepted<typeof settingsForm>;

/** The vault context of a user's webhook secret. */
const placeOfSecret = (id: number): string => `account.webhook_secret ${id}`;

/** The changes of a user's settings. Refuses (400) contradictions. */
export function settingsOf(form: SettingsForm, person: Person, vault: Vault): JsonObject {
  refuseOthers(form, {}, NOT_HERE, NOTHING_MEANT);
  const { notify_type, quota_warning_threshold, webhook_url, webhook_secret, notification_email } = form;
  const { record_ip_log, budget_emails, language, sidebar_modules } = form;
  const given: Record<string, Json | undefined> = {
    notify_type,
    quota_warning_threshold,
    webhook_url: webhook_url === '' ? null : webhook_url,
    notification_email: notification_email === '' ? null : notification_email,
    webhook_secret: webhook_secret ? vault.seal(placeOfSecret(person.id), webhook_secret) : webhook_secret,
    record_ip_log,
    [BUDGET_EMAILS]: budget_emails,
    language,
    sidebar_modules,
  };
  if (webhook_secret === '') delete given.webhook_secret;
  if (typeof given.webhook_url === 'string') checkUrl(given.webhook_url);
  const changes = Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
  const after: JsonObject = { ...person.settings, ...changes };
  if (after.notify_type === 'webhook' && typeof after.webhook_url !== 'string') {
    throw errors.webhook_url_wanted();
  }
  return changes;
}

/** Private addresses and reserved names are refused here; other names are resolved and checked before each notification. */
function isLocalHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return !host.includes('.') || /(^|\.)(localhost|local|internal|home\.arpa)$/i.test(host);
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const param = 'webhook_url';
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw errors.invalid_webhook_url('begin with https:// or http://').with({ param });
  }
  if (url.username !== '' || url.password !== '') {
    throw errors.invalid_webhook_url('not contain a user name or a password').with({ param });
  }
  if (isLocalHost(url.hostname)) {
    throw errors.invalid_webhook_url('resolve to a public address').with({ param });
  }
}
