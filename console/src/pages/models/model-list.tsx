/** The models as a table, or as cards in narrow windows. */
import { ActionIcon, Group, Stack, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link } from 'wouter';
import { IconPlugConnected, IconPrompt } from '../../icons.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { type ModelCard, purposesOf } from '../../parts/model-card.ts';
import { Muted, Small } from '../../parts/page.tsx';
import { PriceCell } from '../../parts/price-line.tsx';
import { CopyIcon } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { Abilities, FirstByte, Health, Recent, Styles, usePurposes } from './marks.tsx';
import { useText } from './text.ts';

interface Listed {
  readonly cards: readonly ModelCard[];
  readonly open: string;
  onOpen(name: string): void;
}

/** The list. */
export function ModelList(listed: Listed) {
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  return isNarrow ? <Cards {...listed} /> : <ModelTable {...listed} />;
}

function ModelTable({ cards, open, onOpen }: Listed) {
  const text = useText();
  const format = useFormat();
  const purposes = usePurposes();
  const columns: readonly Column<ModelCard>[] = [
    {
      key: 'name',
      title: text.words.name,
      cell: ({ name, model }) => (
        <Text component="span" size="sm" display="block" miw="8rem">
          {name}
          {model !== name && (
            <Text component="span" size="xs" c="dimmed" display="block">
              {text.aliasOf(model)}
            </Text>
          )}
        </Text>
      ),
    },
    {
      key: 'purpose',
      title: text.purpose,
      from: 'md',
      cell: (card) => (
        <span className="model-word">{card.purposes === null ? <Unknown /> : purposes(purposesOf(card))}</span>
      ),
    },
    { key: 'styles', title: text.style, from: 'lg', cell: (card) => <Styles card={card} /> },
    {
      key: 'context',
      title: text.context,
      align: 'right',
      from: 'md',
      cell: ({ context_window: context, max_output: output }) => (
        <>
          {context === null ? <Unknown /> : format.short(context)}
          {output !== null && <Small>{text.upTo(format.short(output))}</Small>}
        </>
      ),
    },
    ...(cards.some(hasCapabilities)
      ? [
          {
            key: 'abilities',
            title: text.ability,
            from: 'lg' as const,
            cell: (card: ModelCard) => <Abilities abilities={card.abilities} />,
          },
        ]
      : []),
    { key: 'price', title: text.inOut, align: 'right', cell: (card) => <PriceCell card={card} /> },
    { key: 'health', title: text.health, cell: (card) => <Health health={card.health} /> },
    {
      key: 'recent',
      title: text.recent,
      align: 'right',
      from: 'md',
      cell: ({ recent }) => (
        <>
          <Recent recent={recent} />
          {recent.p50_first_byte_ms !== null && (
            <Small>{text.firstByteIn(format.duration(recent.p50_first_byte_ms))}</Small>
          )}
        </>
      ),
    },
    { key: 'actions', title: text.words.actions, quiet: true, from: 'md', cell: ({ name }) => <Actions name={name} /> },
  ];
  return (
    <DataTable
      caption={text.words.models}
      columns={columns}
      rows={cards}
      rowKey={({ name }) => name}
      onOpen={({ name }) => onOpen(name)}
      open={open === '' ? undefined : open}
    />
  );
}

function hasCapabilities({ abilities }: ModelCard): boolean {
  return Object.values(abilities).includes(true);
}

function Actions({ name }: { readonly name: string }) {
  const text = useText();
  const search = `?model=${encodeURIComponent(name)}`;
  const links = [
    { href: `/playground${search}`, label: text.tryModel(name), Icon: IconPrompt },
    { href: `/connect${search}`, label: text.connectModel(name), Icon: IconPlugConnected },
  ];
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      <CopyIcon value={name} label={text.copyName(name)} />
      {links.map(({ href, label, Icon }) => (
        <Tooltip key={href} label={label}>
          <ActionIcon component={Link} href={href} variant="subtle" color="gray" size={24} aria-label={label}>
            <Icon size={16} />
          </ActionIcon>
        </Tooltip>
      ))}
    </Group>
  );
}

function Unknown() {
  const text = useText();
  return <Muted span>{text.words.unknown}</Muted>;
}

function Cards({ cards, onOpen }: Listed) {
  const text = useText();
  const purposes = usePurposes();
  return (
    <ul className="model-cards" aria-label={text.words.models}>
      {cards.map((card) => (
        <li key={card.name}>
          <Stack gap={4}>
            <Group justify="space-between" gap="xs" wrap="nowrap">
              <Group gap={4} wrap="nowrap" miw={0}>
                <UnstyledButton className="row-opener" onClick={() => onOpen(card.name)}>
                  {card.name}
                </UnstyledButton>
                <CopyIcon value={card.name} label={text.copyName(card.name)} />
              </Group>
              <Health health={card.health} />
            </Group>
            {card.model !== card.name && <Small>{text.aliasOf(card.model)}</Small>}
            <Text size="sm" component="div">
              {card.purposes !== null && `${purposes(purposesOf(card))} · `}
              <PriceCell card={card} />
              {!card.free && card.price?.input !== undefined && <Small span>{` ${text.perMillion}`}</Small>}
            </Text>
            <Abilities abilities={card.abilities} />
            <Text size="sm" component="div">
              <Recent recent={card.recent} />
              {card.recent.p50_first_byte_ms !== null && (
                <>
                  {' · '}
                  {text.words.firstByte} <FirstByte ms={card.recent.p50_first_byte_ms} />
                </>
              )}
            </Text>
          </Stack>
        </li>
      ))}
    </ul>
  );
}
