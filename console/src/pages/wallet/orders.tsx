/** The user's orders, and one of them with its history. */
import { Drawer, Group, Stack, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { KEEPS_DATA, useApi } from '../../api/hooks.ts';
import { type Column, DataTable, Pager } from '../../parts/data-table.tsx';
import { anyOr, FilterSelect } from '../../parts/filter-select.tsx';
import { Empty, Failure, Loaded } from '../../parts/notes.tsx';
import {
  InvoiceButton,
  ORDER_STATES,
  type Order,
  OrderFacts,
  OrderItem,
  OrderPrice,
  OrderState,
  OrderTimeline,
  useOrderText,
  useProviderName,
} from '../../parts/order.tsx';
import { PlainButton, Section } from '../../parts/page.tsx';
import { When } from '../../parts/values.tsx';
import { BillingDetails } from './billing.tsx';
import { useText } from './text.ts';
import { PAID_CHANGES } from './use-paying.ts';

const PAGE_SIZE = 20;

/** The list. */
export function Orders({
  state,
  page,
  open,
  onChange,
}: {
  readonly state: string;
  readonly page: number;
  readonly open: string;
  onChange(change: { state?: string; page?: string; order?: string }): void;
}) {
  const { orders: text, words } = useText();
  const { states } = useOrderText();
  const providerName = useProviderName();
  const [isBilling, setBilling] = useState(false);
  const status = ORDER_STATES.find((each) => each === state);
  const orders = useApi(
    'GET /api/user/topup/self',
    { search: { p: page, page_size: PAGE_SIZE, status } },
    { retry: false, ...KEEPS_DATA },
  );
  const columns: readonly Column<Order>[] = [
    { key: 'when', title: words.when, cell: ({ create_time }) => <When at={create_time} /> },
    { key: 'state', title: words.state, cell: ({ status }) => <OrderState status={status} /> },
    { key: 'buys', title: words.item, cell: (order) => <OrderItem order={order} /> },
    {
      key: 'with',
      title: words.paymentMethod,
      from: 'sm',
      cell: ({ payment_provider }) => providerName(payment_provider),
    },
    { key: 'price', title: words.price, align: 'right', from: 'sm', cell: (order) => <OrderPrice order={order} /> },
  ];
  return (
    <Section
      flush
      title={text.title}
      actions={
        <>
          <FilterSelect
            label={words.state}
            data={anyOr(words.anyState, ORDER_STATES, (each) => states[each])}
            value={status ?? ''}
            onChange={(chosen) => onChange({ state: chosen, page: '1' })}
          />
          <PlainButton onClick={() => setBilling(true)}>{text.billing}</PlainButton>
        </>
      }
    >
      <BillingDetails opened={isBilling} onClose={() => setBilling(false)} />
      {orders.isError && orders.data === undefined && orders.error.code !== 'not_available' ? (
        <Failure error={orders.error} again={() => void orders.refetch()} />
      ) : (
        <DataTable
          caption={text.title}
          columns={columns}
          rows={orders.error?.code === 'not_available' ? [] : orders.data?.items}
          rowKey={({ trade_no }) => trade_no}
          open={open}
          onOpen={({ trade_no }) => onChange({ order: trade_no })}
          empty={
            status === undefined ? (
              <Empty title={words.noOrdersYet}>{text.emptyAbout}</Empty>
            ) : (
              <Empty
                title={words.noMatchingOrders}
                action={
                  <PlainButton onClick={() => onChange({ state: '', page: '1' })}>{words.showAllOrders}</PlainButton>
                }
              />
            )
          }
        />
      )}
      <Pager
        page={page}
        pageSize={PAGE_SIZE}
        total={orders.data?.total ?? 0}
        onPage={(to) => onChange({ page: `${to}` })}
      />
    </Section>
  );
}

/** One order in a drawer; polled while it is pending. */
export function OrderDrawer({ open, onClose }: { readonly open: string; onClose(): void }) {
  const { words } = useText();
  const query = useWatchedOrder(open);
  return (
    <Drawer opened={open !== ''} onClose={onClose} title={words.order}>
      {open !== '' && (
        <Loaded query={query}>
          {(order) => (
            <Stack gap="md">
              <div aria-live="polite">
                <OrderState status={order.status} />
              </div>
              <OrderFacts order={order} />
              <Title order={3} size="h5">
                {words.history}
              </Title>
              <OrderTimeline order={order} />
              <Group justify="flex-end">
                <InvoiceButton order={order} of="own" />
              </Group>
            </Stack>
          )}
        </Loaded>
      )}
    </Drawer>
  );
}

const OFTEN_MS = 3_000;
const SELDOM_MS = 15_000;
/** After this time, the user is not waiting any more. */
const SOON_MS = 90_000;

/** The order; undefined while loading, or if it belongs to another user. When it is final, related data is refetched. */
export function useWatchedOrder(tradeNo: string) {
  const queries = useQueryClient();
  const since = useRef(Date.now());
  const query = useApi(
    'GET /api/user/topup/status',
    { search: { trade_no: tradeNo } },
    {
      enabled: tradeNo !== '',
      retry: false,
      staleTime: 0,
      refetchInterval: ({ state }) =>
        state.data?.status !== 'pending' ? false : Date.now() - since.current < SOON_MS ? OFTEN_MS : SELDOM_MS,
    },
  );
  const status = query.data?.status;
  const before = useRef<string>(undefined);
  useEffect(() => {
    if (before.current === 'pending' && status !== undefined && status !== 'pending')
      for (const operation of PAID_CHANGES) void queries.invalidateQueries({ queryKey: [operation] });
    before.current = status;
  }, [status, queries]);
  return query;
}
