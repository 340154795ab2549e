/** Sums of amounts that were imported, and why they are others than there. */
import { inQuota, LARGEST_GRANT } from '../../../core/contracts/ledger.ts';
import type { JsonObject } from '../../../core/plugin.ts';
import type { Inventory } from '../inventory.ts';
import { unhurried } from '../unhurried.ts';
import type { Run } from './run.ts';

/** What was imported, of the things that are there now; what was spent here since is not subtracted. Micro-quota. */
export interface Sums {
  readonly balances: bigint;
  readonly debts: bigint;
  /** What keys with a limit may still spend. */
  readonly allowances: bigint;
}

/** One reason why a sum is another one than there. */
export interface SumGap {
  readonly sum: keyof Sums;
  /** How much less is here; negative: how much more. */
  readonly less: bigint;
  readonly count: number;
  /** The first of the things. */
  readonly names: readonly string[];
  readonly why: string;
}

/** Names of a reason. */
const NAMES = 3;

/** `strangers`: users whose identifier was imported as that of another user. */
export async function sumsOf(
  { imports, update }: Run,
  { users, keys }: Pick<Inventory, 'users' | 'keys'>,
  strangers: ReadonlySet<string>,
): Promise<{ readonly sums: Sums; readonly gaps: readonly SumGap[] }> {
  const sums = { balances: 0n, debts: 0n, allowances: 0n };
  const gaps = new Map<string, { -readonly [M in keyof SumGap]: SumGap[M] } & { readonly names: string[] }>();
  const add = (sum: keyof Sums, name: string, amounts: Amounts): void => {
    const { there, here, why } = amounts;
    sums[sum] += here;
    if (there === here) return;
    const id = `${sum} ${why}`;
    const gap = gaps.get(id) ?? { sum, less: 0n, count: 0, names: [], why };
    gaps.set(id, gap);
    gap.less += there - here;
    if (++gap.count <= NAMES) gap.names.push(name);
  };
  for await (const { id, name, balance = 0n } of unhurried(users)) {
    const found = strangers.has(id) ? undefined : imports.find('user', id);
    const imported = found === undefined ? 0n : amountOf(found.seen, 'balance', balance);
    const why =
      found === undefined
        ? LEFT
        : imported === balance
          ? `the largest balance here is ${inQuota(LARGEST_GRANT)}`
          : changed(update);
    add('balances', name, { there: more(balance), here: more(creditable(imported)), why });
    add('debts', name, { there: more(-balance), here: more(-creditable(imported)), why });
  }
  for await (const { id, name, allowance = 0n } of unhurried(keys)) {
    const found = imports.find('key', id);
    const here = found === undefined ? 0n : amountOf(found.seen, 'limit', allowance);
    add('allowances', name, { there: allowance, here, why: found === undefined ? LEFT : changed(update) });
  }
  return { sums, gaps: [...gaps.values()] };
}

interface Amounts {
  readonly there: bigint;
  readonly here: bigint;
  readonly why: string;
}

const LEFT = 'not taken over';
const changed = (update: boolean | undefined): string =>
  update === true
    ? 'changed there, and could not be changed here'
    : 'changed there since the last import; --update takes it over';

/** What was imported; of an import by an older release, what is there now. */
function amountOf(seen: JsonObject | undefined, field: string, now: bigint): bigint {
  if (seen === undefined) return now;
  const amount = seen[field];
  return typeof amount === 'string' ? BigInt(amount) : 0n;
}

const more = (amount: bigint): bigint => (amount > 0n ? amount : 0n);

/** An amount, or a debt below zero, that is at most the largest one here. */
export function creditable(amount: bigint): bigint {
  if (amount > LARGEST_GRANT) return LARGEST_GRANT;
  return amount < -LARGEST_GRANT ? -LARGEST_GRANT : amount;
}
