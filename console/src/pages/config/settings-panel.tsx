/** The settings of gateway.yaml that have forms: a list for each section, and the limits. */
import { Button, Chip, Code, Group, Stack } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { stringify } from 'yaml';
import { useApi } from '../../api/hooks.ts';
import { IconPlus } from '../../icons.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import { type Column, DataTable, paged } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/notes.tsx';
import { GuardedButton, Muted, Section, Small } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { State } from '../../parts/values.tsx';
import { ChannelState, conditionOf } from '../vendors/channel-state.tsx';
import type { Editor } from './editor.ts';
import { type Editing, ItemDrawer } from './item-drawer.tsx';
import { KeySource } from './key-fields.tsx';
import { LimitsForm } from './limits-form.tsx';
import { fileSectionOf, type Row, rowsOf, SECTIONS, type SectionName } from './rows.ts';
import {
  isMembers,
  isSame,
  itemsOf,
  keysOf,
  type Members,
  membersOf,
  modelsOfChannel,
  offersOf,
  textOf,
  type Value,
} from './settings.ts';
import { useText } from './settings-text.ts';

const PAGE_SIZE = 25;
const PANELS = [...SECTIONS, 'limits'] as const;

/** The panel. */
export function SettingsPanel({ editor, onAddVendor }: { readonly editor: Editor; onAddVendor(): void }) {
  const text = useText();
  const [address, change] = useAddress({ section: 'channels', item: '', q: '', page: '1' });
  const panel = PANELS.find((each) => each === address.section) ?? 'channels';
  if (editor.settings === undefined) return <Empty title={text.unreadable}>{text.unreadableAbout}</Empty>;
  return (
    <Stack gap="md">
      <Chip.Group value={panel} onChange={(section) => change({ section: `${section}`, item: '', q: '', page: '1' })}>
        <Group gap={6} role="radiogroup" aria-label={text.sectionsLabel}>
          {PANELS.map((each) => (
            <Chip key={each} value={each} size="xs" radius="sm">
              {text.sections[each]}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {panel === 'limits' ? (
        <LimitsForm key={JSON.stringify(editor.settings.limits)} editor={editor} />
      ) : (
        <Collection key={panel} editor={editor} settings={editor.settings} section={panel} onAddVendor={onAddVendor} />
      )}
    </Stack>
  );
}

/** The name of a new item in the address; no item begins with a colon. */
const NEW = ':new';

function Collection({
  editor,
  settings,
  section,
  onAddVendor,
}: {
  readonly editor: Editor;
  readonly settings: Members;
  readonly section: SectionName;
  onAddVendor(): void;
}) {
  const text = useText();
  const [address, change] = useAddress({ item: '', q: '', page: '1' });
  // Sections such as `prices` also have members that are no items.
  const others = editor.schema?.properties?.[fileSectionOf(section)]?.properties;
  const rows = useMemo(
    () => rowsOf(settings, section).filter(({ id }) => !Object.hasOwn(others ?? {}, id)),
    [settings, section, others],
  );
  const saved = useMemo(
    () => new Map(rowsOf(editor.savedSettings ?? {}, section).map((row) => [row.id, row.value])),
    [editor.savedSettings, section],
  );
  const columns = useColumns(section, settings, saved);
  const query = address.q.trim().toLowerCase();
  const found =
    query === '' ? rows : rows.filter((row) => `${row.id} ${stringify(row.value)}`.toLowerCase().includes(query));
  const [shown, pager] = paged(found, pageOf(address.page), PAGE_SIZE, change);
  const row = rows.find(({ id }) => id === address.item);
  const editing: Editing | undefined =
    address.item === NEW ? { section, row: undefined } : row === undefined ? undefined : { section, row };
  const add = (
    <GuardedButton why={editor.why} leftSection={<IconPlus size={16} />} onClick={() => change({ item: NEW })}>
      {text.addTitles[section]}
    </GuardedButton>
  );
  return (
    <Section
      flush
      title={text.sections[section]}
      about={text.sectionAbout[section]}
      actions={
        <>
          {add}
          {section === 'channels' && editor.why === undefined && (
            <Button leftSection={<IconPlus size={16} />} onClick={onAddVendor}>
              {text.words.addAVendor}
            </Button>
          )}
        </>
      }
    >
      {rows.length > PAGE_SIZE && (
        <Group p="sm">
          <SearchField label={text.search} value={address.q} onSearch={(q) => change({ q, page: '1' })} />
        </Group>
      )}
      <DataTable
        caption={text.sections[section]}
        columns={columns}
        rows={shown}
        rowKey={({ path }) => path.join(' ')}
        open={row?.path.join(' ')}
        onOpen={({ id }) => change({ item: id })}
        empty={<Empty title={query === '' ? text.noItems[section] : text.noMatches} />}
      />
      {pager}
      <ItemDrawer editor={editor} editing={editing} onClose={() => change({ item: '' })} />
    </Section>
  );
}

function useColumns(
  section: SectionName,
  settings: Members,
  saved: ReadonlyMap<string, Value>,
): readonly Column<Row>[] {
  const text = useText();
  const health = useApi('GET /api/vendor/', undefined, { enabled: section === 'channels' });
  const published = useApi('GET /api/price/', undefined, { enabled: section === 'models' });
  const name: Column<Row> = {
    key: 'name',
    title: text.idLabels[section],
    cell: ({ id, value }) => (
      <Group gap={6} component="span">
        {id === '' ? text.unnamed : id}
        <Changed before={saved.get(id)} value={value} />
      </Group>
    ),
  };
  const of = (key: string, title: string, cell: (item: Members, row: Row) => ReactNode, from?: 'sm' | 'md' | 'lg') =>
    ({ key, title, cell: (row) => cell(membersOf(row.value), row), ...(from && { from }) }) satisfies Column<Row>;
  const member = (key: string, title: string, from?: 'sm' | 'md' | 'lg') =>
    of(key, title, (item) => textOf(item[key]) || <None />, from);
  const { fields, words } = text;
  switch (section) {
    case 'channels':
      return [
        name,
        member('vendor', words.vendor),
        of(
          'url',
          fields.url,
          ({ url, vendor }) => textOf(url) || <Small span>{text.vendorUrl(textOf(vendor))}</Small>,
          'lg',
        ),
        of('keys', text.keys, (item) => <Keys item={item} />, 'sm'),
        of('models', words.models, (_, { id }) => modelsOfChannel(membersOf(settings.models), id).size, 'md'),
        of('state', words.state, (_, { id }) => {
          const channel = health.data?.find((each) => each.name === id);
          return channel === undefined ? (
            <None />
          ) : (
            <ChannelState condition={conditionOf(channel)} until={channel.open_until} />
          );
        }),
      ];
    case 'models':
      return [
        name,
        of('from', fields.from, ({ from }) => <Offers from={from} />),
        of('fallback', fields.fallback, ({ fallback }) => itemsOf(fallback).map(textOf).join(', ') || <None />, 'lg'),
        of(
          'price',
          words.price,
          (item, { id }) => <PriceOf item={item} id={id} settings={settings} published={published.data?.models} />,
          'sm',
        ),
      ];
    case 'aliases':
      return [name, member('alias', words.model)];
    case 'prices':
      return [name, { key: 'rates', title: words.price, cell: ({ value }) => <Written value={value} /> }];
    case 'plans':
      return [
        name,
        member('days', fields.days, 'sm'),
        of('windows', text.windows, ({ daily, weekly, monthly }) =>
          [daily, weekly, monthly].map((amount) => textOf(amount) || '–').join(' / '),
        ),
        member('price', words.price, 'sm'),
      ];
    case 'passthrough':
      return [
        name,
        member('channel', words.channel),
        of('price', words.price, ({ price, free }) => (free === true ? words.free : textOf(price) || <None />), 'sm'),
      ];
  }
}

function None() {
  return <Small span>–</Small>;
}

/** Whether an item is new or changed in the working copy. */
function Changed({ before, value }: { readonly before: Value | undefined; readonly value: Value }) {
  const text = useText();
  if (before === undefined) return <State tone="info">{text.isNew}</State>;
  return isSame(before, value) ? null : <State tone="info">{text.isChanged}</State>;
}

function Keys({ item }: { readonly item: Members }) {
  const keys = keysOf(item);
  if (keys.length === 0) return <None />;
  return (
    <Stack gap={2}>
      {keys.map((key) => (
        <KeySource key={key} value={key} />
      ))}
    </Stack>
  );
}

function Offers({ from }: { readonly from: Value | undefined }) {
  const offers = offersOf(from);
  if (offers.length === 0) return <None />;
  return offers.map(([channel, upstream], at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a channel can be there twice
    <div key={at}>
      {channel}
      {upstream !== '' && <Small span> {upstream}</Small>}
    </div>
  ));
}

function PriceOf({
  item,
  id,
  settings,
  published,
}: {
  readonly item: Members;
  readonly id: string;
  readonly settings: Members;
  readonly published: readonly { readonly name: string; readonly unpriced: boolean }[] | undefined;
}) {
  const text = useText();
  if (item.free === true) return text.words.free;
  const own = item.price ?? membersOf(settings.prices)[id];
  if (own !== undefined) return <Written value={own} />;
  const known = published?.find(({ name }) => name === id);
  if (known === undefined) return <None />;
  return known.unpriced ? <State tone="bad">{text.words.noPrice}</State> : <Small span>{text.publishedPrice}</Small>;
}

/** A value as YAML in one line. */
function Written({ value }: { readonly value: Value }) {
  return <Code>{isMembers(value) || Array.isArray(value) ? stringify(value, FLOW).trim() : textOf(value)}</Code>;
}
const FLOW = { collectionStyle: 'flow', lineWidth: 0 } as const;

/** Explains why the configuration cannot be changed here, and how to change that. */
export function NotWritable({ editor }: { readonly editor: Editor }) {
  const text = useText();
  const { reason, file } = editor.config;
  if (reason === null) return null;
  return (
    <Section title={text.notWritable[reason.code]}>
      <Muted>{reason.code === 'off' ? text.offAbout(file) : text.unwritableAbout(file, reason.message)}</Muted>
    </Section>
  );
}
