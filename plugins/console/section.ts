/** The section `console` of gateway.yaml. */
import { isIP } from 'node:net';
import type { OAuthSettings, Site } from '../../core/contracts/site.ts';
import { schema } from '../../core/plugin.ts';
import { duration, durationMs } from '../../core/sdk.ts';
import { text } from './schemas.ts';

interface ConsoleSection {
  readonly url: string;
  readonly name: string;
  readonly session: { readonly days: number; readonly idle: string };
  readonly accessToken: { readonly days: number };
  readonly registration: Site['registration'];
  readonly emailProof: boolean;
  readonly oauth: Readonly<Record<string, Partial<OAuthSettings>>>;
  readonly passkeys: { readonly rpId?: string };
  /** Attempts an address has. */
  readonly limits: { readonly signIn: number; readonly mail: number; readonly requests: number };
}

/** Its schema. */
export const consoleSection = schema<ConsoleSection>({
  type: 'object',
  additionalProperties: false,
  properties: {
    url: {
      description:
        'Where people reach this gateway with a browser, the path that a proxy has put it below included: links in mails and sign-ins elsewhere lead there.',
      type: 'string',
      title: 'URL without user and query',
      pattern: '^https?://[^/?#@\\s]+(/[A-Za-z0-9._~-]+)*/?$',
      format: 'uri',
      examples: ['https://turnpike.example.com'],
      default: 'http://localhost:8080',
    },
    name: {
      description: 'What mails, authenticators and the console call this gateway.',
      type: 'string',
      minLength: 1,
      maxLength: 50,
      default: 'Turnpike',
    },
    session: {
      description: 'How long somebody stays signed in: so many days at the longest, and unused for so long.',
      type: 'object',
      additionalProperties: false,
      properties: {
        days: { type: 'integer', minimum: 1, maximum: 365, default: 30 },
        idle: { ...duration, default: '24h' },
      },
      default: {},
    },
    accessToken: {
      description: 'How many days a personal access token works.',
      type: 'object',
      additionalProperties: false,
      properties: { days: { type: 'integer', minimum: 1, maximum: 365, default: 90 } },
      default: {},
    },
    registration: {
      description: 'Who may make an account: anybody, whoever has an invitation, nobody.',
      enum: ['open', 'invite', 'closed'],
      default: 'closed',
    },
    emailProof: {
      description: 'A new account needs an e-mail address that is proven.',
      type: 'boolean',
      default: false,
    },
    oauth: {
      description:
        'Sign-in with an account elsewhere, by the word in its paths. `github` is known; others name an OIDC issuer.',
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
    passkeys: {
      description: 'The domain that passkeys are for; else that of `url`.',
      type: 'object',
      additionalProperties: false,
      properties: { rpId: { ...text, minLength: 1 } },
      default: {},
    },
    limits: {
      description:
        'How many wrong passwords one address may send within 20 minutes (beyond them, one every 15 seconds) and how many accounts make; how many mails it may have sent within 10; how many requests it may make within one.',
      type: 'object',
      additionalProperties: false,
      properties: {
        signIn: { type: 'integer', minimum: 1, default: 20 },
        mail: { type: 'integer', minimum: 1, default: 5 },
        requests: { type: 'integer', minimum: 1, default: 600 },
      },
      default: {},
    },
  },
  default: {},
});

/** What it says, for everybody. */
export function siteOf(section: ConsoleSection): Site {
  const url = new URL(section.url);
  const rpId = section.passkeys.rpId ?? url.hostname;
  const oauth = Object.entries(section.oauth).map(([name, given]) => {
    const type = given.type ?? (name === 'github' ? 'github' : 'oidc');
    const { id = '', secret = '', issuer, label } = given;
    return [name, { type, id, secret, issuer, label }] as const;
  });
  return {
    origin: url.origin,
    root: `${url.origin}${url.pathname.replace(/\/$/, '')}`,
    secure: url.protocol === 'https:',
    name: section.name,
    session: { idleMs: durationMs(section.session.idle), longestMs: section.session.days * 86_400_000 },
    accessToken: { longestMs: section.accessToken.days * 86_400_000 },
    registration: section.registration,
    emailProof: section.emailProof,
    local: /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname),
    passkeys: { rpId, origins: [url.origin], possible: isIP(rpId.replace(/^\[|\]$/g, '')) === 0 },
    oauth: Object.fromEntries(oauth),
  };
}
