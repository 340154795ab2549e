/** Reads the limits of keys on the command line. */
import type { KeyLimit } from '../../core/contracts/identity.ts';
import { LIMIT_WORDS } from '../../core/contracts/key-limits.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import { UsageError } from '../../core/plugin.ts';
import { nearest, PERIODS, type Period } from '../../core/sdk.ts';

const FORM =
  '--limits is a list such as "requests=60,tokens=100000,concurrent=5,day=500,week=2000,month=5000", and after a semicolon the same for some models: "; gpt-*: requests=5"';

/** Reads limits; `none` is an empty list. Whether they are in range is checked when they are written. */
export function readLimits(text: string): readonly KeyLimit[] {
  return text.trim() === 'none' ? [] : text.split(';').map(readLimit);
}

function hintFor(name: string): string {
  const near = nearest(name, [...Object.keys(LIMIT_WORDS), ...PERIODS]);
  return near === undefined || near === name ? '' : `; did you mean ${near}?`;
}

function readLimit(text: string): KeyLimit {
  // Names of models may contain colons.
  const colon = text.lastIndexOf(':');
  const model = colon < 0 ? undefined : text.slice(0, colon).trim();
  const counts: Record<string, number> = {};
  const budgets: Partial<Record<Period, bigint>> = {};
  for (const item of text.slice(colon + 1).split(',')) {
    const [, name = '', amount = ''] = /^\s*([a-z]+)\s*=\s*(\d{1,15})\s*$/.exec(item) ?? [];
    const count = Object.hasOwn(LIMIT_WORDS, name) ? LIMIT_WORDS[name as keyof typeof LIMIT_WORDS] : undefined;
    const period = PERIODS.find((each) => each === name);
    const isTwice = (count !== undefined && count in counts) || (period !== undefined && period in budgets);
    if (isTwice) throw new UsageError(`--limits: ${name} is given twice`);
    if (count !== undefined) counts[count] = Number(amount);
    else if (period !== undefined) budgets[period] = BigInt(amount) * MICRO;
    else throw new UsageError(`${FORM}, not "${item.trim()}"${hintFor(name)}`);
  }
  return {
    ...(model !== undefined && { model }),
    ...counts,
    ...(Object.keys(budgets).length > 0 && { budgets }),
  };
}
