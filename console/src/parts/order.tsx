/** Payment orders: state, item, history. */
import { Button, Group, Stack, Text, Timeline } from '@mantine/core';
import type { ReactNode } from 'react';
import { GATEWAY } from '../api/client.ts';
import type * as api from '../api/operations.ts';
import { IconExternalLink } from '../icons.ts';
import { useFormat } from '../shell/format.ts';
import { texts } from '../text.ts';
import { Muted, Small } from './page.tsx';
import { Copy, Money, State, type Tone, useLanguage } from './values.tsx';

/** An order as its owner and administrators see it. */
export type Order = api.Order;

/** The states in the order in which they are listed. */
export const ORDER_STATES = ['pending', 'success', 'failed', 'expired', 'parked', 'refunded', 'disputed'] as const;

const MOODS: Readonly<Record<Order['status'], Tone>> = {
  pending: 'info',
  success: 'good',
  failed: 'bad',
  expired: 'idle',
  parked: 'warn',
  refunded: 'warn',
  disputed: 'bad',
};

/** Texts about orders for all pages. */
export const useOrderText = texts({
  states: {
    pending: ['Waiting', '待付款'],
    success: ['Paid', '已付款'],
    failed: ['Failed', '失败'],
    expired: ['Expired', '已过期'],
    parked: ['Paid, not credited', '已付款，未入账'],
    refunded: ['Refunded', '已退款'],
    disputed: ['Disputed', '有争议'],
  },
  plan: [(name: string) => `Plan ${name}`, (name: string) => `套餐 ${name}`],
  product: ['Product', '商品'],
  providers: {
    stripe: ['Stripe', 'Stripe'],
    alipay: ['Alipay', '支付宝'],
    epay: ['Epay', '易支付'],
    imported: ['Imported', '导入'],
    creem: ['Creem', 'Creem'],
    balance: ['Balance', '余额'],
  },
  opened: ['Ordered', '已下单'],
  waiting: ['Waiting for payment confirmation', '等待支付方确认付款'],
  until: [(moment: string) => `Pay by ${moment}.`, (moment: string) => `请在 ${moment} 之前付款。`],
  given: ['Completed', '已完成'],
  notGivenAbout: ['An administrator must resolve it.', '需要管理员处理。'],
  neverOpened: ['The provider’s payment page could not be opened', '无法打开支付方的付款页面'],
  expired: ['Not paid in time', '未按时付款'],
  expiredAbout: [
    'Nothing was charged. If a payment arrives late, it is still credited.',
    '没有扣款。如果之后收到付款，仍会入账。',
  ],
  back: [(money: string) => `${money} refunded`, (money: string) => `已退款 ${money}`],
  backAbout: ['The purchased amount was deducted from the balance.', '所购金额已从余额中扣除。'],
  disputed: ['Disputed at the bank', '银行已提出争议'],
  invoice: ['Invoice', '账单'],
});

/** The state in a word. */
export function OrderState({ status }: { readonly status: Order['status'] }) {
  return <State tone={MOODS[status]}>{useOrderText().states[status]}</State>;
}

/** Formats money. Without a currency, in that of the balance. */
export function useMoneyOf(): (amount: string, currency: string) => string {
  const zh = useLanguage() === 'zh';
  return (amount, currency) => {
    try {
      return new Intl.NumberFormat(zh ? 'zh-CN' : 'en-US', {
        style: 'currency',
        currency: currency === '' ? 'USD' : currency,
        // Several currencies use the symbol $.
        currencyDisplay: currency === '' ? 'narrowSymbol' : 'symbol',
      }).format(Number(amount));
    } catch {
      // The browser does not know the currency.
      return `${amount} ${currency}`;
    }
  };
}

/** The name of the provider. */
export function useProviderName(): (provider: string) => string {
  const { providers } = useOrderText();
  return (provider) => providers[provider as keyof typeof providers] ?? provider;
}

/** The item of an order: an amount, a plan. */
export function OrderItem({ order }: { readonly order: Order }) {
  const text = useOrderText();
  if (order.kind === 'plan') return <>{text.plan(order.plan)}</>;
  return <Money units={order.quota} />;
}

/** The price of an order. */
export function OrderPrice({ order }: { readonly order: Order }) {
  const moneyOf = useMoneyOf();
  return <span className="number">{moneyOf(order.money_text, order.currency)}</span>;
}

/** An order in full. `more`: further rows, for administrators. */
export function OrderFacts({ order, more }: { readonly order: Order; readonly more?: ReactNode }) {
  const text = useOrderText();
  const providerName = useProviderName();
  const { payment_method: method, payment_provider: provider } = order;
  return (
    <Stack gap="xs">
      {more}
      <Fact name={text.words.item}>
        <OrderItem order={order} />
      </Fact>
      <Fact name={text.words.price}>
        <OrderPrice order={order} />
      </Fact>
      <Fact name={text.words.paymentMethod}>
        {providerName(provider)}
        {method !== '' && method !== provider && ` · ${method}`}
      </Fact>
      <Fact name={text.words.orderNumber}>
        <Copy value={order.trade_no} what={text.words.orderNumber} />
      </Fact>
    </Stack>
  );
}

/** Opens the page to print: the invoice of a paid order, and its credit notes. `of`: whose orders. */
export function InvoiceButton({ order, of }: { readonly order: Order; readonly of: 'own' | 'all' }) {
  const text = useOrderText();
  const language = useLanguage();
  // What the balance pays for was invoiced when the balance was bought; what another gateway sold, by that one.
  if (order.complete_time === 0 || order.currency === '' || order.payment_provider === 'imported') return null;
  const path = of === 'own' ? '/api/user/invoice' : '/api/user/topup/invoice';
  const search = new URLSearchParams({ trade_no: order.trade_no, lang: language });
  return (
    <Button
      component="a"
      variant="default"
      href={`${GATEWAY}${path}?${search}`}
      target="_blank"
      rel="noopener"
      rightSection={<IconExternalLink size={14} />}
    >
      {text.invoice}
    </Button>
  );
}

/** A row with a name and a value. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Group gap="xs" align="baseline" wrap="nowrap">
      <Muted w="7rem" flex="none">
        {name}
      </Muted>
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
  readonly tone: Tone;
}

const COLORS: Readonly<Record<Tone, string>> = {
  good: 'pine',
  warn: 'orange.8',
  bad: 'red.8',
  idle: 'gray',
  info: 'blue',
};

/** The history of an order. */
export function OrderTimeline({ order }: { readonly order: Order }) {
  const format = useFormat();
  const events = useEvents(order);
  const last = events.at(-1);
  return (
    <Timeline active={events.length - 1} bulletSize={14} lineWidth={2} color={COLORS[last?.tone ?? 'idle']}>
      {events.map(({ title, at = 0, about = '', tone }) => (
        <Timeline.Item
          key={title}
          title={<Text size="sm">{title}</Text>}
          color={COLORS[tone]}
          lineVariant={tone === 'info' ? 'dashed' : 'solid'}
        >
          {at > 0 && <Small>{format.moment(at)}</Small>}
          {about !== '' && <Small>{about}</Small>}
        </Timeline.Item>
      ))}
    </Timeline>
  );
}

function useEvents(order: Order): readonly Event[] {
  const text = useOrderText();
  const format = useFormat();
  const moneyOf = useMoneyOf();
  const { status, note, create_time, complete_time, expire_time, money_returned, currency } = order;
  const events: Event[] = [{ title: text.opened, at: create_time, tone: 'good' }];
  if (status === 'pending')
    events.push({ title: text.waiting, about: text.until(format.moment(expire_time)), tone: 'info' });
  if (status === 'failed')
    events.push({
      title: note === '' ? text.words.paymentFailed : text.neverOpened,
      about: text.expiredAbout,
      tone: 'bad',
    });
  if (status === 'expired')
    events.push({ title: text.expired, at: expire_time, about: text.expiredAbout, tone: 'idle' });
  if (complete_time > 0) {
    events.push({ title: text.words.paid, at: complete_time, tone: 'good' });
    if (status === 'parked')
      events.push({ title: text.words.paidNotCredited, about: `${note} ${text.notGivenAbout}`.trim(), tone: 'warn' });
    else events.push({ title: text.given, tone: 'good' });
  }
  if (Number(money_returned) > 0)
    events.push({
      title: status === 'disputed' ? text.disputed : text.back(moneyOf(money_returned, currency)),
      about: text.backAbout,
      tone: status === 'disputed' ? 'bad' : 'warn',
    });
  return events;
}
