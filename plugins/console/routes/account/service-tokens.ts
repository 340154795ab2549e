/** Service tokens, with which machines use `/api`: made by administrators with a second factor. */

import { coreErrors } from '../../../../core/contracts/errors.ts';
import type { ServiceToken } from '../../../../core/contracts/identity.ts';
import { SERVICE_SCOPES, SERVICE_TOKEN_MOST, ServiceTokens } from '../../../../core/contracts/service-tokens.ts';
import { shownToken } from '../../../../core/contracts/shown.ts';
import { errors } from '../../errors.ts';
import { bodyOf, integer, nothing, record, text, unixSeconds } from '../../format/schemas.ts';
import { DAY_MS } from '../../format/units.ts';
import { createNames, type Names } from '../../records/people/names.ts';
import { type ApiRoute, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Service tokens');

const scopes = { type: 'array', items: { enum: SERVICE_SCOPES } } as const;
const addresses = { type: 'array', items: { type: 'string', maxLength: 64 } } as const;
const properties = {
  id: integer,
  name: text,
  status: { enum: ['valid', 'expired', 'revoked'] },
  suffix: { ...text, description: 'The last four characters of its secret.' },
  scopes,
  addresses: {
    ...addresses,
    description: 'Addresses and networks (10.0.0.0/8) from which it is accepted; empty: any.',
  },
  made_by: integer,
  made_by_name: text,
  created_at: unixSeconds,
  expires_at: unixSeconds,
  used_at: { ...integer, description: 'The last use, to the minute, in Unix seconds; 0: never.' },
  used_ip: text,
  revoked_at: { ...integer, description: 'Unix seconds; 0: not.' },
} as const;

const newToken = bodyOf(['name', 'scopes'], {
  name: { type: 'string', maxLength: 200 },
  scopes: { ...scopes, minItems: 1, uniqueItems: true, description: '`write` includes `read`.' },
  expires_days: { type: 'integer', minimum: 1, maximum: SERVICE_TOKEN_MOST.days, default: 90 },
  addresses: {
    ...addresses,
    maxItems: SERVICE_TOKEN_MOST.addresses,
    description: 'Addresses and networks (10.0.0.0/8) from which it is accepted. Default: any.',
  },
});

export function serviceTokenRoutes({ host, verification, audited }: Tools): readonly ApiRoute[] {
  const tokens = host.use(ServiceTokens);
  const now = (): number => host.clock.now();

  return [
    route('admin', 'GET', '/api/service-token/', {
      summary: 'Lists your service tokens, newest first; for root, those of all administrators. Without their secrets.',
      answer: { type: 'array', items: record('ServiceToken', properties) },
      async handle({ account }) {
        const names = createNames(host);
        const found = await tokens.list(account.role === 'root' ? undefined : account.id);
        return Promise.all(found.map((token) => shown(token, names, now())));
      },
    }),
    route('admin', 'POST', '/api/service-token/', {
      verified: true,
      sessionOnly: true,
      errors: [
        'no_second_factor',
        'role_insufficient',
        'invalid_name',
        'invalid_token_addresses',
        'too_many_service_tokens',
      ],
      summary:
        'Creates a service token, which acts as its maker within its scopes. Its secret is returned only in this response. The maker must have a second factor.',
      body: newToken,
      answer: record('NewServiceToken', { ...properties, secret: { ...text, description: 'Returned once.' } }),
      async handle(request) {
        const { account, body } = request;
        const methods = await verification.methods(account.id);
        if (!methods.some((method) => method !== 'password')) {
          throw coreErrors.no_second_factor('Set up a second factor under Security before you create a service token.');
        }
        if (account.role !== 'root' && body.scopes.some((scope) => scope.startsWith('config:'))) {
          throw errors.role_insufficient('Only root can give the scopes of `config`.').with({ param: 'scopes' });
        }
        const { name, scopes: given, addresses: from, expires_days: days } = body;
        const { secret, token } = await tokens.create(
          {
            name,
            accountId: account.id,
            scopes: given,
            addresses: from,
            expiresMs: now() + days * DAY_MS,
          },
          (id) =>
            audited(request, 'service-token.create', `service-token ${id}`, {
              name,
              scopes: given,
              days,
              ...(from !== undefined && { addresses: from }),
            }),
        );
        return { ...(await shown(token, createNames(host), now())), secret };
      },
    }),
    route('admin', 'DELETE', '/api/service-token/:id', {
      errors: ['service_token_not_found'],
      summary: 'Revokes a service token: yours or, for root, that of any administrator. It stops working immediately.',
      answer: nothing,
      async handle(request) {
        const { account, params } = request;
        const id = idOf(params.id);
        const token = (await tokens.list(account.role === 'root' ? undefined : account.id)).find(
          (each) => each.id === id,
        );
        const along = audited(request, 'service-token.revoke', `service-token ${id}`, { name: token?.name ?? '' });
        if (token === undefined || !(await tokens.revoke(id, along))) throw coreErrors.service_token_not_found();
        return null;
      },
    }),
  ];
}

async function shown(token: ServiceToken, names: Names, nowMs: number) {
  return shownToken(token, (await names.person(token.accountId))?.name, nowMs);
}
