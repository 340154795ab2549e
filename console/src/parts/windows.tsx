/** The limits of a subscription: usage per day, week and 30 days, and when each resets. */
import { Stack } from '@mantine/core';
import type * as api from '../api/operations.ts';
import { texts, useText } from '../text.ts';
import { Muted, Small } from './plain.tsx';
import { Meter, When } from './values.tsx';

/** The state of a subscription. */
export type SubscriptionState = api.SubscriptionState;

const TEXT = texts({
  names: { daily: ['Today', '今日'], weekly: ['This week', '本周'], monthly: ['Current 30 days', '本期 30 天'] },
  resets: ['resets', '重置于'],
  none: ['This plan has no daily, weekly or 30-day limit.', '此套餐没有每日、每周或 30 天限额。'],
});
const ORDER = ['daily', 'weekly', 'monthly'] as const;

/** The bars, the shortest window first. Days and weeks are UTC. */
export function SubscriptionWindows({ windows }: { readonly windows: SubscriptionState['windows'] }) {
  const text = useText(TEXT);
  const entries = ORDER.flatMap((name) => {
    const window = windows[name];
    return window === undefined ? [] : [{ name, ...window }];
  });
  if (entries.length === 0) return <Muted>{text.none}</Muted>;
  return (
    <Stack gap="sm">
      {entries.map(({ name, limit, used, resets_at }) => (
        <div key={name}>
          <Meter used={used} limit={limit} label={text.names[name]} />
          <Small mt={2}>
            {text.resets} <When at={resets_at} />
          </Small>
        </div>
      ))}
    </Stack>
  );
}
