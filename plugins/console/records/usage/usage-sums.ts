/** Sums of usage in the API. */
import type { UsageSum } from '../../../../core/contracts/records.ts';
import { columnsNote } from '../../format/csv.ts';
import { integer, number, record, text } from '../../format/schemas.ts';
import { currencyText, quotaNumber } from '../../format/units.ts';

/** Adds sums up; `perUnit`: quota units in one currency unit. */
export function shownSums(sums: readonly UsageSum[], perUnit: number) {
  const charged = sums.reduce((all, sum) => all + sum.charged, 0n);
  const total = (read: (sum: UsageSum) => number): number => sums.reduce((all, sum) => all + read(sum), 0);
  return {
    requests: total(({ calls }) => calls),
    errors: total(({ errors }) => errors),
    quota: quotaNumber(charged),
    cost: currencyText(charged, perUnit),
    prompt_tokens: total(({ input }) => input),
    completion_tokens: total(({ output }) => output),
  };
}

/** The groups with the highest cost; among free ones, those with the most calls. */
export function dearest(sums: readonly UsageSum[], most: number): readonly UsageSum[] {
  const order = (a: UsageSum, b: UsageSum): number =>
    a.charged === b.charged ? b.calls - a.calls : a.charged < b.charged ? 1 : -1;
  return [...sums].sort(order).slice(0, most);
}

export const sumProperties = {
  requests: { ...integer, description: 'Calls that were served, or cost something.' },
  errors: { ...integer, description: 'Calls that were refused or failed, and cost nothing.' },
  quota: { ...number, description: 'Quota units, with a fraction if there is one.' },
  cost: { ...text, description: 'The same in currency units, a decimal number.' },
  prompt_tokens: integer,
  completion_tokens: integer,
} as const;
/** The same as a named schema. */
export const sumsSchema = record('UsageSums', sumProperties);
/** For the parameter that chooses a file. */
export const SUM_COLUMNS_NOTE = columnsNote({ calls: '`requests` and `errors` together' });
/** The columns of a file; calls include errors, as in the console. */
export const SUM_COLUMNS = ['calls', 'errors', 'quota', 'cost', 'prompt_tokens', 'completion_tokens'] as const;

export function sumCells(
  sums: ReturnType<typeof shownSums>,
): Readonly<Record<(typeof SUM_COLUMNS)[number], string | number>> {
  const { requests, errors, quota, cost, prompt_tokens, completion_tokens } = sums;
  return { calls: requests + errors, errors, quota, cost, prompt_tokens, completion_tokens };
}
