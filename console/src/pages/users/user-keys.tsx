/** The keys of a user: create, limit, disable, delete. */
import { Group, Modal, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { KEEPS_DATA, useAction, useApi, useSelf } from '../../api/hooks.ts';
import type { Key } from '../../api/operations.ts';
import { IconPlus } from '../../icons.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, QueryTable } from '../../parts/data-table.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { GroupSelect } from '../../parts/group-select.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { GuardedButton, Muted, PlainButton, Section, Small } from '../../parts/page.tsx';
import { ShownOnce } from '../../parts/secret-fields.tsx';
import { Money, State, When } from '../../parts/values.tsx';
import { changeForbidden, type User } from './rights.ts';
import { useText } from './text.ts';

const PAGE_SIZE = 10;
const CHANGES = ['GET /api/token/'] as const;

/** A section of the drawer. */
export function UserKeys({ user }: { readonly user: User }) {
  const all = useText();
  const { keys: text, words } = all;
  const why = changeForbidden(useSelf(), user, all);
  const [page, setPage] = useState(1);
  const keys = useApi(
    'GET /api/token/',
    { search: { user_id: user.id, p: page, page_size: PAGE_SIZE } },
    { enabled: why === undefined, ...KEEPS_DATA },
  );
  const [form, setForm] = useState<'new' | Key>();
  const [newKey, setMade] = useState<string>();
  const ending = useDialog<Key>();
  const enable = useAction(
    ({ id, status }: Key) =>
      call('PUT /api/token/', { search: { status_only: '1' }, body: { id, status: status === 2 ? 1 : 2 } }),
    { changes: CHANGES },
  );
  const end = useAction(({ id }: Key) => call('DELETE /api/token/{id}', { params: { id } }), {
    changes: CHANGES,
    done: ending.close,
  });
  if (why !== undefined) return null;
  const columns: readonly Column<Key>[] = [
    {
      key: 'name',
      title: words.name,
      cell: ({ name, key, status, group }) => (
        <>
          {name} <State tone={status === 1 ? 'good' : 'idle'}>{text.states[status]}</State>
          <Small className="number">{group === '' ? key : `${key} · ${group}`}</Small>
        </>
      ),
    },
    {
      key: 'left',
      title: text.left,
      align: 'right',
      from: 'sm',
      cell: ({ unlimited_quota: follows, remain_quota: left }) => (follows ? text.follows : <Money units={left} />),
    },
    {
      key: 'used',
      title: text.used,
      align: 'right',
      from: 'sm',
      cell: ({ accessed_time: at }) => <When at={at} none={text.unused} />,
    },
    {
      key: 'actions',
      title: words.actions,
      quiet: true,
      align: 'right',
      cell: (key) => (
        <Group gap={4} justify="flex-end">
          <PlainButton size="compact-xs" onClick={() => setForm(key)}>
            {words.limit}
            <span className="aloud"> {key.name}</span>
          </PlainButton>
          <PlainButton
            size="compact-xs"
            loading={enable.isPending && enable.variables?.id === key.id}
            onClick={() => enable.mutate(key)}
          >
            {key.status === 2 ? words.enable : words.disable}
            <span className="aloud"> {key.name}</span>
          </PlainButton>
          <PlainButton size="compact-xs" onClick={() => ending.open(key)}>
            {words.delete}
            <span className="aloud"> {key.name}</span>
          </PlainButton>
        </Group>
      ),
    },
  ];
  return (
    <Section
      title={text.title}
      flush
      actions={
        <GuardedButton why={why} leftSection={<IconPlus size={16} />} onClick={() => setForm('new')}>
          {words.createKey}
        </GuardedButton>
      }
    >
      <QueryTable
        query={keys}
        height={60}
        caption={text.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Muted p="sm">{text.none}</Muted>}
        page={page}
        pageSize={PAGE_SIZE}
        onPage={setPage}
      />
      <Modal
        opened={form !== undefined}
        onClose={() => setForm(undefined)}
        title={form === 'new' ? text.createFor(user.username) : text.limitOf(form?.name ?? '')}
      >
        {form !== undefined && (
          <KeyForm
            user={user}
            of={form === 'new' ? undefined : form}
            onClose={() => setForm(undefined)}
            onMade={setMade}
          />
        )}
      </Modal>
      <ShownOnce
        secret={newKey}
        title={text.shownTitle}
        about={text.shown(user.username)}
        done={text.kept}
        onClose={() => setMade(undefined)}
      />
      <Confirm
        dialog={ending}
        title={text.endTitle(ending.about?.name ?? '')}
        action={words.delete}
        doing={end}
        onConfirm={end.mutate}
      >
        {text.endAbout}
      </Confirm>
    </Section>
  );
}

/** Creates a key, or changes the limit of one; empty: no limit. */
function KeyForm({
  user,
  of,
  onClose,
  onMade,
}: {
  readonly user: User;
  readonly of: Key | undefined;
  onClose(): void;
  onMade(secret: string): void;
}) {
  const { keys: text, words } = useText();
  const [name, setName] = useState('');
  const [units, setUnits] = useState<number | null>(of === undefined || of.unlimited_quota ? null : of.remain_quota);
  const [group, setGroup] = useState(of?.group ?? '');
  const refusal = useFormRefusal('name', 'remain_quota', 'group');
  const limit = units === null ? { unlimited_quota: true } : { unlimited_quota: false, remain_quota: units };
  const saving = useAction(
    () =>
      of === undefined
        ? call('POST /api/token/', { body: { name: name.trim(), user_id: user.id, group, ...limit } })
        : call('PUT /api/token/', { body: { id: of.id, ...limit, ...(group !== of.group && { group }) } }),
    {
      changes: CHANGES,
      done(key) {
        onClose();
        if (of === undefined) onMade(key.key);
      },
      refused: refusal.refused,
    },
  );
  return (
    <DialogForm
      refusal={refusal}
      action={of === undefined ? words.createKey : words.save}
      running={saving}
      ready={of !== undefined || name.trim() !== ''}
      onClose={onClose}
    >
      {of === undefined && (
        <>
          <Text size="sm">{text.createAbout(user.username)}</Text>
          <TextInput
            label={words.name}
            {...refusal.field('name', name, setName)}
            maxLength={200}
            required
            withAsterisk={false}
            data-autofocus
          />
        </>
      )}
      <MoneyInput
        label={words.limit}
        about={text.amountAbout}
        placeholder={text.follows}
        units={units}
        onUnits={setUnits}
        error={refusal.at('remain_quota')}
        focused={of !== undefined}
      />
      <GroupSelect value={group} onChange={setGroup} error={refusal.at('group')} />
    </DialogForm>
  );
}
