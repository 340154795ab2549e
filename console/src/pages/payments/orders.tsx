/** The orders of all accounts. */
import { Button, Drawer, Group, Modal, Stack, Text, Textarea, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import { KEEPS_DATA, useAction, useApi, useCancelled } from '../../api/hooks.ts';
import { pageOf } from '../../parts/address.ts';
import { CsvButton } from '../../parts/csv-button.tsx';
import { type Column, pageSizeOf, QueryTable, sortOf } from '../../parts/data-table.tsx';
import { anyOr, FilterSelect } from '../../parts/filter-select.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import {
  Fact,
  InvoiceButton,
  ORDER_STATES,
  type Order,
  OrderFacts,
  OrderItem,
  OrderPrice,
  OrderState,
  OrderTimeline,
  useMoneyOf,
  useOrderText,
  useProviderName,
} from '../../parts/order.tsx';
import { PlainButton, Section } from '../../parts/page.tsx';
import { PersonSelect } from '../../parts/person-select.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { When } from '../../parts/values.tsx';
import type { Filtered } from './filters.ts';
import { useText } from './text.ts';

/** The orders of the list. */
const ORDERS = ['status', 'money'] as const;

/** The list. */
export function Orders({ address, onChange }: Filtered) {
  const { orders: text, words } = useText();
  const { states } = useOrderText();
  const providerName = useProviderName();
  const { data: offer } = useApi('GET /api/user/topup/info', undefined, { staleTime: 60_000, retry: false });
  const status = ORDER_STATES.find((each) => each === address.state);
  const page = pageOf(address.page);
  const pageSize = pageSizeOf(address.size);
  const search = {
    status,
    keyword: address.q,
    provider: address.provider,
    ...(/^[1-9]\d{0,14}$/.test(address.person) && { user_id: Number(address.person) }),
    ...sortOf(address.sort, ORDERS),
  };
  const orders = useApi('GET /api/user/topup', { search: { ...search, p: page, page_size: pageSize } }, KEEPS_DATA);
  const providers = new Set([...(offer?.pay_methods ?? []).map(({ provider }) => provider), 'balance', 'imported']);
  if (offer?.enable_creem_topup === true) providers.add('creem');
  if (address.provider !== '') providers.add(address.provider);
  const filtered = [address.q, address.state, address.provider, address.person].some((filter) => filter !== '');
  const filter = (change: Parameters<typeof onChange>[0]): void => onChange({ page: '1', ...change });
  const columns: readonly Column<Order>[] = [
    { key: 'when', title: words.when, cell: ({ create_time }) => <When at={create_time} /> },
    { key: 'who', title: words.user, cell: ({ username, user_id }) => username || `#${user_id}` },
    { key: 'state', sort: 'status', title: words.state, cell: ({ status }) => <OrderState status={status} /> },
    { key: 'buys', title: words.item, from: 'sm', cell: (order) => <OrderItem order={order} /> },
    {
      key: 'with',
      title: words.paymentMethod,
      from: 'md',
      cell: ({ payment_provider }) => providerName(payment_provider),
    },
    {
      key: 'price',
      sort: 'money',
      sortsFirst: 'descending',
      title: words.price,
      align: 'right',
      from: 'sm',
      cell: (order) => <OrderPrice order={order} />,
    },
  ];
  return (
    <>
      <Section
        flush
        title={text.title}
        actions={
          <>
            <SearchField label={text.search} value={address.q} onSearch={(q) => filter({ q })} />
            <FilterSelect
              label={words.state}
              data={anyOr(words.anyState, ORDER_STATES, (each) => states[each])}
              value={status ?? ''}
              onChange={(state) => filter({ state })}
            />
            <FilterSelect
              label={text.provider}
              data={anyOr(text.anyProvider, providers, (name) => providerName(name))}
              value={address.provider}
              onChange={(provider) => filter({ provider })}
            />
            <PersonSelect
              hiddenLabel
              label={words.user}
              placeholder={words.allUsers}
              value={address.person}
              onChange={(person) => filter({ person })}
            />
            <CsvButton of="GET /api/user/topup" name="orders" search={search} />
          </>
        }
      >
        <QueryTable
          query={orders}
          caption={text.title}
          columns={columns}
          rowKey={({ trade_no }) => trade_no}
          open={address.open}
          onOpen={({ trade_no }) => onChange({ open: trade_no })}
          empty={
            filtered ? (
              <Empty
                title={words.noMatchingOrders}
                action={
                  <PlainButton onClick={() => filter({ q: '', state: '', provider: '', person: '' })}>
                    {words.showAllOrders}
                  </PlainButton>
                }
              >
                {text.noneAbout}
              </Empty>
            ) : (
              <Empty title={words.noOrdersYet}>
                {offer?.pay_methods.length === 0 && !offer.enable_creem_topup ? text.emptyOff : text.emptyAbout}
              </Empty>
            )
          }
          page={page}
          pageSize={pageSize}
          onPageSize={(size) => filter({ size: `${size}` })}
          order={{ sort: address.sort, onSort: (sort) => filter({ sort }) }}
          onPage={(to) => onChange({ page: `${to}` })}
        />
      </Section>
      <OrderDrawer
        tradeNo={address.open}
        listed={orders.data?.items.find(({ trade_no }) => trade_no === address.open)}
        onClose={() => onChange({ open: '' })}
      />
    </>
  );
}

/** States of orders that are not credited yet. */
const OPEN: readonly Order['status'][] = ['pending', 'failed', 'expired', 'parked'];

/** One order with its history. An order whose payment was not confirmed can be completed manually. `listed`: the order, if the list has it. */
function OrderDrawer({
  tradeNo,
  listed,
  onClose,
}: {
  readonly tradeNo: string;
  readonly listed: Order | undefined;
  onClose(): void;
}) {
  const { words } = useText();
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
  const { orders: text, words } = useText();
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
      <Group justify="flex-end" gap="xs">
        <InvoiceButton order={order} of="all" />
        {OPEN.includes(order.status) && <PlainButton onClick={() => setCompleting(true)}>{text.complete}</PlainButton>}
      </Group>
      <Complete order={order} opened={completing} onClose={() => setCompleting(false)} />
    </Stack>
  );
}

function Complete({ order, opened, onClose }: { readonly order: Order; readonly opened: boolean; onClose(): void }) {
  const { complete: text, words } = useText();
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
            <PlainButton onClick={onClose}>{words.cancel}</PlainButton>
            <Button type="submit" loading={complete.isPending}>
              {text.action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
