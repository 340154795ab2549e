/** The receipt of a call: its items, and its ledger entries. Numbers are shown to the last digit. */
import { Alert, Box, Stack, Table, Text } from '@mantine/core';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Muted, Small } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { useDetailText } from './detail-text.ts';
import type { CallDetail } from './line.ts';

type Receipt = NonNullable<CallDetail['receipt']>;
type Item = Receipt['items'][number];
type Entry = CallDetail['entries'][number];

/** The receipt. */
export function ReceiptTable({ call: { receipt } }: { readonly call: CallDetail }) {
  const { receipt: text } = useDetailText();
  if (receipt === null) return <Muted p="sm">{text.none}</Muted>;
  return (
    <>
      {(receipt.items.length > 0 || receipt.charged !== '0') && <Sum receipt={receipt} />}
      <Stack gap={4} p="sm">
        {receipt.reason !== null && <Text size="sm">{text.reasons[receipt.reason]}</Text>}
        {receipt.capped_by !== null && <Alert color="blue">{text.capped[receipt.capped_by]}</Alert>}
        {receipt.included && <Text size="sm">{text.included}</Text>}
        {receipt.items.length > 0 && (
          <Small>
            {text.rounding}
            <PerUnit receipt={receipt} />
          </Small>
        )}
      </Stack>
    </>
  );
}

function PerUnit({ receipt: { quota_per_unit: perUnit } }: { readonly receipt: Receipt }) {
  const { receipt: text } = useDetailText();
  const format = useFormat();
  return perUnit === null ? null : <> {text.perUnit(format.number(perUnit))}</>;
}

function Sum({ receipt }: { readonly receipt: Receipt }) {
  const { receipt: text, words } = useDetailText();
  const format = useFormat();
  const exact = (value: string): string => exactNumber(value, format.locale);
  const foot = (name: string, value: string) => (
    <Table.Tr>
      <Table.Th scope="row" colSpan={3} fw={600}>
        {name}
      </Table.Th>
      <Table.Td ta="right" className="number">
        {value}
      </Table.Td>
    </Table.Tr>
  );
  const { items, factor, total, charged } = receipt;
  return (
    <Box className="table-frame" role="region" aria-label={text.title} tabIndex={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{text.what}</Table.Th>
            <Table.Th scope="col" ta="right">
              {words.count}
            </Table.Th>
            <Table.Th scope="col" ta="right">
              {text.price}
            </Table.Th>
            <Table.Th scope="col" ta="right">
              {text.quota}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item) => (
            <Table.Tr key={`${item.bucket} ${item.name}`}>
              <Table.Td>
                {text.buckets[item.bucket]}
                {item.name === null ? '' : `: ${item.name}`}
              </Table.Td>
              <Table.Td ta="right" className="number">
                {format.number(item.count)}
              </Table.Td>
              <Table.Td ta="right" className="number">
                {priceOf(item, exact, text.per)}
              </Table.Td>
              <Table.Td ta="right" className="number">
                {exact(item.quota)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Table.Tfoot className="logs-table-foot">
          {Number(factor) !== 1 && foot(text.factor, `× ${exact(factor)}`)}
          {items.length > 0 && foot(words.total, exact(total))}
          {foot(text.charged, exact(charged))}
          {foot(text.inMoney, moneyOf(receipt, format.locale) ?? format.money(Number(charged)))}
        </Table.Tfoot>
      </Table>
    </Box>
  );
}

function priceOf(
  { price, per }: Item,
  exact: (value: string) => string,
  text: ReturnType<typeof useDetailText>['receipt']['per'],
) {
  const money = `$${exact(price)}`;
  if (per === 1_000_000) return text.million(money);
  return per === 3_600 ? text.hour(money) : text.one(money);
}

/** The value of a quota unit at that time. */
function moneyOf({ charged, quota_per_unit: perUnit }: Receipt, locale: string): string | undefined {
  if (perUnit === null || perUnit === 0) return undefined;
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: 12,
  }).format(Number(charged) / perUnit);
}

/** The ledger entries by bucket. */
export function LedgerEntries({ call: { entries } }: { readonly call: CallDetail }) {
  const { ledger: text, none, words } = useDetailText();
  const { locale } = useFormat();
  if (entries.length === 0) return <Muted p="sm">{text.none}</Muted>;
  const exact = (value: string | null): string => (value === null ? none : exactNumber(value, locale));
  const columns: readonly Column<Entry>[] = [
    {
      key: 'layer',
      title: text.layer,
      cell: ({ kind, owner_name, owner_id, op, actor }) => {
        const more = [text.ops[op], actor === 'recovery' ? text.recovery : ''].filter((words) => words !== '');
        return [text.layers[kind](owner_name || `#${owner_id}`), ...more].join(', ');
      },
    },
    { key: 'hold', title: words.reserved, align: 'right', cell: ({ hold }) => exact(hold) },
    { key: 'moved', title: text.moved, align: 'right', cell: ({ amount }) => exact(amount) },
    { key: 'release', title: text.release, align: 'right', cell: ({ release }) => exact(release) },
  ];
  return (
    <DataTable
      caption={text.title}
      columns={columns}
      rows={entries}
      rowKey={({ kind, owner_id, op, window_start_ms }) => `${op} ${kind} ${owner_id} ${window_start_ms}`}
    />
  );
}

/** Formats a decimal for a language with all its digits: `12,345.678901`. Other text is returned unchanged. */
function exactNumber(value: string, locale: string): string {
  const [, sign = '', integer = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? [];
  if (integer === '') return value;
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  const point = parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  const digits = fraction.replace(/0+$/, '');
  return `${sign}${new Intl.NumberFormat(locale).format(BigInt(integer))}${digits === '' ? '' : `${point}${digits}`}`;
}
