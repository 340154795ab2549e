/** The matching accounts, page by page. */
import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Search } from '../../api/client.ts';
import { KEEPS_DATA, useApi } from '../../api/hooks.ts';
import type { User } from '../../api/operations.ts';
import { CsvButton } from '../../parts/csv-button.tsx';
import { type Column, QueryTable, sortOf } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/notes.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { NOTHING, useSelectColumn } from '../../parts/selection-bar.tsx';
import { Money, State, When } from '../../parts/values.tsx';
import { useText } from './text.ts';
import { UserSelection } from './user-selection.tsx';

type Row = User;
const ORDERS = ['username', 'role', 'quota', 'used_quota', 'last_login_at'] as const;
const STATUS = { active: 1, frozen: 2, deleted: -1 } as const;

/** The table. An invalid department or user ID in the address sends no query. */
export function UserTable({
  query,
  role,
  state,
  department,
  sort,
  size,
  page,
  open,
  onSort,
  onSize,
  onPage,
  onOpen,
  onClear,
  onInvite,
}: {
  readonly query: string;
  readonly role: number;
  readonly state: string;
  readonly department: number;
  readonly sort: string;
  readonly size: number;
  readonly page: number;
  readonly open: number;
  onSort(sort: string): void;
  onSize(size: number): void;
  onPage(page: number): void;
  onOpen(id: number): void;
  onClear(): void;
  onInvite(): void;
}) {
  const text = useText();
  const [selected, setSelected] = useState(NOTHING);
  const search: Search<'GET /api/user/'> = {
    ...(query !== '' && { keyword: query }),
    ...((role === 1 || role === 10 || role === 100) && { role }),
    ...(state in STATUS && { status: STATUS[state as keyof typeof STATUS] }),
    ...(department > 0 && { department_id: department }),
  };
  const isFiltered = Object.keys(search).length > 0;
  const sorted = { ...search, ...sortOf(sort, ORDERS) };
  const users = useApi('GET /api/user/', { search: { ...sorted, p: page, page_size: size } }, KEEPS_DATA);
  const select = useSelectColumn<Row>(selected, setSelected, ({ username }) => username);
  const columns: readonly Column<Row>[] = [
    select,
    {
      key: 'person',
      sort: 'username',
      title: text.words.user,
      cell: ({ username, display_name: displayName }) =>
        displayName !== '' && displayName !== username ? `${displayName} (${username})` : username,
    },
    {
      key: 'role',
      sort: 'role',
      sortsFirst: 'descending',
      title: text.role,
      cell: ({ role: number }) =>
        number === 1 ? text.roles[1] : <State tone="info">{text.roles[number] ?? number}</State>,
      from: 'sm',
    },
    { key: 'state', title: text.words.state, cell: (row) => <UserState user={row} /> },
    { key: 'department', title: text.words.department, cell: (row) => row.department_name, from: 'md' },
    {
      key: 'balance',
      sort: 'quota',
      sortsFirst: 'descending',
      title: text.words.balance,
      align: 'right',
      cell: (row) => <Money units={row.unlimited_quota ? null : row.quota} />,
    },
    {
      key: 'used',
      sort: 'used_quota',
      sortsFirst: 'descending',
      title: text.used,
      align: 'right',
      cell: (row) => <Money units={row.used_quota} />,
      from: 'md',
    },
    {
      key: 'last',
      sort: 'last_login_at',
      sortsFirst: 'descending',
      title: text.lastSignIn,
      align: 'right',
      cell: (row) => <When at={row.last_login_at} none={text.neverSignedIn} />,
      from: 'sm',
    },
  ];
  return (
    <>
      <UserSelection
        rows={users.data?.items ?? []}
        selected={selected}
        onSelect={setSelected}
        csv={
          <Group gap="xs">
            <CsvButton of="GET /api/user/" name="users" search={sorted} />
            <CsvButton of="GET /api/token/users" name="keys" search={{}} label={text.keys.csv} />
          </Group>
        }
      />
      <QueryTable
        query={users}
        caption={text.tabs.accounts}
        columns={columns}
        rowKey={({ id }) => id}
        open={open}
        onOpen={({ id }) => onOpen(id)}
        empty={
          <Empty
            title={text.words.noMatchingUsers}
            action={<PlainButton onClick={onClear}>{text.words.clearFilters}</PlainButton>}
          >
            {text.nobodyAbout}
          </Empty>
        }
        page={page}
        pageSize={size}
        onPageSize={onSize}
        order={{ sort, onSort }}
        onPage={(to) => {
          setSelected(NOTHING);
          onPage(to);
        }}
      />
      {!isFiltered && users.data?.total === 1 && (
        <Empty title={text.alone} action={<PlainButton onClick={onInvite}>{text.inviteOne}</PlainButton>}>
          {text.aloneAbout}
        </Empty>
      )}
    </>
  );
}

/** Active, disabled or deleted. */
export function UserState({ user: { status, DeletedAt } }: { readonly user: Pick<Row, 'status' | 'DeletedAt'> }) {
  const text = useText();
  if (DeletedAt !== null) return <State tone="bad">{text.states.deleted}</State>;
  return status === 2 ? (
    <State tone="warn">{text.states.frozen}</State>
  ) : (
    <State tone="good">{text.states.active}</State>
  );
}

/** Name, role and state of an account on one line. */
export function UserLine({ user }: { readonly user: Pick<Row, 'username' | 'role' | 'status' | 'DeletedAt'> }) {
  const text = useText();
  return (
    <Group gap="xs">
      <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
        {user.username}
      </Text>
      <State tone={user.role === 1 ? 'idle' : 'info'}>{text.roles[user.role] ?? user.role}</State>
      <UserState user={user} />
    </Group>
  );
}
