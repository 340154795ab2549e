/** Models with their prices; those that need attention come first. */
import { Box, Group, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Small } from '../../parts/page.tsx';
import { AMOUNT_TEXT, type AmountField, amountsOf, unitOf, useAmount } from '../../parts/price-amounts.ts';
import { State } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import type { Priced } from './priced.ts';
import { useDay, useSource } from './priced.ts';
import { TEXT } from './text.ts';

/** Rates with their own column. */
const OWN: readonly AmountField[] = ['input', 'output', 'cacheRead'];

/** The table. `open`: the name of the open model. */
export function PriceTable({
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
  const text = useText(TEXT);
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
  const text = useText(TEXT);
  const amountText = useText(AMOUNT_TEXT);
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
  const words = useText(AMOUNT_TEXT);
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
