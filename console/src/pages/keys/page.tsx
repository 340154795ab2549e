/** The viewer's keys: search, create, change, rotate, delete. */
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMemo, useState } from 'react';
import { call } from '../../api/client.ts';
import { KEEPS_DATA, useAction, useApi } from '../../api/hooks.ts';
import { IconPlus, IconTrash } from '../../icons.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { CsvButton } from '../../parts/csv-button.tsx';
import { pageSizeOf, sortOf } from '../../parts/data-table.tsx';
import { anyOr, FilterSelect } from '../../parts/filter-select.tsx';
import { Empty } from '../../parts/notes.tsx';
import { Page, PlainButton, Section } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { NOTHING, SelectionBar } from '../../parts/selection-bar.tsx';
import { KeyDrawer } from './key-form.tsx';
import { KeyRotate, KeyShown, type ShownKey } from './key-secret.tsx';
import { KEY_ORDERS, KeyTable } from './key-table.tsx';
import { type Key, STATES, statusOf } from './key-values.ts';
import './keys.css';
import { useText } from './text.ts';

export default function KeysPage() {
  const text = useText();
  const [address, change] = useAddress({ q: '', state: '', sort: '', size: '25', page: '1', open: '' });
  const pageSize = pageSizeOf(address.size);
  const page = pageOf(address.page);
  const search = {
    keyword: address.q,
    status: statusOf(address.state),
    ...sortOf(address.sort, KEY_ORDERS),
  };
  const keys = useApi('GET /api/token/', { search: { ...search, p: page, page_size: pageSize } }, KEEPS_DATA);
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
  const filter = (to: Partial<Record<'q' | 'state' | 'page' | 'sort' | 'size', string>>): void => {
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
  const enableAll = useAction(
    ({ keys: which, enabled }: { readonly keys: readonly Key[]; readonly enabled: boolean }) =>
      call('POST /api/token/batch', {
        body: { ids: which.map(({ id }) => id), action: enabled ? 'enable' : 'disable' },
      }),
    { changes: ['GET /api/token/'], done: () => setSelected(NOTHING) },
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
        <SelectionBar
          ids={rows?.map(({ id }) => id) ?? []}
          selected={selected}
          onSelect={setSelected}
          end={<CsvButton of="GET /api/token/" name="keys" search={search} />}
        >
          <PlainButton size="compact-xs" onClick={() => enableAll.mutate({ keys: chosen, enabled: true })}>
            {text.words.enable}
          </PlainButton>
          <PlainButton size="compact-xs" onClick={() => enableAll.mutate({ keys: chosen, enabled: false })}>
            {text.words.disable}
          </PlainButton>
          <PlainButton size="compact-xs" leftSection={<IconTrash size={14} />} onClick={() => deleting.open(chosen)}>
            {text.deleteSelected}
          </PlainButton>
        </SelectionBar>
        <KeyTable
          query={keys}
          page={page}
          pageSize={pageSize}
          onPageSize={(size) => filter({ size: `${size}` })}
          order={{ sort: address.sort, onSort: (sort) => filter({ sort }) }}
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
