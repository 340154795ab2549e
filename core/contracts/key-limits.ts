/** The limits of a key as text, as `turnpike key create --limits` reads them: `requests=60,day=500; gpt-*: tokens=100000`. */
import type { KeyLimit } from './identity.ts';
import { inQuota } from './ledger.ts';
import { PERIODS } from './periods.ts';

/** The words for limits that are not budgets. */
export const LIMIT_WORDS = {
  requests: 'requestsPerMinute',
  tokens: 'tokensPerMinute',
  concurrent: 'concurrent',
} as const;

/** All limits of a key; `none` if it has none. */
export function limitsText(limits: readonly KeyLimit[] | undefined): string {
  return (limits ?? []).map(limitText).join('; ') || 'none';
}

function limitText({ model, budgets = {}, ...counts }: KeyLimit): string {
  const items = [
    ...Object.entries(LIMIT_WORDS).map(([name, member]) => [name, counts[member]] as const),
    ...PERIODS.map((period) => [period, budgets[period] === undefined ? undefined : inQuota(budgets[period])] as const),
  ];
  const text = items.flatMap(([name, amount]) => (amount === undefined ? [] : `${name}=${amount}`)).join(',');
  return model === undefined ? text : `${model}: ${text}`;
}
