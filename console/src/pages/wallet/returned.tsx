/** Shows the state of an order after the user returns from a payment page. */
import { Alert, Anchor, Group, Loader, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import { IconAlertTriangle, IconCheck } from '../../icons.ts';
import { useAddress } from '../../parts/address.ts';
import { type Order, useProviderName } from '../../parts/order.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { useWatchedOrder } from './orders.tsx';
import { useText } from './text.ts';
import { remember, rememberedOrder } from './use-paying.ts';

/** Parameters of the return address: ours, and the order number under the names that providers use. */
const NAMES = { paid: '', unpaid: '', out_trade_no: '', request_id: '' } as const;

/** The note; renders nothing unless the user returns from a payment. */
export function Returned({ onOpen }: { onOpen(tradeNo: string): void }) {
  const [address, change] = useAddress(NAMES);
  const [orderNumber, setKept] = useState(rememberedOrder);
  const came = address.paid !== '' || address.unpaid !== '';
  const named = address.out_trade_no || address.request_id || orderNumber;
  // Another tab began the payment: it is the newest order.
  const newest = useApi(
    'GET /api/user/topup/self',
    { search: { p: 1, page_size: 1 } },
    { enabled: came && named === '' },
  );
  const tradeNo = named || (came ? (newest.data?.items[0]?.trade_no ?? '') : '');
  const { data: order } = useWatchedOrder(tradeNo);
  if (order === undefined) return null;
  const dismiss = (): void => {
    remember('');
    setKept('');
    change({ paid: '', unpaid: '', out_trade_no: '', request_id: '' }, 'replace');
  };
  return (
    <div aria-live="polite">
      <OrderNote
        order={order}
        unpaid={address.unpaid !== ''}
        onOpen={() => onOpen(order.trade_no)}
        onDismiss={dismiss}
      />
    </div>
  );
}

/** The state of an order in a note. */
export function OrderNote({
  order,
  unpaid = false,
  onOpen,
  onDismiss,
}: {
  readonly order: Order;
  /** The user returned without paying. */
  readonly unpaid?: boolean;
  onOpen(): void;
  onDismiss(): void;
}) {
  const { back: text, words } = useText();
  const format = useFormat();
  const providerName = useProviderName();
  const note = (color: string, title: string, about: string, icon: ReactNode) => (
    <Alert color={color} title={title} icon={icon}>
      <Stack gap="xs">
        <Text size="sm">{about}</Text>
        <Group gap="md">
          <Anchor component="button" type="button" size="sm" onClick={onOpen}>
            {text.details}
          </Anchor>
          <PlainButton size="compact-xs" onClick={onDismiss}>
            {text.dismiss}
          </PlainButton>
        </Group>
      </Stack>
    </Alert>
  );
  const warning = <IconAlertTriangle />;
  switch (order.status) {
    case 'pending':
      return unpaid
        ? note('gray', text.unpaid, text.unpaidAbout, warning)
        : note(
            'blue',
            text.waiting,
            text.waitingAbout(providerName(order.payment_provider)),
            <Loader size="xs" color="blue" />,
          );
    case 'success': {
      const gave = order.kind === 'plan' ? text.gavePlan(order.plan) : text.gave(format.money(order.quota));
      return note('green', words.paid, gave, <IconCheck />);
    }
    case 'failed':
      return note('red', words.paymentFailed, text.failedAbout, warning);
    case 'expired':
      return note('gray', text.expired, text.expiredAbout, warning);
    case 'parked':
      return note('orange', words.paidNotCredited, text.parkedAbout(order.trade_no), warning);
    default:
      return note('orange', text.returned, text.parkedAbout(order.trade_no), warning);
  }
}
