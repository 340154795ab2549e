/** The viewer's keys: search, create, change, rotate, delete. */
import { Button, Checkbox, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import { KEEPS_DATA, useAction, useApi } from '../../api/hooks.ts';
import { IconPlus, IconTrash } from '../../icons.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { anyOr, FilterSelect } from '../../parts/filter-select.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page, PlainButton, Section } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { useFormat } from '../../shell/format.ts';
import { KeyDrawer } from './key-form.tsx';
import { KeyRotate, KeyShown, type ShownKey } from './key-secret.tsx';
import { KeyTable } from './key-table.tsx';
import { type Key, STATES, statusOf } from './key-values.ts';
import './keys.css';
import { useText } from './text.ts';

const PAGE_SIZE = 20;
const NOTHING: ReadonlySet<number> = new Set();

export default function KeysPage() {
  const text = useText();
  const [address, change] = useAddress({ q: '', state: '', page: '1', open: '' });
  const page = pageOf(address.page);
  const keys = useApi(
    'GET /api/token/',
    { search: { p: page, page_size: PAGE_SIZE, keyword: address.q, status: statusOf(address.state) } },
    KEEPS_DATA,
  );
  const rows = keys.data?.items;
  // Only for the keys on the page, because there may be thousands.
  const usage = useApi(
    'GET /api/token/usage',
    { search: { days: 14, token_id: rows?.map(({ id }) => id).join(',') } },
    { enabled: rows !== undefined && rows.length > 0, staleTime: 60_000 },
  );
  const uses = useMemo(() => usage.data && new Map(usage.data.items.map((use) => [use.token_id, use])), [usage.data]);
  const [selected, setSelected] = useState(NOTHING);
  const newKey = useDialog<ShownKey>();
  const rotating = useDialog<Key>();
  const deleting = useDialog<readonly Key[]>();
  const chosen = rows?.filter(({ id }) => selected.has(id)) ?? [];
  const filtered = address.q !== '' || address.state !== '';
  const filter = (to: Partial<Record<'q' | 'state' | 'page', string>>): void => {
    setSelected(NOTHING);
    change({ page: '1', ...to });
  };

  const enable = useAction(
    ({ key, enabled }: { readonly key: Key; readonly enabled: boolean }) =>
      call('PUT /api/token/', { search: { status_only: '1' }, body: { id: key.id, status: enabled ? 1 : 2 } }),
    {
      changes: ['GET /api/token/'],
      done: (_, { key, enabled }) =>
        notifications.show({ message: enabled ? text.enabled(key.name) : text.disabled(key.name) }),
    },
  );
  const remove = useAction(
    ([only, ...more]: readonly Key[]): Promise<unknown> =>
      only !== undefined && more.length === 0
        ? call('DELETE /api/token/{id}', { params: { id: only.id } })
        : call('POST /api/token/batch', { body: { ids: [only, ...more].flatMap((key) => key?.id ?? []) } }),
    {
      changes: ['GET /api/token/', 'GET /api/token/usage'],
      done(_, { length }) {
        notifications.show({ message: text.deleted(length) });
        deleting.close();
        setSelected(NOTHING);
        if (length === rows?.length && page > 1) change({ page: `${page - 1}` }, 'replace');
      },
    },
  );
  const showMade = (key: ShownKey): void => {
    rotating.close();
    change({ open: '' });
    newKey.open(key);
  };

  const make = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => change({ open: 'new' })}>
      {text.words.newKey}
    </Button>
  );
  return (
    <Page name="keys" about={text.about} actions={make}>
      <Section
        flush
        title={text.list}
        actions={
          <>
            <SearchField label={text.words.searchByName} value={address.q} onSearch={(q) => filter({ q })} />
            <FilterSelect
              label={text.words.state}
              data={anyOr(text.words.anyState, STATES, (state) => text.states[state])}
              value={address.state}
              onChange={(state) => filter({ state })}
            />
          </>
        }
      >
        {(rows?.length ?? 0) > 0 && (
          <SelectionBar
            keys={rows ?? []}
            chosen={chosen}
            onSelect={setSelected}
            onDelete={() => deleting.open(chosen)}
          />
        )}
        <KeyTable
          query={keys}
          page={page}
          pageSize={PAGE_SIZE}
          onPage={(to) => filter({ page: `${to}` })}
          uses={uses}
          selected={selected}
          onSelect={setSelected}
          open={Number(address.open) || undefined}
          actions={{
            edit: ({ id }) => change({ open: `${id}` }),
            rotate: rotating.open,
            remove: (key) => deleting.open([key]),
            enable: (key, enabled) => enable.mutate({ key, enabled }),
          }}
          empty={
            filtered ? (
              <Empty
                title={text.words.noMatchingKeys}
                action={<PlainButton onClick={() => filter({ q: '', state: '' })}>{text.allKeys}</PlainButton>}
              >
                {text.noneFoundAbout}
              </Empty>
            ) : (
              <Empty
                title={text.empty}
                action={<PlainButton onClick={() => change({ open: 'new' })}>{text.emptyMake}</PlainButton>}
              >
                {text.emptyAbout}
              </Empty>
            )
          }
        />
      </Section>
      <KeyDrawer open={address.open} onClose={() => change({ open: '' })} onMade={(key) => showMade({ key })} />
      <KeyShown created={newKey.about} opened={newKey.opened} onClose={newKey.close} />
      <KeyRotate about={rotating.about} opened={rotating.opened} onClose={rotating.close} onMade={showMade} />
      <Confirm
        dialog={deleting}
        title={text.deleting.title(deleting.about?.length ?? 1)}
        action={text.deleting.action(deleting.about?.length ?? 1)}
        doing={remove}
        onConfirm={remove.mutate}
      >
        <ul className="key-names">
          {deleting.about?.map(({ id, name, key }) => (
            <li key={id}>
              <strong>{name}</strong> <span className="number">{key}</span>
            </li>
          ))}
        </ul>
        {deleting.about?.length === 1 ? text.deleting.about : text.deleting.aboutMany}
      </Confirm>
    </Page>
  );
}

/** Selects all keys on a page, with the actions on the selection. */
function SelectionBar({
  keys,
  chosen,
  onSelect,
  onDelete,
}: {
  readonly keys: readonly Key[];
  readonly chosen: readonly Key[];
  onSelect(ids: ReadonlySet<number>): void;
  onDelete(): void;
}) {
  const text = useText();
  const format = useFormat();
  const all = chosen.length === keys.length;
  return (
    <Group className="selection" gap="sm" mih={36}>
      <Checkbox
        size="xs"
        label={text.selectAll}
        checked={all}
        indeterminate={!all && chosen.length > 0}
        onChange={() => onSelect(all ? NOTHING : new Set(keys.map(({ id }) => id)))}
      />
      {chosen.length > 0 && (
        <>
          <Text size="sm" aria-live="polite">
            {text.selected(format.number(chosen.length))}
          </Text>
          <PlainButton size="compact-xs" leftSection={<IconTrash size={14} />} onClick={onDelete}>
            {text.deleteSelected}
          </PlainButton>
        </>
      )}
    </Group>
  );
}
