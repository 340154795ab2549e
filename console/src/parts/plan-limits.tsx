/** The limits of a plan in short lines. */
import { Text } from '@mantine/core';
import type * as api from '../api/operations.ts';
import { useFormat } from '../shell/format.ts';
import { texts, useText } from '../text.ts';

const TEXT = texts({
  perDay: [(money: string) => `${money} per day`, (money: string) => `每日 ${money}`],
  perWeek: [(money: string) => `${money} per week`, (money: string) => `每周 ${money}`],
  perMonth: [(money: string) => `${money} per 30 days`, (money: string) => `每 30 天 ${money}`],
  noLimits: ['no limits', '不限'],
  balance: [(money: string) => `includes ${money} of balance`, (money: string) => `包含余额 ${money}`],
  includes: ['calls within the limits are free', '限额内的调用免费'],
});

/** A plan from `/api`. */
export type Plan = api.Plan;

/** Its limits and its included balance. */
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
