/** Prices of all models, their sources, and prices that need attention. */
import { Alert, Box, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { pageOf, useAddress } from '../../parts/address.ts';
import { Coded } from '../../parts/coded.tsx';
import { paged } from '../../parts/data-table.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { Page, PlainButton, Section } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { PriceDrawer } from './price-drawer.tsx';
import { PriceTable } from './price-table.tsx';
import { inOrder, isIn, type Priced, priceFits, VIEWS, type View } from './priced.ts';
import { TEXT } from './text.ts';
import './prices.css';

const PAGE_SIZE = 50;

export default function PricesPage() {
  const text = useText(TEXT);
  const names = useText(PAGE_NAMES);
  const [address, change] = useAddress({ q: '', show: 'all', page: '1', model: '' });
  const prices = useApi('GET /api/price/');
  return (
    <Page title={names.prices} about={text.about}>
      <Loaded query={prices} height={320}>
        {({ models, snapshot }) => (
          <>
            {address.show !== 'unpriced' && (
              <UnpricedNote models={models} onShow={() => change({ show: 'unpriced', q: '' })} />
            )}
            <Section flush title={text.prices} about={text.snapshot(snapshot.name, snapshot.version)}>
              <Prices models={models} address={address} onChange={change} />
            </Section>
          </>
        )}
      </Loaded>
      <PriceDrawer name={address.model} models={prices.data?.models} onClose={() => change({ model: '' })} />
    </Page>
  );
}

/** Models whose calls are refused because they have no price. */
function UnpricedNote({ models, onShow }: { readonly models: readonly Priced[]; onShow(): void }) {
  const text = useText(TEXT);
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
  const text = useText(TEXT);
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
  const text = useText(TEXT);
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
