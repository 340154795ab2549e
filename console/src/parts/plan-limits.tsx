/** What a plan is, in short lines. */
import { Text } from '@mantine/core';
import type * as api from '../api/operations.ts';
import { useFormat } from '../shell/format.ts';
import { texts, useText } from '../text.ts';

const TEXT = texts(
  {
    perDay: (money: string) => `${money} a day`,
    perWeek: (money: string) => `${money} a week`,
    perMonth: (money: string) => `${money} in 30 days`,
    noLimits: 'no limits',
    balance: (money: string) => `${money} of balance comes with it`,
    includes: 'calls within the limits cost nothing more',
  },
  {
    perDay: (money: string) => `每日 ${money}`,
    perWeek: (money: string) => `每周 ${money}`,
    perMonth: (money: string) => `每 30 天 ${money}`,
    noLimits: '无限额',
    balance: (money: string) => `附赠余额 ${money}`,
    includes: '限额内的调用不再另外收费',
  },
);

/** A plan as the gateway tells it. */
export type Plan = api.Plan;

/** Its limits, and what comes with it. */
export function PlanLimits({ plan }: { readonly plan: Plan }) {
  const text = useText(TEXT);
  const format = useFormat();
  const limits = [
    plan.daily_amount !== null && text.perDay(format.money(plan.daily_amount)),
    plan.weekly_amount !== null && text.perWeek(format.money(plan.weekly_amount)),
    plan.monthly_amount !== null && text.perMonth(format.money(plan.monthly_amount)),
  ].filter((limit) => limit !== false);
  const more = [
    plan.balance_amount > 0 && text.balance(format.money(plan.balance_amount)),
    plan.includes_balance && text.includes,
  ].filter((each) => typeof each === 'string');
  return (
    <Text size="sm" c="dimmed" component="div">
      {[limits.length === 0 ? text.noLimits : limits.join(' · '), ...more].map((line) => (
        <div key={line}>{line}</div>
      ))}
    </Text>
  );
}
