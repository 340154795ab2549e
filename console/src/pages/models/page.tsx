/** The models: what can be called, prices and health. */
import { Alert, Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { pageOf, useAddress } from '../../parts/address.ts';
import { paged } from '../../parts/data-table.tsx';
import { type ModelCard, type ModelFilters, matchingModels } from '../../parts/model-card.ts';
import { NoModels } from '../../parts/no-models.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { PlainButton, Small } from '../../parts/plain.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { Filters } from './filters.tsx';
import { ModelDrawer } from './model-drawer.tsx';
import { ModelList } from './model-list.tsx';
import './models.css';
import { TEXT } from './text.ts';

const PAGE_SIZE = 50;
const ANYTHING: ModelFilters = { q: '', purpose: '', style: '', ability: '', free: '' };

export default function ModelsPage() {
  const text = useText(TEXT);
  const names = useText(PAGE_NAMES);
  const catalog = useApi('GET /api/models/catalog', undefined, { staleTime: 30_000 });
  return (
    <Page title={names.models} about={text.about}>
      <Loaded query={catalog} height={320}>
        {(cards) => (cards.length === 0 ? <NoModels /> : <Catalogue cards={cards} />)}
      </Loaded>
    </Page>
  );
}

function Catalogue({ cards }: { readonly cards: readonly ModelCard[] }) {
  const text = useText(TEXT);
  const format = useFormat();
  const [address, change] = useAddress({ ...ANYTHING, page: '1', open: '' });
  const matches = matchingModels(cards, address);
  const [shown, pager] = paged(matches, pageOf(address.page), PAGE_SIZE, change);
  const open = cards.find(({ name }) => name === address.open);
  const since = cards[0]?.recent.since;
  const isDemo = cards.every(({ channels }) => channels?.every(({ vendor }) => vendor === 'demo') === true);
  return (
    <>
      {isDemo && (
        <Alert p="xs">
          <Text size="sm">
            {text.onlyDemo}{' '}
            <Anchor component={Link} href="/vendors" size="sm">
              {text.openVendors}
            </Anchor>
          </Text>
        </Alert>
      )}
      <Section
        flush
        title={text.count(format.number(matches.length), format.number(cards.length))}
        actions={<Filters cards={cards} filters={address} onWant={(to) => change({ page: '1', ...to })} />}
      >
        {matches.length === 0 ? (
          <Empty
            title={text.noneFound}
            action={<PlainButton onClick={() => change({ ...ANYTHING, page: '1' })}>{text.clear}</PlainButton>}
          >
            {text.noneFoundAbout}
          </Empty>
        ) : (
          <>
            <ModelList cards={shown} open={address.open} onOpen={(name) => change({ open: name })} />
            {since !== undefined && <Small p="xs">{text.recentSince(format.moment(since))}</Small>}
            {pager}
          </>
        )}
      </Section>
      <ModelDrawer
        card={open}
        aliases={cards.filter(({ name, model }) => model === open?.name && name !== model).map(({ name }) => name)}
        onClose={() => change({ open: '' })}
      />
    </>
  );
}
