/** Limits of keys on the command line: `requests=60,day=500; gpt-*: tokens=100000`. */
import type { KeyLimit } from '../../core/contracts/keys.ts';
import { inQuota, MICRO } from '../../core/contracts/ledger.ts';
import { UsageError } from '../../core/plugin.ts';
import { PERIODS, type Period } from '../../core/sdk.ts';

const COUNTS = { requests: 'requestsPerMinute', tokens: 'tokensPerMinute', concurrent: 'concurrent' } as const;
const FORM =
  '--limits is a list such as "requests=60,tokens=100000,concurrent=5,day=500,week=2000,month=5000", and after a semicolon the same for some models: "; gpt-*: requests=5"';

/** Reads limits; `none` is an empty list. Whether they are in range is checked when they are written. */
export function readLimits(text: string): readonly KeyLimit[] {
  return text.trim() === 'none' ? [] : text.split(';').map(readLimit);
}

function readLimit(text: string): KeyLimit {
  // Names of models may contain colons.
  const colon = text.lastIndexOf(':');
  const model = colon < 0 ? undefined : text.slice(0, colon).trim();
  const counts: Record<string, number> = {};
  const budgets: Partial<Record<Period, bigint>> = {};
  for (const item of text.slice(colon + 1).split(',')) {
    const [, name = '', amount = ''] = /^\s*([a-z]+)\s*=\s*(\d{1,15})\s*$/.exec(item) ?? [];
    const count = Object.hasOwn(COUNTS, name) ? COUNTS[name as keyof typeof COUNTS] : undefined;
    const period = PERIODS.find((each) => each === name);
    if (count !== undefined) counts[count] = Number(amount);
    else if (period !== undefined) budgets[period] = BigInt(amount) * MICRO;
    else throw new UsageError(`${FORM}, not "${item.trim()}"`);
  }
  return {
    ...(model !== undefined && { model }),
    ...counts,
    ...(Object.keys(budgets).length > 0 && { budgets }),
  };
}

/** Limits as `readLimits` reads them. */
export function limitsText(limits: readonly KeyLimit[] | undefined): string {
  return (limits ?? []).map(limitText).join('; ') || 'none';
}

function limitText({ model, budgets = {}, ...counts }: KeyLimit): string {
  const items = [
    ...Object.entries(COUNTS).map(([name, member]) => [name, counts[member]] as const),
    ...PERIODS.map((period) => [period, budgets[period] === undefined ? undefined : inQuota(budgets[period])] as const),
  ];
  const text = items.flatMap(([name, amount]) => (amount === undefined ? [] : `${name}=${amount}`)).join(',');
  return model === undefined ? text : `${model}: ${text}`;
}
