/** Orders of payments: their states, what they buy, and how one came to where it is. */
import { Group, Stack, Text, Timeline } from '@mantine/core';
import type { ReactNode } from 'react';
import type * as api from '../api/operations.ts';
import { useFormat } from '../shell/format.ts';
import { texts, useText } from '../text.ts';
import { Copy, Money, type Mood, State, useLanguage } from './values.tsx';

/** An order as its owner and administrators see it. */
export type Order = api.Order;

/** The states of an order, in the order in which they are offered. */
export const ORDER_STATES = ['pending', 'success', 'failed', 'expired', 'parked', 'refunded', 'disputed'] as const;

const MOODS: Readonly<Record<Order['status'], Mood>> = {
  pending: 'info',
  success: 'good',
  failed: 'bad',
  expired: 'idle',
  parked: 'warn',
  refunded: 'warn',
  disputed: 'bad',
};

/** What is said of orders, everywhere. */
export const ORDER_TEXT = texts(
  {
    states: {
      pending: 'Waiting',
      success: 'Paid',
      failed: 'Failed',
      expired: 'Expired',
      parked: 'Paid, not credited',
      refunded: 'Refunded',
      disputed: 'Disputed',
    },
    plan: (name: string) => `Plan ${name}`,
    product: 'A product',
    providers: { stripe: 'Stripe', alipay: 'Alipay', epay: 'Epay', creem: 'Creem', balance: 'Balance' },
    opened: 'Ordered',
    waiting: 'Waiting for payment confirmation',
    until: (moment: string) => `It can be paid until ${moment}.`,
    paid: 'Paid',
    given: 'Completed',
    notGiven: 'Paid, not credited',
    notGivenAbout: 'An administrator must resolve it.',
    failed: 'Payment failed',
    neverOpened: 'The provider did not open its page',
    expired: 'Not paid in time',
    expiredAbout: 'Nothing was taken. Should a payment come late, it counts all the same.',
    back: (money: string) => `${money} refunded`,
    backAbout: 'The purchased amount was deducted from the balance.',
    disputed: 'Disputed at the bank',
    number: 'Order number',
    price: 'Price',
    method: 'Paid with',
    buys: 'Buys',
  },
  {
    states: {
      pending: '待支付',
      success: '已支付',
      failed: '失败',
      expired: '已过期',
      parked: '已支付，未到账',
      refunded: '已退款',
      disputed: '有争议',
    },
    plan: (name: string) => `套餐 ${name}`,
    product: '商品',
    providers: { stripe: 'Stripe', alipay: '支付宝', epay: '易支付', creem: 'Creem', balance: '余额' },
    opened: '已下单',
    waiting: '等待支付方确认付款',
    until: (moment: string) => `请在 ${moment} 之前付款。`,
    paid: '已付款',
    given: '已到账',
    notGiven: '已付款，但未到账',
    notGivenAbout: '需要管理员处理。',
    failed: '支付方表示未付款',
    neverOpened: '支付方没有打开付款页面',
    expired: '未在期限内付款',
    expiredAbout: '没有扣款。如果之后收到付款，仍会到账。',
    back: (money: string) => `已退回 ${money}`,
    backAbout: '其所购内容已从余额中扣回。',
    disputed: '银行正在收回款项',
    number: '订单号',
    price: '价格',
    method: '支付方式',
    buys: '购买内容',
  },
);

/** Its state in a word. */
export function OrderState({ status }: { readonly status: Order['status'] }) {
  return <State mood={MOODS[status]}>{useText(ORDER_TEXT).states[status]}</State>;
}

/** Writes money of some currency. Without one, it is what the balance is counted in. */
export function useMoneyOf(): (amount: string, currency: string) => string {
  const zh = useLanguage() === 'zh';
  return (amount, currency) => {
    try {
      return new Intl.NumberFormat(zh ? 'zh-CN' : 'en-US', {
        style: 'currency',
        currency: currency === '' ? 'USD' : currency,
        // Dollars of one country are not those of another.
        currencyDisplay: currency === '' ? 'narrowSymbol' : 'symbol',
      }).format(Number(amount));
    } catch {
      // No currency that the browser knows.
      return `${amount} ${currency}`;
    }
  };
}

/** The name of whoever takes the money. */
export function useProviderName(): (provider: string) => string {
  const { providers } = useText(ORDER_TEXT);
  return (provider) => providers[provider as keyof typeof providers] ?? provider;
}

/** What an order buys: an amount, a plan. */
export function OrderedThing({ order }: { readonly order: Order }) {
  const text = useText(ORDER_TEXT);
  if (order.kind === 'plan') return <>{text.plan(order.plan)}</>;
  return <Money units={order.quota} />;
}

/** What an order costs. */
export function OrderPrice({ order }: { readonly order: Order }) {
  const moneyOf = useMoneyOf();
  return <span className="number">{moneyOf(order.money_text, order.currency)}</span>;
}

/** An order in all that is known of it. `more`: rows for whoever knows more. */
export function OrderFacts({ order, more }: { readonly order: Order; readonly more?: ReactNode }) {
  const text = useText(ORDER_TEXT);
  const providerName = useProviderName();
  const { payment_method: method, payment_provider: provider } = order;
  return (
    <Stack gap="xs">
      {more}
      <Fact name={text.buys}>
        <OrderedThing order={order} />
      </Fact>
      <Fact name={text.price}>
        <OrderPrice order={order} />
      </Fact>
      <Fact name={text.method}>
        {providerName(provider)}
        {method !== '' && method !== provider && ` · ${method}`}
      </Fact>
      <Fact name={text.number}>
        <Copy value={order.trade_no} what={text.number} />
      </Fact>
    </Stack>
  );
}

/** A line of facts: a name and what it is. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Group gap="xs" align="baseline" wrap="nowrap">
      <Text size="sm" c="dimmed" w="7rem" flex="none">
        {name}
      </Text>
      <Text size="sm" component="div" miw={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Group>
  );
}

interface Event {
  readonly title: string;
  readonly at?: number;
  readonly about?: string;
  readonly mood: Mood;
}

const COLORS: Readonly<Record<Mood, string>> = {
  good: 'pine',
  warn: 'orange.8',
  bad: 'red.8',
  idle: 'gray',
  info: 'blue',
};

/** How it came to where it is, from its beginning. */
export function OrderTimeline({ order }: { readonly order: Order }) {
  const format = useFormat();
  const events = useEvents(order);
  const last = events.at(-1);
  return (
    <Timeline active={events.length - 1} bulletSize={14} lineWidth={2} color={COLORS[last?.mood ?? 'idle']}>
      {events.map(({ title, at = 0, about = '', mood }) => (
        <Timeline.Item
          key={title}
          title={<Text size="sm">{title}</Text>}
          color={COLORS[mood]}
          lineVariant={mood === 'info' ? 'dashed' : 'solid'}
        >
          {at > 0 && (
            <Text size="xs" c="dimmed">
              {format.moment(at)}
            </Text>
          )}
          {about !== '' && (
            <Text size="xs" c="dimmed">
              {about}
            </Text>
          )}
        </Timeline.Item>
      ))}
    </Timeline>
  );
}

function useEvents(order: Order): readonly Event[] {
  const text = useText(ORDER_TEXT);
  const format = useFormat();
  const moneyOf = useMoneyOf();
  const { status, note, create_time, complete_time, expire_time, money_returned, currency } = order;
  const events: Event[] = [{ title: text.opened, at: create_time, mood: 'good' }];
  if (status === 'pending')
    events.push({ title: text.waiting, about: text.until(format.moment(expire_time)), mood: 'info' });
  if (status === 'failed')
    events.push({ title: note === '' ? text.failed : text.neverOpened, about: text.expiredAbout, mood: 'bad' });
  if (status === 'expired')
    events.push({ title: text.expired, at: expire_time, about: text.expiredAbout, mood: 'idle' });
  if (complete_time > 0) {
    events.push({ title: text.paid, at: complete_time, mood: 'good' });
    if (status === 'parked')
      events.push({ title: text.notGiven, about: `${note} ${text.notGivenAbout}`.trim(), mood: 'warn' });
    else events.push({ title: text.given, mood: 'good' });
  }
  if (Number(money_returned) > 0)
    events.push({
      title: status === 'disputed' ? text.disputed : text.back(moneyOf(money_returned, currency)),
      about: text.backAbout,
      mood: status === 'disputed' ? 'bad' : 'warn',
    });
  return events;
}
