/** Users: all accounts, one of them, and invitations. */
import { Box, Button, Group, SegmentedControl, Select } from '@mantine/core';
import { useState } from 'react';
import { IconPlus } from '../../icons.ts';
import { pageOf, useAddress } from '../../parts/address.ts';
import { pageSizeOf } from '../../parts/data-table.tsx';
import { DepartmentSelect } from '../../parts/department-select.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Invitations, NewInvitation } from './invitations.tsx';
import { NewUser } from './new-user.tsx';
import { useText } from './text.ts';
import { UserDrawer } from './user-drawer.tsx';
import { UserTable } from './user-table.tsx';

export default function UsersPage() {
  const text = useText();
  const [address, setAddress] = useAddress({
    tab: 'accounts',
    q: '',
    role: '',
    state: '',
    department: '',
    sort: '',
    size: '25',
    page: '1',
    user: '',
    invitations: '1',
  });
  const [dialog, setDialog] = useState<'account' | 'invitation'>();
  const isInvitations = address.tab === 'invitations';
  return (
    <Page
      name="users"
      about={text.about}
      actions={
        <>
          <SegmentedControl
            size="xs"
            aria-label={text.words.view}
            value={isInvitations ? 'invitations' : 'accounts'}
            onChange={(tab) => setAddress({ tab })}
            data={[
              { value: 'accounts', label: text.tabs.accounts },
              { value: 'invitations', label: text.tabs.invitations },
            ]}
          />
          <Button
            leftSection={<IconPlus size={16} />}
            onClick={() => setDialog(isInvitations ? 'invitation' : 'account')}
          >
            {isInvitations ? text.invitationNew : text.words.newAccount}
          </Button>
        </>
      }
    >
      {isInvitations ? (
        <Invitations
          page={pageOf(address.invitations)}
          onPage={(page) => setAddress({ invitations: `${page}` })}
          onNew={() => setDialog('invitation')}
          onUser={(id) => setAddress({ user: `${id}` })}
        />
      ) : (
        <Section flush>
          <Group gap="xs" className="section-head">
            <Box flex="1 1 14rem" maw="20rem">
              <SearchField label={text.search} value={address.q} onSearch={(q) => setAddress({ q, page: '1' })} />
            </Box>
            <Select
              aria-label={text.role}
              placeholder={text.anyRole}
              data={[1, 10, 100].map((role) => ({ value: `${role}`, label: text.roles[role] ?? '' }))}
              value={address.role || null}
              onChange={(role) => setAddress({ role: role ?? '', page: '1' })}
              clearable
              flex="1 1 8rem"
              maw="10rem"
            />
            <Select
              aria-label={text.words.state}
              placeholder={text.words.anyState}
              data={(['active', 'frozen', 'deleted'] as const).map((state) => ({
                value: state,
                label: text.states[state],
              }))}
              value={address.state || null}
              onChange={(state) => setAddress({ state: state ?? '', page: '1' })}
              clearable
              flex="1 1 8rem"
              maw="10rem"
            />
            <Box flex="1 1 12rem" maw="20rem">
              <DepartmentSelect
                label={text.words.department}
                hiddenLabel
                placeholder={text.anyDepartment}
                value={address.department}
                onChange={(department) => setAddress({ department, page: '1' })}
              />
            </Box>
          </Group>
          <UserTable
            query={address.q}
            role={Number(address.role)}
            state={address.state}
            department={Number(address.department)}
            sort={address.sort}
            size={pageSizeOf(address.size)}
            page={pageOf(address.page)}
            open={Number(address.user)}
            onSort={(sort) => setAddress({ sort, page: '1' })}
            onSize={(size) => setAddress({ size: `${size}`, page: '1' })}
            onPage={(page) => setAddress({ page: `${page}` })}
            onOpen={(id) => setAddress({ user: `${id}` })}
            onClear={() => setAddress({ q: '', role: '', state: '', department: '', page: '1' })}
            onInvite={() => setDialog('invitation')}
          />
        </Section>
      )}
      <UserDrawer id={Number(address.user)} onClose={() => setAddress({ user: '' })} />
      <NewUser
        opened={dialog === 'account'}
        onClose={() => setDialog(undefined)}
        onOpen={(id) => {
          setDialog(undefined);
          setAddress({ user: `${id}` });
        }}
      />
      <NewInvitation opened={dialog === 'invitation'} onClose={() => setDialog(undefined)} />
    </Page>
  );
}
