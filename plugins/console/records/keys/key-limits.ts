/** The limits of a key in the API. Amounts are whole quota units; null: no such limit. */
import type { KeyLimit, KeyRecord } from '../../../../core/contracts/identity.ts';
import { keyBudgets } from '../../../../core/contracts/key-budgets.ts';
import { Ledger } from '../../../../core/contracts/ledger.ts';
import { RateLimits } from '../../../../core/contracts/rate-limits.ts';
import { BUDGETS } from '../../../../core/contracts/shown.ts';
import type { Host } from '../../../../core/plugin.ts';
import { PERIODS, type Period } from '../../../../core/sdk.ts';
import { integer, listOf, type Members } from '../../format/schemas.ts';
import { MOST_UNITS, microOf, secondsOf, unitsAbove, unitsOf } from '../../format/units.ts';

const LARGEST_COUNT = 1_000_000_000;
const count = (description: string) => ({
  type: ['integer', 'null'] as const,
  minimum: 1,
  maximum: LARGEST_COUNT,
  description,
});
const budget = (period: string) => ({
  type: ['integer', 'null'] as const,
  minimum: 0,
  maximum: MOST_UNITS,
  description: `Quota units that may be spent in each ${period}; null: no such limit.`,
});
const members = {
  model: {
    type: 'string',
    maxLength: 300,
    description: 'A model, or a pattern such as `gpt-*`, whose models share the limits; empty: all calls of the key.',
  },
  requests_per_minute: count('Requests within any minute; null: no such limit.'),
  tokens_per_minute: count('Input and output tokens within any minute; null: no such limit.'),
  concurrent: count('Concurrent calls; null: no such limit.'),
  daily_budget: budget('day (UTC)'),
  weekly_budget: budget('week from Monday (UTC)'),
  monthly_budget: budget('calendar month (UTC)'),
} as const;

/** The list in requests: all limits of the key. Omitted members are no limits. */
export const limitsForm = {
  type: 'array',
  maxItems: 50,
  items: { type: 'object', additionalProperties: false, properties: members },
  description:
    'Limits of this key, in addition to those of all keys: one for all calls, and one for each model or pattern.',
} as const;
/** The list in responses. */
export const limitsSchema = listOf('KeyLimit', members);

/** The limits of a form. */
export function limitsOf(form: readonly Members<typeof members>[]): readonly KeyLimit[] {
  return form.map((item) => {
    const { model, requests_per_minute: requests, tokens_per_minute: tokens, concurrent } = item;
    const budgets: Partial<Record<Period, bigint>> = {};
    for (const period of PERIODS) {
      const units = item[BUDGETS[period]];
      if (typeof units === 'number') budgets[period] = microOf(units);
    }
    return {
      ...(model !== undefined && model.trim() !== '' && { model: model.trim() }),
      ...(typeof requests === 'number' && { requestsPerMinute: requests }),
      ...(typeof tokens === 'number' && { tokensPerMinute: tokens }),
      ...(typeof concurrent === 'number' && { concurrent }),
      ...(Object.keys(budgets).length > 0 && { budgets }),
    };
  });
}

/** How much of each limit is used. */
export async function limitUsage(host: Host, key: KeyRecord, nowMs: number) {
  const rates = (await host.find(RateLimits)?.usageOf(key)) ?? [];
  const budgets = (key.limits ?? []).flatMap((limit) => keyBudgets(key.id, limit, nowMs));
  const spent = budgets.map(async ({ layer, period, model, limit, resetsMs }) => {
    const balance = await host.find(Ledger)?.balance(layer);
    const used = (balance?.used ?? 0n) + (balance?.held ?? 0n);
    return {
      model: model ?? '',
      kind: BUDGETS[period],
      limit: unitsOf(limit),
      used: unitsAbove(used),
      resets_at: secondsOf(resetsMs),
    };
  });
  const used = rates.map(({ model = '', kind, limit, used: count }) => ({
    model,
    kind: kind === 'concurrent' ? kind : (`${kind}_per_minute` as const),
    limit,
    used: count,
    resets_at: 0,
  }));
  return [...used, ...(await Promise.all(spent))];
}

export const limitUsageSchema = listOf('KeyLimitUsage', {
  model: { type: 'string', description: 'Empty: all calls of the key.' },
  kind: {
    enum: ['requests_per_minute', 'tokens_per_minute', 'concurrent', ...Object.values(BUDGETS)],
    description: 'The member of the limit.',
  },
  limit: integer,
  used: { ...integer, description: 'Within the last minute, running, or spent and reserved in the period.' },
  resets_at: { ...integer, description: 'When the period of a budget ends, Unix seconds; 0 for rates.' },
});
