/** Budgets and how much of them is used: those of keys, plans and departments, and monthly amounts that are only told. */
import { Accounts } from '../../core/contracts/accounts.ts';
import type { AlertFacts } from '../../core/contracts/alerts.ts';
import { type Department, Departments } from '../../core/contracts/departments.ts';
import { keyBudgets } from '../../core/contracts/key-budgets.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { inQuota, type Layer, Ledger, MICRO } from '../../core/contracts/ledger.ts';
import { Records } from '../../core/contracts/records.ts';
import { Subscriptions } from '../../core/contracts/subscriptions.ts';
import type { Host } from '../../core/plugin.ts';
import { PERIODS, periodAround } from '../../core/sdk.ts';
import type { Finding } from './book.ts';
import type { AlertsSection } from './section.ts';

/** Calls that have ended since the last look. */
export interface Spent {
  /** The account of each key that made one. */
  readonly keys: ReadonlyMap<number, number>;
  /** The keys of which one was refused with 403. */
  readonly refused: ReadonlySet<number>;
}

/** Some use of a budget. Amounts are micro-quota. */
interface Use {
  readonly subject: string;
  /** `daily budget of the key "ci"`. */
  readonly what: string;
  /** The same as data. */
  readonly facts: Omit<AlertFacts, 'about' | 'used' | 'limit' | 'percent'>;
  readonly limit: bigint;
  readonly used: bigint;
  readonly periodMs: number;
  readonly resetsMs: number | undefined;
  readonly accountId: number | undefined;
  /** A call that it may limit was refused. */
  readonly isRefusing: boolean;
}

/** A bucket of the ledger with a limit. */
type Bucket = Omit<Use, 'subject' | 'used' | 'periodMs'> & { readonly layer: Layer };

/**
 * Reservations leave a rest that no call fits into: if a call is refused when this percentage is used, the budget counts as used up.
 */
const NEARLY = 95n;
const PERIODIC = { day: 'daily', week: 'weekly', month: 'monthly' } as const;

/** The highest of the levels (ascending) that a use has reached; 0: none. */
export function levelOf(
  { limit, used, isRefusing }: Pick<Use, 'limit' | 'used' | 'isRefusing'>,
  levels: readonly number[],
): number {
  if (limit <= 0n) return 0;
  const isUsedUp = isRefusing && used * 100n >= limit * NEARLY;
  return levels.findLast((level) => isUsedUp || used * 100n >= limit * BigInt(level)) ?? 0;
}

/** Creates it. */
export function createBudgets(host: Host, { levels: unsorted, budget }: Pick<AlertsSection, 'levels' | 'budget'>) {
  const levels = [...unsorted].sort((a, b) => a - b);
  const hasAmounts = budget.gateway !== undefined || Object.keys(budget.channels).length > 0;

  const microOf = (currency: number): bigint =>
    BigInt(Math.round(currency * (host.find(Ledger)?.perUnit ?? 1))) * MICRO;

  function findingOf(use: Use): Finding {
    const { subject, what, facts, limit, used, resetsMs, periodMs, accountId } = use;
    const level = levelOf(use, levels);
    const percent = limit > 0n ? (used * 1_000n) / limit : 0n;
    const reset = resetsMs === undefined ? '' : ` It resets at ${new Date(resetsMs).toISOString()}.`;
    return {
      ...{ subject: `budget ${subject}`, kind: 'budget', level, periodMs, resetsMs, accountId, againMs: undefined },
      title: `${what.charAt(0).toUpperCase()}${what.slice(1)}: ${level} % used`,
      text: `${Number(percent) / 10} % of the ${what} is used: ${inQuota(used)} of ${inQuota(limit)} quota.${reset}`,
      facts: {
        ...{ about: 'budget', ...facts, percent: Number(percent) / 10 },
        ...{ used: inQuota(used), limit: inQuota(limit) },
      },
    };
  }

  /** The buckets with limits that the calls of a key are charged to, except those of departments. */
  async function bucketsOf(keyId: number, accountId: number, isRefusing: boolean): Promise<readonly Bucket[]> {
    const now = host.clock.now();
    const key = await host.find(Keys)?.get(accountId, keyId);
    const person = await host.find(Accounts)?.find(accountId);
    const more = { accountId, isRefusing };
    const buckets: Bucket[] = [];
    if (key !== undefined) {
      const name = `key "${key.name}" of ${person?.name ?? accountId}`;
      const facts = { scope: 'key', name: key.name, user: `${person?.name ?? accountId}` } as const;
      const layer = { kind: 'key', owner: keyId } as const;
      const balance = await host.find(Ledger)?.balance(layer);
      if (balance?.unlimited === false)
        buckets.push({
          layer,
          what: `quota of the ${name}`,
          facts,
          limit: balance.granted,
          resetsMs: undefined,
          ...more,
        });
      for (const each of key.limits?.flatMap((limit) => keyBudgets(keyId, limit, now)) ?? []) {
        const { layer: its, limit, resetsMs, period, model } = each;
        const what = `${PERIODIC[period]} budget of the ${name}${model === undefined ? '' : ` for "${model}"`}`;
        const narrower = { ...facts, period, ...(model !== undefined && { model }) };
        buckets.push({ layer: its, what, facts: narrower, limit, resetsMs, ...more });
      }
    }
    const terms = await host.find(Subscriptions)?.termsOf(accountId, now);
    const plan = (terms?.limits.length ?? 0) === 0 ? undefined : await host.find(Subscriptions)?.of(accountId);
    for (const { kind, owner, windowStart, limit, resetsMs, title } of terms?.limits ?? []) {
      const what = `${title.replace(/^the /, '')} of ${person?.name ?? accountId}`;
      const period = PERIODS.find((each) => each === kind);
      const user = `${person?.name ?? accountId}`;
      const facts = { scope: 'plan', name: plan?.plan ?? '', user, ...(period !== undefined && { period }) } as const;
      buckets.push({ layer: { kind, owner, windowStart }, what, facts, limit, resetsMs, ...more });
    }
    return buckets;
  }

  function bucketsOfDepartment(
    { id, name, budget: total, monthlyBudget }: Department,
    isRefusing: boolean,
  ): readonly Bucket[] {
    const { startMs, endMs } = periodAround('month', host.clock.now());
    const more = { accountId: undefined, isRefusing };
    const buckets: Bucket[] = [];
    if (total !== undefined) {
      const layer = { kind: 'department', owner: id } as const;
      const what = `budget of the department "${name}"`;
      const facts = { scope: 'department', name } as const;
      buckets.push({ layer, what, facts, limit: total, resetsMs: undefined, ...more });
    }
    if (monthlyBudget !== undefined) {
      const layer = { kind: 'department-month', owner: id, windowStart: startMs } as const;
      const what = `monthly budget of the department "${name}"`;
      const facts = { scope: 'department', name, period: 'month' } as const;
      buckets.push({ layer, what, facts, limit: monthlyBudget, resetsMs: endMs, ...more });
    }
    return buckets;
  }

  async function usedOf({ layer, ...rest }: Bucket): Promise<Use> {
    const used = (await host.find(Ledger)?.balance(layer))?.used ?? 0n;
    return { ...rest, subject: `${layer.kind} ${layer.owner}`, used, periodMs: layer.windowStart ?? 0 };
  }

  /** What calls of this month cost, by account or by channel and in all. */
  async function* monthUses(accountIds: ReadonlySet<number>): AsyncIterable<Use> {
    const records = host.find(Records);
    if (records === undefined) return;
    const { startMs, endMs } = periodAround('month', host.clock.now());
    const month = { periodMs: startMs, resetsMs: endMs, isRefusing: false };
    if (budget.person !== undefined) {
      for (const accountId of accountIds) {
        const [sum] = await records.sums({ accounts: [accountId], fromMs: startMs }, []);
        const name = (await host.find(Accounts)?.find(accountId))?.name ?? accountId;
        const what = `monthly amount of the user ${name}`;
        const used = sum?.charged ?? 0n;
        const facts = { scope: 'user', name: `${name}`, period: 'month' } as const;
        yield { subject: `person ${accountId}`, what, facts, limit: microOf(budget.person), used, accountId, ...month };
      }
    }
    if (!hasAmounts) return;
    const sums = await records.sums({ fromMs: startMs }, ['channel']);
    const more = { accountId: undefined, ...month };
    if (budget.gateway !== undefined) {
      const used = sums.reduce((sum, { charged }) => sum + charged, 0n);
      yield {
        subject: 'gateway',
        what: 'monthly amount of the gateway',
        facts: { scope: 'gateway', period: 'month' },
        limit: microOf(budget.gateway),
        used,
        ...more,
      };
    }
    for (const [channel, amount] of Object.entries(budget.channels)) {
      const used = sums.find((sum) => sum.channel === channel)?.charged ?? 0n;
      const what = `monthly amount of the channel "${channel}"`;
      const facts = { scope: 'channel', name: channel, period: 'month' } as const;
      yield { subject: `channel ${channel}`, what, facts, limit: microOf(amount), used, ...more };
    }
  }

  return {
    /** The budgets that these calls are charged to, with their levels. */
    async *look({ keys, refused }: Spent): AsyncIterable<Finding> {
      const accountIds = new Set(keys.values());
      const departments = new Map<number, readonly [Department, boolean]>();
      const ofAccounts = new Set<string>();
      for (const [keyId, accountId] of keys) {
        const isRefusing = refused.has(keyId);
        for (const bucket of await bucketsOf(keyId, accountId, isRefusing)) {
          const { kind, owner } = bucket.layer;
          // Several keys have the same plan.
          const name = `${kind} ${owner} ${isRefusing}`;
          if (ofAccounts.has(name)) continue;
          ofAccounts.add(name);
          yield findingOf(await usedOf(bucket));
        }
        for (const department of host.find(Departments)?.pathOf(accountId) ?? []) {
          const was = departments.get(department.id)?.[1] ?? false;
          departments.set(department.id, [department, was || isRefusing]);
        }
      }
      for (const [department, isRefusing] of departments.values())
        for (const bucket of bucketsOfDepartment(department, isRefusing)) yield findingOf(await usedOf(bucket));
      for await (const use of monthUses(accountIds)) yield findingOf(use);
    },
  };
}
