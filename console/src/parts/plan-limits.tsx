/** The limits of a plan in short lines, and those of a subscription with their usage. */
import { Stack, Text } from '@mantine/core';
import type * as api from '../api/operations.ts';
import { useFormat } from '../shell/format.ts';
import { texts } from '../text.ts';
import { Muted, Small } from './page.tsx';
import { Meter, When } from './values.tsx';

const useText = texts({
  perDay: [(money: string) => `${money} per day`, (money: string) => `每日 ${money}`],
  perWeek: [(money: string) => `${money} per week`, (money: string) => `每周 ${money}`],
  perMonth: [(money: string) => `${money} per 30 days`, (money: string) => `每 30 天 ${money}`],
  noLimits: ['no limits', '不限'],
  balance: [(money: string) => `includes ${money} of balance`, (money: string) => `包含余额 ${money}`],
  includes: ['calls within the limits are free', '限额内的调用免费'],
  names: { daily: ['Today', '今日'], weekly: ['This week', '本周'], monthly: ['Current 30 days', '本期 30 天'] },
  noWindows: ['This plan has no daily, weekly or 30-day limit.', '此套餐没有每日、每周或 30 天限额。'],
});

/** A plan from `/api`. */
export type Plan = api.Plan;

/** Its limits and its included balance. */
export function PlanLimits({ plan }: { readonly plan: Plan }) {
  const text = useText();
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

/** The state of a subscription. */
export type SubscriptionState = api.SubscriptionState;

const ORDER = ['daily', 'weekly', 'monthly'] as const;

/** Usage of the limits and when each resets, the shortest window first. Days and weeks are UTC. */
export function SubscriptionWindows({ windows }: { readonly windows: SubscriptionState['windows'] }) {
  const text = useText();
  const entries = ORDER.flatMap((name) => {
    const window = windows[name];
    return window === undefined ? [] : [{ name, ...window }];
  });
  if (entries.length === 0) return <Muted>{text.noWindows}</Muted>;
  return (
    <Stack gap="sm">
      {entries.map(({ name, limit, used, resets_at }) => (
        <div key={name}>
          <Meter used={used} limit={limit} label={text.names[name]} />
          <Small mt={2}>
            {text.words.resets} <When at={resets_at} />
          </Small>
        </div>
      ))}
    </Stack>
  );
}
