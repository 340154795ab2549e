/** One model: full price, scheduled changes, difference from the list price, and how to change it. */
import { Alert, Drawer, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { isRoot, useSelf } from '../../api/hooks.ts';
import { IconAlertTriangle } from '../../icons.ts';
import { Coded } from '../../parts/coded.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/notes.tsx';
import { LinkButton, Muted, Section, Small } from '../../parts/page.tsx';
import {
  type AmountField,
  amountsOf,
  type Price,
  unitOf,
  useAmount,
  useAmountText,
} from '../../parts/price-amounts.ts';
import { Snippet } from '../../parts/values.tsx';
import { yamlName } from '../../parts/yaml-name.ts';
import { useFormat } from '../../shell/format.ts';
import type { Priced } from './priced.ts';
import { useDay, useSource } from './priced.ts';
import { useText } from './text.ts';

/** The drawer. `name`: the model in the address; empty: none. */
export function PriceDrawer({
  name,
  models,
  onClose,
}: {
  readonly name: string;
  readonly models: readonly Priced[] | undefined;
  onClose(): void;
}) {
  const text = useText();
  const model = models?.find((each) => each.name === name || each.aliases.includes(name));
  return (
    <Drawer opened={name !== '' && models !== undefined} onClose={onClose} title={model?.name ?? text.gone}>
      {model === undefined ? (
        <Empty title={text.gone}>{text.goneAbout}</Empty>
      ) : (
        <Stack key={model.name} gap="md">
          <Names model={model} />
          <Consequence model={model} />
          {model.price !== null && !model.price.free && <Amounts price={model.price} model={model} />}
          {model.drift.length > 0 && <Drift model={model} />}
          {model.upcoming.length > 0 && <Upcoming model={model} />}
          <ChannelPrices model={model} />
          <SetPrice model={model} />
        </Stack>
      )}
    </Drawer>
  );
}

function Names({ model: { aliases, fallback_of: standsIn } }: { readonly model: Priced }) {
  const text = useText();
  const notes = [
    ...(aliases.length > 0 ? [text.aliases(aliases.join(', '))] : []),
    ...(standsIn.length > 0 ? [text.fallbackOf(standsIn.join(', '))] : []),
  ];
  if (notes.length === 0) return null;
  return <Muted>{notes.join(' · ')}</Muted>;
}

function Consequence({ model: { calls, unpriced, price, consequence } }: { readonly model: Priced }) {
  const text = useText();
  if (!unpriced) return <Text size="sm">{text.calls[calls]}</Text>;
  return (
    <Alert
      color={calls === 'refused' ? 'red' : 'orange'}
      icon={<IconAlertTriangle />}
      title={price === null ? text.words.noPrice : text.fallbackUnpriced}
    >
      <Text size="sm">
        {text.calls[calls]} {text.without(withoutPrice(consequence))}
      </Text>
      {calls === 'refused' && (
        <Text size="sm" mt="xs">
          <Coded>{text.whatItMeans}</Coded>
        </Text>
      )}
    </Alert>
  );
}

/** The model names in the gateway's message: `Calls are refused (402 …): a, b have no price.` */
function withoutPrice(consequence: string): string {
  return /: ([^:]*) (?:has|have) no price/.exec(consequence)?.[1] ?? consequence;
}

function Amounts({ price, model }: { readonly price: Price; readonly model: Priced }) {
  const text = useText();
  const sourceText = useSource();
  const dayText = useDay();
  const from = model.effective_from;
  return (
    <Section
      flush
      title={text.words.price}
      about={[
        ...(model.source === null ? [] : [sourceText(model.source)]),
        ...(from === null ? [] : [text.since(dayText(from))]),
      ].join(', ')}
    >
      <AmountTable price={price} caption={`${text.words.price}: ${model.name}`} />
      <Small p="xs">{text.restAsUsual}</Small>
      <Small px="xs" pb="xs">
        {text.whole}: <span lang="en">{price.text}</span>
      </Small>
    </Section>
  );
}

function AmountTable({ price, caption }: { readonly price: Price; readonly caption: string }) {
  const text = useText();
  const words = useAmountText();
  const amountText = useAmount();
  const columns: readonly Column<readonly [AmountField, string]>[] = [
    { key: 'what', title: text.amount, cell: ([field]) => words.fields[field] },
    {
      key: 'costs',
      title: text.words.price,
      align: 'right',
      cell: ([field, amount]) => (
        <>
          {amountText(amount)} <Small span>{words.units[unitOf(field)]}</Small>
        </>
      ),
    },
  ];
  return <DataTable caption={caption} columns={columns} rows={amountsOf(price)} rowKey={([field]) => field} />;
}

function Drift({ model: { drift, published } }: { readonly model: Priced }) {
  const text = useText();
  const words = useAmountText();
  const amountText = useAmount();
  const format = useFormat();
  const columns: readonly Column<(typeof drift)[number]>[] = [
    { key: 'what', title: text.amount, cell: ({ field }) => words.fields[field as AmountField] ?? field },
    {
      key: 'yours',
      title: text.configured,
      align: 'right',
      cell: ({ configured }) => amountText(configured),
    },
    { key: 'listed', title: text.published, align: 'right', cell: (each) => amountText(each.published) },
    {
      key: 'difference',
      title: text.words.difference,
      align: 'right',
      cell: ({ percent }) =>
        percent === null ? text.isFreeThere : `${percent > 0 ? '+' : ''}${format.percent(percent / 100)}`,
    },
  ];
  return (
    <Section flush title={text.driftTitle} about={text.driftAbout}>
      <DataTable caption={text.driftTitle} columns={columns} rows={drift} rowKey={({ field }) => field} />
      {published !== null && (
        <Small p="xs">
          {text.publishedIs(published.text)} ({published.source})
        </Small>
      )}
    </Section>
  );
}

function Upcoming({ model: { upcoming } }: { readonly model: Priced }) {
  const text = useText();
  const dayText = useDay();
  return (
    <Section flush title={text.upcomingTitle} about={text.upcomingAbout}>
      {upcoming.map(({ effective_from: from, price, text: priceText }) => (
        <div key={from}>
          <Text size="sm" fw={600} p="xs">
            {text.from(dayText(from))}
          </Text>
          {price !== null && !price.free ? (
            <AmountTable price={price} caption={text.from(dayText(from))} />
          ) : (
            <Text size="sm" px="xs" pb="xs" lang="en">
              {priceText}
            </Text>
          )}
        </div>
      ))}
    </Section>
  );
}

function ChannelPrices({ model: { channels, name } }: { readonly model: Priced }) {
  const text = useText();
  const sourceText = useSource();
  return (
    <Section title={text.words.channels} about={channels.length > 1 ? text.placesAbout : undefined}>
      <Stack gap="sm">
        {channels.map((place) => (
          <div key={`${place.channel} ${place.model}`}>
            <Text size="sm">
              {place.channel}
              {place.model !== name && <Small span> {text.there(place.model)}</Small>}
            </Text>
            {place.text !== null && (
              <Small>
                <span lang="en">{place.text}</span>
                {place.source !== null && ` (${sourceText(place.source)})`}
              </Small>
            )}
          </div>
        ))}
      </Stack>
    </Section>
  );
}

/** Billing units of models. */
const SOLD = ['tokens', 'images', 'speech', 'sound', 'free'] as const;
type Sold = (typeof SOLD)[number];

const PRICES: Readonly<Record<Exclude<Sold, 'free'>, string>> = {
  tokens: '{ input: 1, output: 4 }',
  images: '{ perImage: 0.04 }',
  speech: '{ characters: 15 }',
  sound: '{ perSecond: 0.0001 }',
};

/** The lines, for the place that decides about this model. `comment`: the unit of the numbers, as a YAML comment. */
function priceLinesOf(model: Priced, sold: Sold, comment: Readonly<Record<Sold, string>>): string {
  const name = yamlName(model.name);
  const isInEntry = model.free || model.source?.kind === 'model';
  if (sold === 'free' || isInEntry) {
    const price = sold === 'free' ? 'free: true' : `price: ${PRICES[sold]}`;
    const channel = yamlName(model.channels[0]?.channel ?? 'demo');
    return `models:\n  ${name}: { from: [${channel}], ${price} }   # ${comment[sold]}`;
  }
  return `prices:\n  ${name}: ${PRICES[sold]}   # ${comment[sold]}`;
}

/** The lines for the billing unit of the model. */
function SetPrice({ model }: { readonly model: Priced }) {
  const text = useText();
  const mayConfigure = isRoot(useSelf());
  const [sold, setSold] = useState<Sold>('tokens');
  return (
    <Section title={model.unpriced ? text.setTitle : text.changeTitle} about={<Coded>{text.setAbout}</Coded>}>
      <Stack gap="sm" align="stretch">
        <SegmentedControl
          size="xs"
          aria-label={text.sells}
          value={sold}
          onChange={(next) => setSold(next as Sold)}
          data={SOLD.map((each) => ({ value: each, label: text.kinds[each] }))}
          className="price-kinds"
        />
        <Snippet label={text.words.gatewayYamlLines} code={priceLinesOf(model, sold, text.comments)} />
        <Muted>{text.after}</Muted>
        {mayConfigure && (
          <LinkButton
            href={`/config?section=models&item=${encodeURIComponent(model.name)}`}
            style={{ alignSelf: 'flex-start' }}
          >
            {text.words.openConfig}
          </LinkButton>
        )}
      </Stack>
    </Section>
  );
}
