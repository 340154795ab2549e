/** Routes authenticated by an API key: the key's own usage and limits. */

import type { KeyRecord } from '../../../../core/contracts/identity.ts';
import { type Balance, Ledger, MICRO } from '../../../../core/contracts/ledger.ts';
import { boolean, integer, number, object, partly, queryOf, text } from '../../format/schemas.ts';
import { perUnitOf, quotaNumber, secondsOf } from '../../format/units.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Usage');
/** The value that API clients expect if there is no limit. */
const UNLIMITED = 100_000_000;
const MICRO_PER_UNIT = Number(MICRO);

export function keyUsageRoutes({ host }: Tools): readonly ApiRoute[] {
  async function asking({ holder }: ConsoleRequest): Promise<{ key: KeyRecord; balance: Balance | undefined }> {
    const { key } = holder!;
    return { key, balance: await host.find(Ledger)?.balance({ kind: 'key', owner: key.id }) };
  }

  const currency = (micro: bigint): number => Number(micro) / MICRO_PER_UNIT / perUnitOf(host);

  return [
    route('key', 'GET', '/api/usage/token/', {
      limit: 'usage',
      spelling: 'bare',
      summary:
        'Returns the used and remaining quota of the key that authenticates the request, in quota units; also if it is expired or exhausted.',
      answer: object({
        code: { const: true },
        message: { const: 'ok' },
        data: partly(['object', 'name', 'total_granted', 'total_used', 'total_available', 'unlimited_quota'], {
          object: { const: 'token_usage' },
          name: text,
          total_granted: {
            ...number,
            description: 'Quota units, with a fraction if there is one; for an unlimited key the used quota.',
          },
          total_used: number,
          total_available: { ...number, description: '0 if it is unlimited.' },
          unlimited_quota: { ...boolean, description: "Limited only by the user's balance." },
          model_limits: { type: 'object', additionalProperties: { const: true } },
          model_limits_enabled: boolean,
          expires_at: { ...integer, description: 'Unix seconds; 0: never.' },
        }),
      }),
      async handle(request) {
        const { key, balance } = await asking(request);
        const { granted, used, held, unlimited } = balance ?? { granted: 0n, used: 0n, held: 0n, unlimited: true };
        const left = unlimited || granted - used - held < 0n ? 0n : granted - used - held;
        return {
          code: true,
          message: 'ok',
          data: {
            object: 'token_usage',
            name: key.name,
            total_granted: quotaNumber(unlimited ? used : granted),
            total_used: quotaNumber(used),
            total_available: quotaNumber(left),
            unlimited_quota: unlimited,
            model_limits: Object.fromEntries((key.models ?? []).map((model) => [model, true])),
            model_limits_enabled: key.models !== undefined,
            expires_at: secondsOf(key.expiresMs),
          },
        };
      },
    }),
    route('key', 'GET', '/v1/dashboard/billing/subscription', {
      alsoAt: ['/dashboard/billing/subscription'],
      limit: 'usage',
      spelling: 'error-object',
      summary:
        'Returns the limit of the key that authenticates the request, in currency units, in the format of older clients.',
      answer: partly(['object', 'hard_limit_usd', 'access_until'], {
        object: { const: 'billing_subscription' },
        has_payment_method: boolean,
        soft_limit_usd: number,
        hard_limit_usd: number,
        system_hard_limit_usd: number,
        access_until: { ...integer, description: 'Unix seconds; 0: never.' },
      }),
      async handle(request) {
        const { key, balance } = await asking(request);
        const limit = balance === undefined || balance.unlimited ? UNLIMITED : currency(balance.granted - balance.held);
        return {
          object: 'billing_subscription',
          has_payment_method: true,
          soft_limit_usd: limit,
          hard_limit_usd: limit,
          system_hard_limit_usd: limit,
          access_until: secondsOf(key.expiresMs),
        };
      },
    }),
    route('key', 'GET', '/v1/dashboard/billing/usage', {
      alsoAt: ['/dashboard/billing/usage'],
      limit: 'usage',
      spelling: 'error-object',
      summary:
        'Returns the total usage of the key that authenticates the request, in hundredths of currency units, in the format of older clients.',
      search: queryOf({
        start_date: {
          ...text,
          maxLength: 40,
          description: 'Ignored: the usage is that of all time.',
          deprecated: true,
        },
        end_date: { ...text, maxLength: 40, description: 'Ignored: the usage is that of all time.', deprecated: true },
      }),
      answer: object({ object: { const: 'list' }, total_usage: number }),
      async handle(request) {
        const { balance } = await asking(request);
        return { object: 'list', total_usage: currency((balance?.used ?? 0n) * 100n) };
      },
    }),
  ];
}
