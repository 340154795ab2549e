/** One account: balance, keys, profile, sign-in methods. */
import { Autocomplete, Drawer, Group, Menu, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import { isRoot, useAction, useApi, useSelf } from '../../api/hooks.ts';
import { IconChevronDown, IconCoins, IconTrash } from '../../icons.ts';
import { usePageNames } from '../../pages.tsx';
import { DepartmentSelect } from '../../parts/department-select.tsx';
import { Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { logsHref, usageHref } from '../../parts/links.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { GuardedButton, LinkButton, Muted, PlainButton, Section, Small } from '../../parts/page.tsx';
import { Figure, Money, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { DeleteUser, FreezeDialog, QuotaDialog, RoleDialog } from './manage-dialogs.tsx';
import { changeForbidden, ROOT, USER_CHANGES, type User } from './rights.ts';
import { useText } from './text.ts';
import { UserKeys } from './user-keys.tsx';
import { UserSessions } from './user-sessions.tsx';
import { UserSignIn } from './user-sign-in.tsx';
import { UserSubscription } from './user-subscription.tsx';
import { UserLine } from './user-table.tsx';

/** The drawer; open if `id` is set. */
export function UserDrawer({ id, onClose }: { readonly id: number; onClose(): void }) {
  const text = useText();
  const isOpen = Number.isInteger(id) && id > 0;
  const user = useApi(
    'GET /api/user/{id}',
    { params: { id }, search: { deleted: 'also' } },
    { enabled: isOpen, retry: false },
  );
  const isMissing = user.error?.status === 404;
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      title={user.data === undefined ? text.words.user : user.data.display_name || user.data.username}
    >
      {isMissing ? (
        <Empty title={text.gone} />
      ) : (
        isOpen && <Loaded query={user}>{(data) => <Content key={data.id} user={data} onClose={onClose} />}</Loaded>
      )}
    </Drawer>
  );
}

function Content({ user, onClose }: { readonly user: User; onClose(): void }) {
  const text = useText();
  const names = usePageNames();
  const format = useFormat();
  const isDeleted = user.DeletedAt !== null;
  return (
    <Stack gap="md">
      <Group justify="space-between" gap="xs">
        <UserLine user={user} />
        <Group gap="xs">
          <LinkButton href={logsHref({ username: user.username }, { allUsers: true })}>{names.logs}</LinkButton>
          <LinkButton href={usageHref({ user_id: `${user.id}` }, { allUsers: true })}>{names.usage}</LinkButton>
        </Group>
      </Group>
      <div className="grid-figures">
        <Figure
          label={text.words.balance}
          value={<Money units={user.unlimited_quota ? null : user.quota} />}
          {...(user.debt > 0 && { note: text.owes(format.money(user.debt)) })}
        />
        {user.held_quota > 0 && <Figure label={text.words.reserved} value={<Money units={user.held_quota} />} />}
        <Figure label={text.used} value={<Money units={user.used_quota} />} />
        <Figure label={text.lastSignIn} value={<When at={user.last_login_at} none={text.neverSignedIn} />} />
      </div>
      <Muted>
        {text.words.created} {format.day(user.created_at)}
        {user.DeletedAt !== null && ` · ${text.deletedAt} ${format.day(Date.parse(user.DeletedAt) / 1_000)}`}
      </Muted>
      {isDeleted ? (
        <Text size="sm">{text.deletedAbout}</Text>
      ) : (
        <>
          <Actions user={user} onDeleted={onClose} />
          <UserProfile user={user} />
          <UserSignIn user={user} />
          <UserSessions user={user} />
          <UserKeys user={user} />
          <UserSubscription user={user} />
        </>
      )}
    </Stack>
  );
}

function Actions({ user, onDeleted }: { readonly user: User; onDeleted(): void }) {
  const text = useText();
  const self = useSelf();
  const [dialog, setDialog] = useState<'quota' | 'freeze' | 'role' | 'delete'>();
  const why = changeForbidden(self, user, text);
  const whyRoot = why ?? (user.role === ROOT ? text.rootStays : undefined);
  const whyRole = isRoot(self) ? whyRoot : text.onlyRootRoles;
  const close = (): void => setDialog(undefined);
  return (
    <Group gap="xs">
      <GuardedButton
        why={why ?? (user.unlimited_quota ? text.quotaUnlimited : undefined)}
        variant="filled"
        leftSection={<IconCoins size={16} />}
        onClick={() => setDialog('quota')}
      >
        {text.quota}
      </GuardedButton>
      <GuardedButton why={whyRoot} onClick={() => setDialog('freeze')}>
        {user.status === 1 ? text.words.disable : text.words.enable}
      </GuardedButton>
      <GuardedButton why={whyRole} onClick={() => setDialog('role')}>
        {user.role === 1 ? text.promote : text.demote}
      </GuardedButton>
      <Menu position="bottom-end">
        <Menu.Target>
          <PlainButton rightSection={<IconChevronDown size={14} />}>{text.words.moreActions}</PlainButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            c="var(--mantine-color-red-text)"
            leftSection={<IconTrash size={16} />}
            disabled={whyRoot !== undefined}
            onClick={() => setDialog('delete')}
          >
            {text.words.deleteAccount}
            {whyRoot !== undefined && <Small>{whyRoot}</Small>}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <QuotaDialog user={user} opened={dialog === 'quota'} onClose={close} />
      <FreezeDialog user={user} opened={dialog === 'freeze'} onClose={close} />
      <RoleDialog user={user} opened={dialog === 'role'} onClose={close} />
      <DeleteUser user={user} opened={dialog === 'delete'} onClose={close} onDeleted={onDeleted} />
    </Group>
  );
}

const GROUP = /^[\p{L}\p{M}\p{N}_.-]{1,64}$/u;

/** Names, email, group, department, remark. */
function UserProfile({ user }: { readonly user: User }) {
  const text = useText();
  const why = changeForbidden(useSelf(), user, text);
  const before = {
    username: user.username,
    display_name: user.display_name,
    email: user.email,
    group: user.group,
    remark: user.remark,
  };
  const departmentBefore = user.department_id === null ? '' : `${user.department_id}`;
  const [form, setForm] = useState(before);
  const [department, setDepartment] = useState(departmentBefore);
  const refusal = useFormRefusal('username', 'display_name', 'email', 'group', 'remark');
  const groups = useApi('GET /api/group/', undefined, { staleTime: 60_000 });
  const changed = Object.fromEntries(
    Object.entries(form).filter(([name, value]) => value.trim() !== before[name as keyof typeof before]),
  );
  const isChanged = Object.keys(changed).length > 0 || department !== departmentBefore;
  const save = useAction(
    async () => {
      const trimmed = Object.fromEntries(Object.entries(changed).map(([name, value]) => [name, value.trim()]));
      if (Object.keys(trimmed).length > 0) await call('PUT /api/user/', { body: { id: user.id, ...trimmed } });
      if (department === departmentBefore) return;
      if (department !== '') {
        await call('POST /api/department/{id}/members', { params: { id: department }, body: { user_ids: [user.id] } });
      } else {
        await call('DELETE /api/department/{id}/members/{user_id}', {
          params: { id: departmentBefore, user_id: user.id },
        });
      }
    },
    {
      changes: [...USER_CHANGES, 'GET /api/department/tree'],
      done: () => notifications.show({ message: text.saved }),
      refused: refusal.refused,
    },
  );

  function submit(event: FormEvent): void {
    event.preventDefault();
    refusal.clear();
    if (why !== undefined || !isChanged) return;
    if (!GROUP.test(form.group.trim())) refusal.say('group', text.groupInvalid);
    else save.mutate();
  }

  const field = (name: keyof typeof before, label: string, about?: string) => (
    <TextInput
      label={label}
      description={about}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={form[name]}
      onChange={(event) => setForm({ ...form, [name]: event.currentTarget.value })}
      error={refusal.at(name)}
      readOnly={why !== undefined}
      autoComplete="off"
    />
  );
  return (
    <Section title={text.words.profile}>
      <form ref={refusal.form} onSubmit={submit}>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {field('username', text.words.username)}
            {field('display_name', text.words.displayName)}
            {field('email', text.words.emailAddress, text.emailAbout)}
            <Autocomplete
              label={text.words.group}
              description={text.groupAbout}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              data={groups.data ?? []}
              value={form.group}
              onChange={(group) => setForm({ ...form, group })}
              error={refusal.at('group')}
              readOnly={why !== undefined}
            />
            {field('remark', text.remark, text.remarkAbout)}
            <DepartmentSelect
              label={text.words.department}
              placeholder={text.noDepartment}
              value={department}
              onChange={setDepartment}
              disabled={why !== undefined}
            />
          </SimpleGrid>
          <Refused by={refusal} />
          <Group justify="flex-end">
            <GuardedButton why={why} loading={save.isPending} onClick={() => refusal.form.current?.requestSubmit()}>
              {text.words.save}
            </GuardedButton>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
