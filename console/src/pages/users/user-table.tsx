/** The matching accounts, page by page. */
import { Group, Text } from '@mantine/core';
import type { Search } from '../../api/client.ts';
import { KEEPS_DATA, useApi } from '../../api/hooks.ts';
import type { User } from '../../api/operations.ts';
import { type Column, QueryTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/notes.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { Money, State, When } from '../../parts/values.tsx';
import { useText } from './text.ts';

type Row = User;
const PAGE_SIZE = 25;
const STATUS = { active: 1, frozen: 2, deleted: -1 } as const;

/** The table. An invalid department or user ID in the address sends no query. */
export function UserTable({
  query,
  role,
  state,
  department,
  page,
  open,
  onPage,
  onOpen,
  onClear,
  onInvite,
}: {
  readonly query: string;
  readonly role: number;
  readonly state: string;
  readonly department: number;
  readonly page: number;
  readonly open: number;
  onPage(page: number): void;
  onOpen(id: number): void;
  onClear(): void;
  onInvite(): void;
}) {
  const text = useText();
  const search: Search<'GET /api/user/'> = {
    ...(query !== '' && { keyword: query }),
    ...((role === 1 || role === 10 || role === 100) && { role }),
    ...(state in STATUS && { status: STATUS[state as keyof typeof STATUS] }),
    ...(department > 0 && { department_id: department }),
  };
  const isFiltered = Object.keys(search).length > 0;
  const users = useApi('GET /api/user/', { search: { ...search, p: page, page_size: PAGE_SIZE } }, KEEPS_DATA);
  const columns: readonly Column<Row>[] = [
    {
      key: 'person',
      title: text.words.user,
      cell: ({ username, display_name: displayName }) =>
        displayName !== '' && displayName !== username ? `${displayName} (${username})` : username,
    },
    {
      key: 'role',
      title: text.role,
      cell: ({ role: number }) =>
        number === 1 ? text.roles[1] : <State tone="info">{text.roles[number] ?? number}</State>,
      from: 'sm',
    },
    { key: 'state', title: text.words.state, cell: (row) => <UserState user={row} /> },
    { key: 'department', title: text.words.department, cell: (row) => row.department_name, from: 'md' },
    {
      key: 'balance',
      title: text.words.balance,
      align: 'right',
      cell: (row) => <Money units={row.unlimited_quota ? null : row.quota} />,
    },
    { key: 'used', title: text.used, align: 'right', cell: (row) => <Money units={row.used_quota} />, from: 'md' },
    {
      key: 'last',
      title: text.lastSignIn,
      align: 'right',
      cell: (row) => <When at={row.last_login_at} none={text.neverSignedIn} />,
      from: 'sm',
    },
  ];
  return (
    <>
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
        pageSize={PAGE_SIZE}
        onPage={onPage}
      />
      {!isFiltered && users.data?.total === 1 && (
        <Empty title={text.alone} action={<PlainButton onClick={onInvite}>{text.invite}</PlainButton>}>
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
