/** One account: balance, keys, profile, sign-in methods. */
import { Drawer, Group, Menu, Stack, Text } from '@mantine/core';
import { IconChevronDown, IconCoins, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { isRoot, useApi, useSelf } from '../../api/hooks.ts';
import { PAGE_NAMES } from '../../pages.tsx';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { logsHref, usageHref } from '../../parts/links.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { LinkButton, Muted, PlainButton, Small } from '../../parts/page.tsx';
import { Figure, Money, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { DeleteUser } from './delete-user.tsx';
import { FreezeDialog, RoleDialog } from './manage-dialogs.tsx';
import { QuotaDialog } from './quota-dialog.tsx';
import { changeForbidden, ROOT, type User } from './rights.ts';
import { TEXT } from './text.ts';
import { UserKeys } from './user-keys.tsx';
import { UserProfile } from './user-profile.tsx';
import { UserSessions } from './user-sessions.tsx';
import { UserSignIn } from './user-sign-in.tsx';
import { UserSubscription } from './user-subscription.tsx';
import { UserLine } from './user-table.tsx';

/** The drawer; open if `id` is set. */
export function UserDrawer({ id, onClose }: { readonly id: number; onClose(): void }) {
  const text = useText(TEXT);
  const isOpen = Number.isInteger(id) && id > 0;
  const user = useApi('GET /api/user/{id}', { params: { id } }, { enabled: isOpen, retry: false });
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
  const text = useText(TEXT);
  const names = useText(PAGE_NAMES);
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
  const text = useText(TEXT);
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
