/** Prices of all models, their sources, and prices that need attention; those come first. */
import './prices.css';
import { Alert, Box, Button, Group, SegmentedControl, Stack, Text, Tooltip } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import { Coded } from '../../parts/coded.tsx';
import { type Column, DataTable, paged } from '../../parts/data-table.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { Page, PageTabs, PlainButton, Section, Small } from '../../parts/page.tsx';
import { type AmountField, amountsOf, unitOf, useAmount, useAmountText } from '../../parts/price-amounts.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { PriceDrawer } from './price-drawer.tsx';
import { inOrder, isIn, type Priced, priceFits, useDay, useSource, VIEWS, type View } from './priced.ts';
import { useText } from './text.ts';
import { Updates } from './updates.tsx';

const PAGE_SIZE = 50;

export default function PricesPage() {
  const text = useText();
  const [address, change] = useAddress({ tab: 'prices', q: '', show: 'all', page: '1', model: '' });
  const prices = useApi('GET /api/price/');
  return (
    <Page name="prices" about={text.about}>
      <PageTabs
        label={text.prices}
        tab={address.tab === 'updates' ? 'updates' : 'prices'}
        names={{ prices: text.prices, updates: text.updates.tab }}
        onChange={(tab) => change({ tab })}
        contents={{
          prices: (
            <Loaded query={prices} height={320}>
              {({ models, snapshot }) => (
                <Stack gap="md">
                  {address.show !== 'unpriced' && (
                    <UnpricedNote models={models} onShow={() => change({ show: 'unpriced', q: '' })} />
                  )}
                  <Section flush title={text.prices} about={text.snapshot(snapshot.name, snapshot.version)}>
                    <Prices models={models} address={address} onChange={change} />
                  </Section>
                </Stack>
              )}
            </Loaded>
          ),
          updates: <Updates />,
        }}
      />
      <PriceDrawer name={address.model} models={prices.data?.models} onClose={() => change({ model: '' })} />
    </Page>
  );
}

/** Models whose calls are refused because they have no price. */
function UnpricedNote({ models, onShow }: { readonly models: readonly Priced[]; onShow(): void }) {
  const text = useText();
  const format = useFormat();
  const count = models.filter(({ calls }) => calls === 'refused').length;
  if (count === 0) return null;
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={text.lost(format.number(count))}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{text.lostAbout}</Text>
        <PlainButton onClick={onShow}>{text.showLost}</PlainButton>
      </Stack>
    </Alert>
  );
}

interface Address {
  readonly q: string;
  readonly show: string;
  readonly page: string;
  readonly model: string;
}

function Prices({
  models,
  address,
  onChange,
}: {
  readonly models: readonly Priced[];
  readonly address: Address;
  onChange(change: Partial<Address>): void;
}) {
  const text = useText();
  const format = useFormat();
  const view: View = VIEWS.find((each) => each === address.show) ?? 'all';
  const ordered = useMemo(() => inOrder(models), [models]);
  const matches = ordered.filter((model) => isIn(view, model) && priceFits(model, address.q));
  const [shown, pager] = paged(matches, pageOf(address.page), PAGE_SIZE, onChange);
  const isFiltered = view !== 'all' || address.q !== '';
  return (
    <>
      <Group className="section-head" justify="space-between" gap="xs">
        <Box w="min(20rem, 100%)">
          <SearchField label={text.find} value={address.q} onSearch={(q) => onChange({ q, page: '1' })} />
        </Box>
        <SegmentedControl
          size="xs"
          className="price-kinds"
          aria-label={text.words.show}
          value={view}
          onChange={(show) => onChange({ show, page: '1' })}
          data={VIEWS.map((each) => ({
            value: each,
            label: text[each](format.number(models.filter((model) => isIn(each, model)).length)),
          }))}
        />
      </Group>
      <PriceTable
        rows={shown}
        open={address.model}
        onOpen={(model) => onChange({ model })}
        empty={
          models.length === 0 ? (
            <Empty
              title={text.none}
              action={
                <Button component={Link} href="/vendors?add=1">
                  {text.words.addAVendor}
                </Button>
              }
            >
              {text.noneAbout}
            </Empty>
          ) : (
            <NoMatches view={address.q === '' ? view : 'all'} onClear={() => onChange({ q: '', show: 'all' })} />
          )
        }
      />
      {isFiltered && (
        <span className="aloud" role="status">
          {format.number(matches.length)}
        </span>
      )}
      {pager}
    </>
  );
}

function NoMatches({ view, onClear }: { readonly view: View; onClear(): void }) {
  const text = useText();
  const titles: Readonly<Record<View, string>> = {
    all: text.words.noMatchingModels,
    unpriced: text.nothingUnpriced,
    drift: text.nothingDrift,
    upcoming: text.nothingUpcoming,
  };
  return (
    <Empty title={titles[view]} action={<PlainButton onClick={onClear}>{text.words.showAll}</PlainButton>}>
      {view === 'upcoming' && <Coded>{text.nothingUpcomingAbout}</Coded>}
    </Empty>
  );
}

/** Rates with their own column. */
const OWN: readonly AmountField[] = ['input', 'output', 'cacheRead'];

/** `open`: the name of the open model. */
function PriceTable({
  rows,
  open,
  onOpen,
  empty,
}: {
  readonly rows: readonly Priced[];
  readonly open: string;
  onOpen(name: string): void;
  readonly empty: ReactNode;
}) {
  const text = useText();
  const amountText = useAmount();
  const sourceText = useSource();
  const dayText = useDay();
  const amount = (field: 'input' | 'output' | 'cacheRead', from?: 'sm' | 'md'): Column<Priced> => ({
    key: field,
    title: text[field],
    align: 'right',
    ...(from !== undefined && { from }),
    cell: ({ price }) => (price?.[field] === undefined ? '–' : amountText(price[field])),
  });
  const columns: readonly Column<Priced>[] = [
    {
      key: 'model',
      title: text.words.model,
      cell: (model) => (
        <div className="price-name">
          {model.name}
          {model.aliases.length > 0 && <SecondaryText>{text.aliases(model.aliases.join(', '))}</SecondaryText>}
          {model.fallback_of.length > 0 && (
            <SecondaryText>{text.fallbackOf(model.fallback_of.join(', '))}</SecondaryText>
          )}
          {/* Phones do not show the status column, so the price cell tells free from refused. */}
          <Box hiddenFrom="sm">
            <Notes model={model} />
          </Box>
        </div>
      ),
    },
    amount('input'),
    amount('output'),
    { key: 'note', title: text.note, from: 'sm', cell: (model) => <Notes model={model} /> },
    amount('cacheRead', 'md'),
    { key: 'others', title: text.others, from: 'md', cell: (model) => <Others model={model} /> },
    {
      key: 'source',
      title: text.source,
      from: 'sm',
      cell: ({ source, effective_from: from }) =>
        source === null ? (
          '–'
        ) : (
          <Text size="xs">
            {sourceText(source)}
            {from !== null && `, ${text.since(dayText(from))}`}
          </Text>
        ),
    },
  ];
  return (
    <DataTable
      caption={text.prices}
      columns={columns}
      rows={rows}
      rowKey={({ name }) => name}
      open={open}
      onOpen={({ name }) => onOpen(name)}
      empty={empty}
    />
  );
}

/** The status in a word. */
function Notes({ model: { price, unpriced, calls, drift, upcoming } }: { readonly model: Priced }) {
  const text = useText();
  const amountText = useAmountText();
  const dayText = useDay();
  const next = upcoming[0];
  return (
    <Group gap={6}>
      {price?.free === true && <Text size="sm">{amountText.words.free}</Text>}
      {unpriced && (
        <Tooltip label={calls === 'refused' ? text.refused : text.freeForNow}>
          <span>
            <State tone={calls === 'refused' ? 'bad' : 'warn'}>
              {price === null ? text.words.noPrice : text.fallbackUnpriced}
            </State>
          </span>
        </Tooltip>
      )}
      {drift.length > 0 && (
        <Tooltip label={text.driftAbout}>
          <span>
            <State tone="warn">{text.driftBadge}</State>
          </span>
        </Tooltip>
      )}
      {next !== undefined && <State tone="info">{text.upcomingBadge(dayText(next.effective_from))}</State>}
    </Group>
  );
}

function Others({ model: { price } }: { readonly model: Priced }) {
  const words = useAmountText();
  const amountText = useAmount();
  const others = price === null ? [] : amountsOf(price).filter(([field]) => !OWN.includes(field));
  if (others.length === 0) return <>–</>;
  const lines = others.map(
    ([field, amount]) => `${words.fields[field]} ${amountText(amount)}${words.short[unitOf(field)]}`,
  );
  return <Text size="xs">{lines.join(' · ')}</Text>;
}

function SecondaryText({ children }: { readonly children: ReactNode }) {
  return (
    <Small span display="block">
      {children}
    </Small>
  );
}
