/** One model in full, with its actions. */
import { Button, Drawer, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { IconPlugConnected, IconPrompt } from '../../icons.ts';
import { Fact } from '../../parts/facts.tsx';
import { ABILITIES, type ModelCard, purposesOf } from '../../parts/model-card.ts';
import { LinkButton, Muted, Small } from '../../parts/page.tsx';
import { amountsOf, unitOf, useAmountText } from '../../parts/price-amounts.ts';
import { PriceOf } from '../../parts/price-line.tsx';
import { Copy, State, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { FirstByte, Health, Recent, usePurposes, useStyleName } from './marks.tsx';
import { useText } from './text.ts';

/** The drawer; undefined: closed. */
export function ModelDrawer({
  card,
  aliases,
  onClose,
}: {
  readonly card: ModelCard | undefined;
  /** Its aliases. */
  readonly aliases: readonly string[];
  onClose(): void;
}) {
  return (
    <Drawer opened={card !== undefined} onClose={onClose} title={card?.name}>
      {card !== undefined && <Facts card={card} aliases={aliases} />}
    </Drawer>
  );
}

function Facts({ card, aliases }: { readonly card: ModelCard; readonly aliases: readonly string[] }) {
  const text = useText();
  const format = useFormat();
  const purposes = usePurposes();
  const { name, model, recent, groups, channels } = card;
  const search = `?model=${encodeURIComponent(name)}`;
  const tokens = (count: number | null): string =>
    count === null ? text.words.unknown : text.tokens(format.number(count));
  return (
    <Stack gap="md">
      <Group gap="sm" justify="space-between">
        <Copy value={name} label={text.copyName(name)} />
        <Group gap="xs">
          <LinkButton href={`/connect${search}`} leftSection={<IconPlugConnected size={14} />}>
            {text.connect}
          </LinkButton>
          <Button component={Link} href={`/playground${search}`} leftSection={<IconPrompt size={14} />}>
            {text.tryIt}
          </Button>
        </Group>
      </Group>
      <dl className="model-facts">
        {model !== name && <Fact name={text.words.name}>{text.aliasOf(model)}</Fact>}
        {aliases.length > 0 && <Fact name={text.alsoCalled}>{aliases.join(', ')}</Fact>}
        <Fact name={text.purpose}>
          {card.purposes === null && <Small>{text.purposeUnknown}</Small>}
          {purposes(purposesOf(card))}
        </Fact>
        <Fact name={text.contextWindow}>{tokens(card.context_window)}</Fact>
        <Fact name={text.maxOutput}>{tokens(card.max_output)}</Fact>
      </dl>
      <Part title={text.words.price}>
        <Prices card={card} />
      </Part>
      <Part title={text.health}>
        <dl className="model-facts">
          <Fact name={text.health}>
            <Health health={card.health} />
          </Fact>
          <Fact name={text.recent}>
            <Recent recent={recent} />
          </Fact>
          <Fact name={text.words.calls}>{format.number(recent.attempts)}</Fact>
          <Fact name={text.failures}>{format.number(recent.failures)}</Fact>
          <Fact name={text.firstByteHalf}>
            <FirstByte ms={recent.p50_first_byte_ms} />
          </Fact>
          <Fact name={text.firstByteMost}>
            <FirstByte ms={recent.p95_first_byte_ms} />
          </Fact>
          <Fact name={text.lastServed}>
            <When at={recent.last_success_at} none="–" />
          </Fact>
        </dl>
        <Small mt={4}>{text.since(format.moment(recent.since))}</Small>
      </Part>
      <Part title={text.style}>
        <StyleTable card={card} />
      </Part>
      <Part title={text.ability}>
        <dl className="model-facts">
          {ABILITIES.map((ability) => {
            const can = card.abilities[ability];
            return (
              <Fact key={ability} name={text.abilities[ability]}>
                {can === null ? <Muted span>{text.words.unknown}</Muted> : can ? text.yes : text.no}
              </Fact>
            );
          })}
        </dl>
      </Part>
      {groups !== null && groups.length > 0 && (
        <Part title={text.groups}>
          <dl className="model-facts">
            {groups.map((group) => (
              <Fact key={group.name} name={group.name}>
                {group.factor === null ? text.factorByGroup : text.factor(group.factor)}
              </Fact>
            ))}
          </dl>
        </Part>
      )}
      {channels !== null && channels.length > 0 && (
        <Part title={text.channels}>
          <dl className="model-facts">
            {channels.map((channel) => (
              <Fact key={channel.name} name={channel.name}>
                <Group gap="xs">
                  {channel.vendor}
                  <State tone={channel.state === 'closed' ? 'good' : channel.state === 'open' ? 'bad' : 'warn'}>
                    {text.channelStates[channel.state]}
                  </State>
                </Group>
              </Fact>
            ))}
          </dl>
        </Part>
      )}
    </Stack>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <Title order={3} size="h5" mb={4}>
        {title}
      </Title>
      {children}
    </section>
  );
}

function Prices({ card: { free, price } }: { readonly card: ModelCard }) {
  const text = useAmountText();
  if (free || price?.free === true) return <Text size="sm">{text.words.free}</Text>;
  if (price === null) return <Text size="sm">{text.refused}</Text>;
  return (
    <dl className="model-facts">
      {amountsOf(price).map(([field, amount]) => (
        <Fact key={field} name={text.fields[field]}>
          <PriceOf amount={amount} field={field} /> {text.units[unitOf(field)]}
        </Fact>
      ))}
    </dl>
  );
}

function StyleTable({ card: { styles } }: { readonly card: ModelCard }) {
  const text = useText();
  const nameOf = useStyleName();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable
    <section className="table-frame" aria-label={text.style} tabIndex={0}>
      <Table>
        <Table.Tbody>
          {styles.map(({ name, path, native }) => (
            <Table.Tr key={name}>
              <Table.Td>{nameOf(name)}</Table.Td>
              <Table.Td ff="monospace" fz="xs">
                {path}
              </Table.Td>
              <Table.Td>{native ? text.native : text.translated}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
