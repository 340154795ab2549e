/** Sums of usage as `/api` shows them. */
import type { UsageSum } from '../../../core/contracts/records.ts';
import { integer } from '../schemas.ts';
import { unitsOf } from '../units.ts';

/** Sums added up. */
export function shownSums(sums: readonly UsageSum[]) {
  const total = (read: (sum: UsageSum) => number): number => sums.reduce((all, sum) => all + read(sum), 0);
  return {
    requests: total(({ calls }) => calls),
    errors: total(({ errors }) => errors),
    quota: unitsOf(sums.reduce((all, { charged }) => all + charged, 0n)),
    prompt_tokens: total(({ input }) => input),
    completion_tokens: total(({ output }) => output),
  };
}

/** The so many that cost most; of what cost nothing, those with most calls. */
export function dearest(sums: readonly UsageSum[], most: number): readonly UsageSum[] {
  const order = (a: UsageSum, b: UsageSum): number =>
    a.charged === b.charged ? b.calls - a.calls : a.charged < b.charged ? 1 : -1;
  return [...sums].sort(order).slice(0, most);
}

/** Their schema. */
export const sumProperties = {
  requests: { ...integer, description: 'Calls that were served, or cost something.' },
  errors: { ...integer, description: 'Calls that were refused or failed, and cost nothing.' },
  quota: { ...integer, description: 'Quota units.' },
  prompt_tokens: integer,
  completion_tokens: integer,
} as const;
/** Their names, in the order of a file. */
export const SUM_NAMES = ['requests', 'errors', 'quota', 'prompt_tokens', 'completion_tokens'] as const;
