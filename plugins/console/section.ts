/** The section `console` of gateway.yaml. */
import { isIP } from 'node:net';
import type { Site } from '../../core/contracts/site.ts';
import { type Accepted, typed } from '../../core/plugin.ts';
import { duration, durationMs, settings } from '../../core/sdk.ts';
import { text } from './format/schemas.ts';

/** Its schema. */
export const consoleSection = typed({
  type: 'object',
  additionalProperties: false,
  properties: {
    url: {
      description:
        'The URL of this gateway in browsers, including the path below which a proxy serves it. Links in emails and OAuth redirects use it.',
      type: 'string',
      title: 'URL without user and query',
      pattern: '^https?://[^/?#@\\s]+(/[A-Za-z0-9._~-]+)*/?$',
      format: 'uri',
      examples: ['https://turnpike.example.com'],
      default: 'http://localhost:8080',
    },
    name: {
      description: 'The name of this gateway in emails, authenticator apps and the console.',
      type: 'string',
      minLength: 1,
      maxLength: 50,
      default: 'Turnpike',
    },
    session: settings('Session lifetime: the maximum in days, and the maximum without activity.', {
      days: { type: 'integer', minimum: 1, maximum: 365, default: 30 },
      idle: { ...duration, default: '24h' },
    }),
    accessToken: settings('Lifetime of a personal access token in days.', {
      days: { type: 'integer', minimum: 1, maximum: 365, default: 90 },
    }),
    invitations: settings('Default lifetime of an invitation in days.', {
      days: { type: 'integer', minimum: 1, maximum: 365, default: 7 },
    }),
    registration: {
      description:
        'Who can register: any visitor, users with an invitation code, or no visitor. Users who were invited by email always can.',
      enum: ['open', 'invite', 'closed'],
      default: 'closed',
    },
    emailProof: {
      description: 'A new account needs a verified email address.',
      type: 'boolean',
      default: false,
    },
    oauth: {
      description:
        'OAuth providers by name, which is also part of their paths. `github` is built in; the others are OIDC issuers.',
      type: 'object',
      propertyNames: { pattern: '^[a-z][a-z0-9-]{0,30}$' },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          type: { enum: ['github', 'oidc'] },
          id: { ...text, default: '' },
          secret: { ...text, default: '' },
          issuer: { ...text, pattern: '^https?://' },
          label: { ...text, minLength: 1, maxLength: 50 },
        },
      },
      default: {},
    },
    passkeys: settings('The relying party domain of passkeys; default: the host of `url`.', {
      rpId: { ...text, minLength: 1 },
    }),
    limits: settings(
      'Limits per address: wrong passwords within 20 minutes (beyond them, one every 15 seconds), new accounts within 20 minutes, emails within 10 minutes, requests within one minute.',
      {
        signIn: { type: 'integer', minimum: 1, default: 20 },
        mail: { type: 'integer', minimum: 1, default: 5 },
        requests: { type: 'integer', minimum: 1, default: 600 },
      },
    ),
  },
  default: {},
});

/** The section as a service, for other plugins. */
export function siteOf(section: Accepted<typeof consoleSection>): Site {
  const url = new URL(section.url);
  const rpId = section.passkeys.rpId ?? url.hostname;
  const oauth = Object.entries(section.oauth).map(([name, given]) => {
    const type = given.type ?? (name === 'github' ? 'github' : 'oidc');
    const { id, secret, issuer, label } = given;
    return [name, { type, id, secret, issuer, label }] as const;
  });
  return {
    origin: url.origin,
    root: `${url.origin}${url.pathname.replace(/\/$/, '')}`,
    secure: url.protocol === 'https:',
    name: section.name,
    session: { idleMs: durationMs(section.session.idle), longestMs: section.session.days * 86_400_000 },
    accessToken: { longestMs: section.accessToken.days * 86_400_000 },
    invitations: { forMs: section.invitations.days * 86_400_000 },
    registration: section.registration,
    emailProof: section.emailProof,
    local: /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname),
    passkeys: { rpId, origins: [url.origin], possible: isIP(rpId.replace(/^\[|\]$/g, '')) === 0 },
    oauth: Object.fromEntries(oauth),
  };
}
