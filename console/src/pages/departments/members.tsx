/** The members of a department, and a search of users to add. */
import { Anchor, Box, Group, MultiSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import { isRoot, KEEPS_DATA, useAction, useApi, useSelf } from '../../api/hooks.ts';
import type { User } from '../../api/operations.ts';
import { IconUserMinus } from '../../icons.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, QueryTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/notes.tsx';
import { IconButton, PlainButton, Section } from '../../parts/page.tsx';
import { Money, State } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import type { Department } from './forest.ts';
import { useText } from './text.ts';

type Person = User;
const PAGE_SIZE = 20;
const CHANGES = ['GET /api/department/tree', 'GET /api/user/', 'GET /api/user/search'] as const;

/** The section of the drawer. */
export function Members({ department }: { readonly department: Department }) {
  const text = useText();
  const self = useSelf();
  const [page, setPage] = useState(1);
  const leaving = useDialog<Person>();
  const members = useApi(
    'GET /api/user/',
    { search: { department_id: department.id, p: page, page_size: PAGE_SIZE } },
    KEEPS_DATA,
  );
  const takeOut = useAction(
    ({ id, department_id }: Person) =>
      call('DELETE /api/department/{id}/members/{user_id}', {
        params: { id: department_id ?? department.id, user_id: id },
      }),
    { changes: CHANGES, done: leaving.close },
  );
  const columns: readonly Column<Person>[] = [
    {
      key: 'person',
      title: text.words.user,
      cell: (person) => (
        <Group gap={6}>
          <Anchor component={Link} href={`/users?user=${person.id}`} size="sm">
            {person.display_name || person.username}
          </Anchor>
          {person.status === 2 && <State tone="idle">{text.words.disabled}</State>}
        </Group>
      ),
    },
    {
      when: department.children.length > 0,
      key: 'in',
      title: text.words.department,
      from: 'sm',
      cell: (person) => person.department_name,
    },
    {
      key: 'balance',
      title: text.words.balance,
      align: 'right',
      cell: (person) => <Money units={person.unlimited_quota ? null : person.quota} />,
    },
    {
      key: 'actions',
      title: text.takeOutDo,
      quiet: true,
      align: 'right',
      cell(person) {
        const mayMove = isRoot(self) || person.role < 10;
        return (
          <IconButton
            label={text.takeOut(person.username)}
            hint={mayMove ? text.takeOut(person.username) : text.notBelow}
            data-disabled={!mayMove || undefined}
            aria-disabled={!mayMove}
            onClick={() => mayMove && leaving.open(person)}
          >
            <IconUserMinus size={16} />
          </IconButton>
        );
      },
    },
  ];
  return (
    <Section title={text.words.members} about={text.membersAbout} flush>
      <AddPeople department={department} />
      <QueryTable
        query={members}
        caption={text.words.members}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Empty title={text.membersNone}>{text.membersNoneAbout}</Empty>}
        page={page}
        pageSize={PAGE_SIZE}
        onPage={setPage}
      />
      <Confirm
        dialog={leaving}
        title={text.takeOutTitle}
        action={text.takeOutDo}
        doing={takeOut}
        onConfirm={takeOut.mutate}
      >
        {text.takeOutAbout(leaving.about?.username ?? '', leaving.about?.department_name || department.name)}
      </Confirm>
    </Section>
  );
}

function AddPeople({ department }: { readonly department: Department }) {
  const text = useText();
  const format = useFormat();
  const [ids, setIds] = useState<readonly string[]>([]);
  const add = useAction(
    () =>
      call('POST /api/department/{id}/members', {
        params: { id: department.id },
        body: { user_ids: ids.map(Number) },
      }),
    {
      changes: CHANGES,
      done(count) {
        setIds([]);
        notifications.show({ message: text.addedPeople(format.number(count)) });
      },
    },
  );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (ids.length > 0) add.mutate();
      }}
    >
      <Group gap="xs" p="sm" align="flex-end" wrap="nowrap">
        <Box flex={1} miw={0}>
          <PeopleSearch label={text.addPeople} about={text.addAbout} value={ids} onChange={setIds} />
        </Box>
        <PlainButton type="submit" size="sm" loading={add.isPending} disabled={ids.length === 0}>
          {text.add}
        </PlainButton>
      </Group>
    </form>
  );
}

type FoundPerson = User;

/** The number of users that one request can add. */
const MOST = 100;

/** The field. Users whose role is not below the viewer's are shown but cannot be selected. */
export function PeopleSearch({
  label,
  about,
  value,
  onChange,
}: {
  readonly label: string;
  readonly about?: string;
  readonly value: readonly string[];
  onChange(ids: string[]): void;
}) {
  const text = useText();
  const self = useSelf();
  const [typed, setTyped] = useState('');
  const [keyword] = useDebouncedValue(typed.trim(), 200);
  const [chosen, setChosen] = useState<readonly FoundPerson[]>([]);
  const results = useApi(
    'GET /api/user/search',
    { search: { keyword: keyword || undefined, status: 1, page_size: 20 } },
    KEEPS_DATA,
  );
  const people = new Map([...chosen, ...(results.data?.items ?? [])].map((person) => [`${person.id}`, person]));
  return (
    <MultiSelect
      label={label}
      description={about}
      placeholder={value.length === 0 ? text.findPeople : undefined}
      data={[...people].map(([id, person]) => ({
        value: id,
        label: labelOf(person, text),
        disabled: !isRoot(self) && person.role >= 10,
      }))}
      // The gateway did the filtering.
      filter={({ options }) => options}
      value={[...value]}
      onChange={(ids) => {
        setChosen(ids.flatMap((id) => people.get(id) ?? []));
        onChange(ids);
      }}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      nothingFoundMessage={text.words.noMatchingUsers}
      hidePickedOptions
      maxValues={MOST}
    />
  );
}

function labelOf(
  { username, display_name: displayName, department_name: department }: FoundPerson,
  text: ReturnType<typeof useText>,
): string {
  const name = displayName === '' || displayName === username ? username : `${displayName} (${username})`;
  return department === '' ? name : `${name} · ${text.nowIn(department)}`;
}
