/** The models: what can be called, prices and health. */
import './models.css';
import { Alert, Anchor, Checkbox, Group, NativeSelect, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useApi } from '../../api/hooks.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import { paged } from '../../parts/data-table.tsx';
import { anyOr } from '../../parts/filter-select.tsx';
import {
  ABILITIES,
  type ModelCard,
  type ModelFilters,
  matchingModels,
  PURPOSES,
  purposesOf,
} from '../../parts/model-card.ts';
import { Empty, Loaded, NoModels } from '../../parts/notes.tsx';
import { Page, PlainButton, Section, Small } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { useFormat } from '../../shell/format.ts';
import { useStyleName } from './marks.tsx';
import { ModelDrawer } from './model-drawer.tsx';
import { ModelList } from './model-list.tsx';
import { useText } from './text.ts';

const PAGE_SIZE = 50;
const ANYTHING: ModelFilters = { q: '', purpose: '', style: '', ability: '', free: '' };

export default function ModelsPage() {
  const text = useText();
  const catalog = useApi('GET /api/models/catalog', undefined, { staleTime: 30_000 });
  return (
    <Page name="models" about={text.about}>
      <Loaded query={catalog} height={320}>
        {(cards) => (cards.length === 0 ? <NoModels /> : <Catalogue cards={cards} />)}
      </Loaded>
    </Page>
  );
}

function Catalogue({ cards }: { readonly cards: readonly ModelCard[] }) {
  const text = useText();
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
              {text.words.openVendors}
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
            title={text.words.noMatchingModels}
            action={
              <PlainButton onClick={() => change({ ...ANYTHING, page: '1' })}>{text.words.clearFilters}</PlainButton>
            }
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

/** The fields. They offer only values that some model has. */
function Filters({
  cards,
  filters,
  onWant,
}: {
  readonly cards: readonly ModelCard[];
  readonly filters: ModelFilters;
  onWant(change: Partial<ModelFilters>): void;
}) {
  const text = useText();
  const nameOf = useStyleName();
  const purposes = PURPOSES.filter((purpose) => cards.some((card) => purposesOf(card).includes(purpose)));
  const styles = [...new Set(cards.flatMap((card) => card.styles.map(({ name }) => name)))];
  const abilities = ABILITIES.filter((ability) => cards.some((card) => card.abilities[ability] === true));
  return (
    <Group gap="xs">
      <SearchField label={text.words.searchByName} value={filters.q} onSearch={(q) => onWant({ q })} />
      <NativeSelect
        aria-label={text.purpose}
        data={anyOr(text.anyPurpose, purposes, (value) => text.purposes[value])}
        value={filters.purpose}
        onChange={({ currentTarget: { value } }) => onWant({ purpose: value })}
      />
      <NativeSelect
        aria-label={text.style}
        data={anyOr(text.anyStyle, styles, (value) => nameOf(value))}
        value={filters.style}
        onChange={({ currentTarget: { value } }) => onWant({ style: value })}
      />
      {(abilities.length > 0 || filters.ability !== '') && (
        <NativeSelect
          aria-label={text.ability}
          data={anyOr(text.anyAbility, abilities.length > 0 ? abilities : ABILITIES, (value) => text.abilities[value])}
          value={filters.ability}
          onChange={({ currentTarget: { value } }) => onWant({ ability: value })}
        />
      )}
      <Checkbox
        label={text.onlyFree}
        checked={filters.free !== ''}
        onChange={({ currentTarget: { checked } }) => onWant({ free: checked ? 'yes' : '' })}
      />
    </Group>
  );
}
