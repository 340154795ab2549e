/** One line about one import: what came, and what has changed there since the last one. */

import { inQuota } from '../../../core/contracts/ledger.ts';
import type { Note } from '../inventory.ts';
import type { Things } from '../packed.ts';
import type { Handout, Taken } from '../planned.ts';
import type { Change } from './run.ts';
import type { SumGap, Sums } from './sums.ts';

/** Changes of one kind and field. */
export interface ChangeSum {
  readonly kind: Change['kind'];
  readonly field: string;
  readonly state: Change['state'];
  readonly count: number;
  /** Sums of amounts that became more and less, micro-quota. */
  readonly more: bigint;
  readonly less: bigint;
}

/** The changes by kind, field, and what was done with them. */
export function changeSums(changed: readonly Change[]): readonly ChangeSum[] {
  const sums = new Map<string, ChangeSum>();
  for (const { kind, field, state, by = 0n } of changed) {
    const id = [kind, field, state].join(' ');
    const { count, more, less } = sums.get(id) ?? { count: 0, more: 0n, less: 0n };
    const sum = {
      kind,
      field,
      state,
      count: count + 1,
      more: more + (by > 0n ? by : 0n),
      less: less - (by < 0n ? by : 0n),
    };
    sums.set(id, sum);
  }
  return [...sums.values()];
}

/** What `summaryLine` returns if nothing was written, and nothing has changed. */
export const NO_DIFFERENCE = 'no difference';

/** `2 accounts and 5 keys new; balance of 3 accounts +12 -7`, or `no difference`. `more`: what else there is to say. */
export function summaryLine(
  { taken, changed, left, days }: Pick<Takeover, 'taken' | 'changed' | 'left' | 'days'>,
  more: readonly string[] = [],
): string {
  const fresh = new Map<string, number>();
  for (const { kind, state } of taken) if (state === 'new') fresh.set(kind, (fresh.get(kind) ?? 0) + 1);
  const parts = [
    ...[...fresh].map(([kind, count]) => `${counted(count, kind)} new`),
    ...(days > 0 ? [`${counted(days, 'day')} of usage`] : []),
    ...changeSums(changed).map(sumText),
  ];
  const decide = left.filter(({ kind }) => kind === 'decide').length;
  if (decide > 0) parts.push(`${counted(decide, 'decision')} to make`);
  parts.push(...more);
  return parts.length === 0 ? NO_DIFFERENCE : parts.join('; ');
}

/** `balance of 3 accounts +12 -7`. */
export function sumText({ kind, field, state, count, more, less }: ChangeSum): string {
  const amounts = [...(more > 0n ? [`+${inQuota(more)}`] : []), ...(less > 0n ? [`-${inQuota(less)}`] : [])];
  const what = field === 'deleted' ? `${counted(count, kind)} deleted there` : `${field} of ${counted(count, kind)}`;
  const done = state === 'applied' ? [] : [state === 'conflict' ? '(not applied)' : '(changed there)'];
  return [what, ...amounts, ...done].join(' ');
}

function counted(count: number, kind: string): string {
  return `${count} ${kind}${count === 1 ? '' : 's'}`;
}

/** The result. */
export interface Takeover {
  readonly taken: Things<Taken>;
  /** What has changed there since an earlier import. */
  readonly changed: readonly Change[];
  readonly left: readonly Note[];
  /** In a dry run: what would be handed out. */
  readonly handouts: readonly Omit<Handout, 'secret'>[];
  readonly sums: Sums;
  /** Why they are others than there. */
  readonly gaps: readonly SumGap[];
  /** How many days of usage were added or replaced. */
  readonly days: number;
}
