/** Routes: channels by priority, then fallbacks, and their current health. */
import { Anchor, Box, Group, SegmentedControl, Tooltip } from '@mantine/core';
import { Link } from 'wouter';
import type { ModelRoute } from '../../api/operations.ts';
import { IconArrowRight } from '../../icons.ts';
import { pageOf } from '../../parts/address.ts';
import { type Column, DataTable, paged } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/notes.tsx';
import { PlainButton, Section, Small } from '../../parts/page.tsx';
import { type Price, useShortPrice } from '../../parts/price-amounts.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { State, type Tone } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { type Channel, ChannelState, type Condition, conditionOfModel } from './channel-state.tsx';
import { useText } from './text.ts';

const PAGE_SIZE = 50;
const HEALTH: Readonly<Record<ChainHealth, Tone>> = { well: 'good', degraded: 'warn', fallback: 'warn', down: 'bad' };

/** Parameters of the address. */
export interface RoutesView {
  readonly q: string;
  /** `attention`: only routes that need attention. */
  readonly show: string;
  readonly page: string;
}

/** The table. */
export function Routes({
  chains,
  view,
  onView,
  onChannel,
}: {
  readonly chains: readonly Chain[];
  readonly view: RoutesView;
  onView(change: Partial<RoutesView>): void;
  onChannel(name: string): void;
}) {
  const text = useText();
  const format = useFormat();
  const wrong = chains.filter(needsAttention);
  const matches = (view.show === 'attention' ? wrong : chains).filter((chain) => chainFits(chain, view.q));
  const [shown, pager] = paged(matches, pageOf(view.page), PAGE_SIZE, onView);
  const columns: readonly Column<Chain>[] = [
    {
      key: 'model',
      title: text.words.model,
      cell: ({ name, model }) => (
        <div className="chain-name">
          {name}
          {model !== name && (
            <Small span display="block">
              {text.aliasOf(model)}
            </Small>
          )}
        </div>
      ),
    },
    {
      key: 'health',
      title: text.words.state,
      cell: ({ health }) => (
        <Tooltip label={text.healthAbout[health]}>
          <span>
            <State tone={HEALTH[health]}>{text.health[health]}</State>
          </span>
        </Tooltip>
      ),
    },
    { key: 'chain', title: text.chain, cell: (chain) => <ChainSteps chain={chain} onChannel={onChannel} /> },
    { key: 'price', title: text.words.price, cell: (chain) => <ChainPrice chain={chain} /> },
  ];
  return (
    <Section flush title={text.routes} about={text.routesAbout}>
      <Group className="section-head" justify="space-between" gap="xs">
        <Box w="min(20rem, 100%)">
          <SearchField label={text.find} value={view.q} onSearch={(q) => onView({ q, page: '1' })} />
        </Box>
        <SegmentedControl
          size="xs"
          aria-label={text.words.show}
          value={view.show === 'attention' ? 'attention' : 'all'}
          onChange={(show) => onView({ show: show === 'all' ? '' : show, page: '1' })}
          data={[
            { value: 'all', label: text.all(format.number(chains.length)) },
            { value: 'attention', label: text.attention(format.number(wrong.length)) },
          ]}
        />
      </Group>
      <DataTable
        caption={text.routes}
        columns={columns}
        rows={shown}
        rowKey={({ name }) => name}
        empty={
          <Empty
            title={view.q === '' && chains.length > 0 ? text.nothingWrong : text.nothingFound}
            action={
              (view.q !== '' || view.show !== '') && (
                <PlainButton onClick={() => onView({ q: '', show: '', page: '1' })}>{text.words.showAll}</PlainButton>
              )
            }
          />
        }
      />
      {pager}
    </Section>
  );
}

function ChainSteps({ chain, onChannel }: { readonly chain: Chain; onChannel(name: string): void }) {
  const text = useText();
  return (
    <ol className="chain">
      {chain.tiers.map((tier, at) => (
        <li key={tier.map(({ channel }) => channel).join(' ')}>
          {at > 0 && <Arrow />}
          <span className="chain-tier">
            {tier.map((place) => (
              <ChainPlace
                key={`${place.channel} ${place.model}`}
                place={place}
                model={chain.model}
                isShared={tier.length > 1}
                onChannel={onChannel}
              />
            ))}
          </span>
        </li>
      ))}
      {chain.fallbacks.map(({ name, down, unpriced }) => (
        <li key={`fallback ${name}`}>
          <Arrow />
          <span className="chain-place">
            <Small span>{text.fallback}</Small> {name}
            {down && <State tone="bad">{text.health.down}</State>}
            {unpriced && <State tone="bad">{text.words.noPrice}</State>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function ChainPlace({
  place: { channel, model: upstreamName, share, condition },
  model,
  isShared,
  onChannel,
}: {
  readonly place: Target;
  readonly model: string;
  readonly isShared: boolean;
  onChannel(name: string): void;
}) {
  const text = useText();
  const format = useFormat();
  return (
    <span className="chain-place">
      <Anchor component="button" type="button" size="sm" onClick={() => onChannel(channel)}>
        {channel}
      </Anchor>
      {upstreamName !== model && <Small span>{text.there(upstreamName)}</Small>}
      {isShared && (
        <Tooltip label={text.share(format.percent(share))}>
          <Small span className="number">
            {format.percent(share)}
          </Small>
        </Tooltip>
      )}
      {condition !== 'closed' && <ChannelState condition={condition} />}
    </span>
  );
}

function Arrow() {
  return (
    <span className="chain-then">
      <IconArrowRight size={14} aria-hidden />
      <span className="aloud">{useText().afterwards}</span>
    </span>
  );
}

function ChainPrice({ chain: { name, model, price, free } }: { readonly chain: Chain }) {
  const text = useText();
  const shortPrice = useShortPrice();
  if (free) return <>{text.words.free}</>;
  if (price !== null) return <span className="number">{shortPrice(price)}</span>;
  return (
    <Group gap={6} wrap="nowrap">
      <Tooltip label={text.noPriceAbout}>
        <span>
          <State tone="bad">{text.words.noPrice}</State>
        </span>
      </Tooltip>
      <Anchor component={Link} href={`/prices?model=${encodeURIComponent(model)}`} size="sm">
        {text.setPrice(name)}
      </Anchor>
    </Group>
  );
}

type Route = ModelRoute;

/** A channel of a route. */
interface Target {
  readonly channel: string;
  /** The upstream model name. */
  readonly model: string;
  /** Its share of the calls of its priority, from 0 to 1. */
  readonly share: number;
  readonly condition: Condition;
}

/** `fallback`: a fallback serves the calls. */
type ChainHealth = 'well' | 'degraded' | 'fallback' | 'down';

/** The route of a public name. */
interface Chain {
  readonly name: string;
  /** The model of the name. */
  readonly model: string;
  readonly free: boolean;
  readonly price: Price | null;
  /** Channels of the same priority share the calls. */
  readonly tiers: readonly (readonly Target[])[];
  readonly fallbacks: readonly { readonly name: string; readonly down: boolean; readonly unpriced: boolean }[];
  readonly health: ChainHealth;
}

/** One route for each public name. */
export function chainsOf(routes: readonly Route[], channels: readonly Channel[]): readonly Chain[] {
  const placesOf = (route: Route): readonly (readonly Target[])[] => {
    const priorities = [...new Set(route.channels.map(({ priority }) => priority))].sort((a, b) => a - b);
    return priorities.map((priority) => {
      const tier = route.channels.filter((each) => each.priority === priority);
      const weight = tier.reduce((sum, each) => sum + each.weight, 0);
      return tier.map((each) => ({
        channel: each.channel,
        model: each.model,
        share: each.weight / weight,
        condition: conditionAt(channels, each.channel, route.model),
      }));
    });
  };
  const isDown = (places: readonly (readonly Target[])[]): boolean =>
    places.flat().every(({ condition }) => condition === 'open');
  const down = new Set(routes.filter((route) => isDown(placesOf(route))).map(({ name }) => name));

  const unpriced = new Set(routes.filter((route) => route.price === null && !route.free).map(({ name }) => name));

  return routes.map((route) => {
    const { name, model, free, price, fallback } = route;
    const tiers = placesOf(route);
    const fallbacks = fallback.map((each) => ({ name: each, down: down.has(each), unpriced: unpriced.has(each) }));
    const isWell = tiers.flat().every(({ condition }) => condition === 'closed');
    const health: ChainHealth = isWell
      ? 'well'
      : !isDown(tiers)
        ? 'degraded'
        : fallbacks.some((each) => !each.down)
          ? 'fallback'
          : 'down';
    return { name, model, free, price, tiers, fallbacks, health };
  });
}

/** True if the route needs attention. */
function needsAttention({ health, price, free, fallbacks }: Chain): boolean {
  return health !== 'well' || (price === null && !free) || fallbacks.some(({ unpriced }) => unpriced);
}

/** True if its name or one of its channels contains the text. */
function chainFits({ name, model, tiers, fallbacks }: Chain, search: string): boolean {
  const query = search.trim().toLowerCase();
  const names = [name, model, ...tiers.flat().flatMap((place) => [place.channel, place.model])];
  return [...names, ...fallbacks.map((each) => each.name)].some((each) => each.toLowerCase().includes(query));
}

function conditionAt(channels: readonly Channel[], channel: string, model: string): Condition {
  const served = channels.find(({ name }) => name === channel)?.models.find(({ name }) => name === model);
  return served === undefined ? 'closed' : conditionOfModel(served);
}
