/** One order with its history. An order whose payment was not confirmed can be completed manually. */
import { Button, Drawer, Group, Modal, Stack, Text, Textarea, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useApi, useCancelled } from '../../api/hooks.ts';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { Fact, type Order, OrderFacts, OrderState, OrderTimeline, useMoneyOf } from '../../parts/order.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** States of orders that are not credited yet. */
const OPEN: readonly Order['status'][] = ['pending', 'failed', 'expired', 'parked'];

/** The drawer. `listed`: the order, if the list has it. */
export function OrderDrawer({
  tradeNo,
  listed,
  onClose,
}: {
  readonly tradeNo: string;
  readonly listed: Order | undefined;
  onClose(): void;
}) {
  const { words } = useText(TEXT);
  // The address may name an order that is not on the current page of the list.
  const query = useApi(
    'GET /api/user/topup',
    { search: { p: 1, page_size: 1, keyword: tradeNo } },
    { enabled: tradeNo !== '' && listed === undefined },
  );
  return (
    <Drawer opened={tradeNo !== ''} onClose={onClose} title={words.order}>
      {listed !== undefined ? (
        <OneOrder order={listed} />
      ) : (
        tradeNo !== '' && (
          <Loaded query={query}>
            {({ items }) =>
              items[0]?.trade_no === tradeNo ? <OneOrder order={items[0]} /> : <Empty title={words.noMatchingOrders} />
            }
          </Loaded>
        )
      )}
    </Drawer>
  );
}

function OneOrder({ order }: { readonly order: Order }) {
  const { orders: text, words } = useText(TEXT);
  const [completing, setCompleting] = useState(false);
  return (
    <Stack gap="md">
      <div>
        <OrderState status={order.status} />
      </div>
      <OrderFacts
        order={order}
        more={
          <>
            <Fact name={words.user}>{order.username || `#${order.user_id}`}</Fact>
            {order.note !== '' && <Fact name={text.note}>{order.note}</Fact>}
          </>
        }
      />
      <Title order={3} size="h5">
        {words.history}
      </Title>
      <OrderTimeline order={order} />
      {OPEN.includes(order.status) && (
        <Group justify="flex-end">
          <PlainButton onClick={() => setCompleting(true)}>{text.complete}</PlainButton>
        </Group>
      )}
      <Complete order={order} opened={completing} onClose={() => setCompleting(false)} />
    </Stack>
  );
}

function Complete({ order, opened, onClose }: { readonly order: Order; readonly opened: boolean; onClose(): void }) {
  const { complete: text, cancel } = useText(TEXT);
  const moneyOf = useMoneyOf();
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState('');
  const complete = useAction(
    () => call('POST /api/user/topup/complete', { body: { trade_no: order.trade_no, reason: reason.trim() } }),
    {
      changes: ['GET /api/user/topup'],
      done() {
        notifications.show({ color: 'green', message: text.done });
        onClose();
      },
    },
  );
  useCancelled(complete, opened);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (reason.trim() === '') setProblem(text.wanted);
    else complete.mutate();
  };
  return (
    <Modal opened={opened} onClose={onClose} title={text.title}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <Text size="sm">
            {text.about(order.username || `#${order.user_id}`, moneyOf(order.money_text, order.currency))}
          </Text>
          <Textarea
            label={text.reason}
            description={text.reasonAbout}
            placeholder={text.reasonExample}
            value={reason}
            onChange={({ currentTarget }) => {
              setReason(currentTarget.value);
              setProblem('');
            }}
            error={problem || undefined}
            maxLength={500}
            autosize
            minRows={2}
            required
            data-autofocus
          />
          <Group justify="flex-end" gap="xs">
            <PlainButton onClick={onClose}>{cancel}</PlainButton>
            <Button type="submit" loading={complete.isPending}>
              {text.action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
