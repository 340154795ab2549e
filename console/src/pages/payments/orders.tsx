/** The orders of all accounts. */
import { KEEPS_DATA, useApi } from '../../api/hooks.ts';
import { pageOf } from '../../parts/address.ts';
import { type Column, QueryTable } from '../../parts/data-table.tsx';
import { anyOr, FilterSelect } from '../../parts/filter-select.tsx';
import { Empty } from '../../parts/notes.tsx';
import {
  ORDER_STATES,
  ORDER_TEXT,
  type Order,
  OrderItem,
  OrderPrice,
  OrderState,
  useProviderName,
} from '../../parts/order.tsx';
import { PlainButton, Section } from '../../parts/page.tsx';
import { PersonSelect } from '../../parts/person-select.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { When } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { type Filtered, PAGE_SIZE } from './filters.ts';
import { OrderDrawer } from './order-drawer.tsx';
import { TEXT } from './text.ts';

/** The list. */
export function Orders({ address, onChange }: Filtered) {
  const { orders: text, words } = useText(TEXT);
  const { states } = useText(ORDER_TEXT);
  const providerName = useProviderName();
  const { data: offer } = useApi('GET /api/user/topup/info', undefined, { staleTime: 60_000, retry: false });
  const status = ORDER_STATES.find((each) => each === address.state);
  const page = pageOf(address.page);
  const orders = useApi(
    'GET /api/user/topup',
    {
      search: {
        p: page,
        page_size: PAGE_SIZE,
        status,
        keyword: address.q,
        provider: address.provider,
        ...(/^[1-9]\d{0,14}$/.test(address.person) && { user_id: Number(address.person) }),
      },
    },
    KEEPS_DATA,
  );
  const providers = new Set([...(offer?.pay_methods ?? []).map(({ provider }) => provider), 'balance']);
  if (offer?.enable_creem_topup === true) providers.add('creem');
  if (address.provider !== '') providers.add(address.provider);
  const filtered = [address.q, address.state, address.provider, address.person].some((filter) => filter !== '');
  const filter = (change: Parameters<typeof onChange>[0]): void => onChange({ page: '1', ...change });
  const columns: readonly Column<Order>[] = [
    { key: 'when', title: words.when, cell: ({ create_time }) => <When at={create_time} /> },
    { key: 'who', title: words.user, cell: ({ username, user_id }) => username || `#${user_id}` },
    { key: 'state', title: words.state, cell: ({ status }) => <OrderState status={status} /> },
    { key: 'buys', title: words.item, from: 'sm', cell: (order) => <OrderItem order={order} /> },
    {
      key: 'with',
      title: words.paymentMethod,
      from: 'md',
      cell: ({ payment_provider }) => providerName(payment_provider),
    },
    { key: 'price', title: words.price, align: 'right', from: 'sm', cell: (order) => <OrderPrice order={order} /> },
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
          pageSize={PAGE_SIZE}
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
