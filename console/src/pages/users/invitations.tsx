/** Invitations: links for creating accounts, for invited addresses or for any visitor; create, list, send again, revoke. */
import { Alert, Anchor, Button, Group, Modal, NumberInput, SegmentedControl, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call, type Data, HOME } from '../../api/client.ts';
import { KEEPS_DATA, useAction, useApi, useStatus } from '../../api/hooks.ts';
import type { Invitation } from '../../api/operations.ts';
import { IconMail, IconTrash } from '../../icons.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, QueryTable } from '../../parts/data-table.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Empty } from '../../parts/notes.tsx';
import { IconButton, Muted, PlainButton, Section } from '../../parts/page.tsx';
import { Copy, State, type Tone, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { InvitedList, InviteForm } from './invite-form.tsx';
import { useText } from './text.ts';

const PAGE_SIZE = 25;
const MOODS: Readonly<Record<Invitation['status'], Tone>> = {
  open: 'info',
  used: 'good',
  expired: 'idle',
  revoked: 'idle',
};
const CHANGES = ['GET /api/user/invitations'] as const;
/** The result of inviting addresses. */
type Invited = Data<'POST /api/user/invitations'>;

/** The list. */
export function Invitations({
  page,
  onPage,
  onNew,
  onUser,
}: {
  readonly page: number;
  onPage(page: number): void;
  onNew(): void;
  onUser(id: number): void;
}) {
  const text = useText();
  const revoking = useDialog<number>();
  const invitations = useApi('GET /api/user/invitations', { search: { p: page, page_size: PAGE_SIZE } }, KEEPS_DATA);
  const revoke = useAction((id: number) => call('DELETE /api/user/invitations/{id}', { params: { id } }), {
    changes: CHANGES,
    done: revoking.close,
  });
  const [links, setLinks] = useState<Invited>();
  const resend = useAction((id: number) => call('POST /api/user/invitations/{id}/resend', { params: { id } }), {
    changes: CHANGES,
    done: (invited) =>
      invited.outcome === 'link'
        ? setLinks([invited])
        : notifications.show({ message: text.invite.sentTo(invited.email) }),
  });
  const columns: readonly Column<Invitation>[] = [
    {
      key: 'state',
      title: text.words.state,
      cell: ({ status }) => <State tone={MOODS[status]}>{text.invitationStates[status]}</State>,
    },
    { key: 'whom', title: text.invite.whom, cell: (invitation) => <Recipient invitation={invitation} /> },
    { key: 'by', title: text.madeBy, cell: ({ made_by_name: name }) => name },
    { key: 'made', title: text.madeAt, cell: ({ created_at: at }) => <When at={at} />, from: 'sm' },
    { key: 'expires', title: text.words.expires, cell: ({ expires_at: at }) => <When at={at} />, from: 'sm' },
    {
      key: 'used',
      title: text.words.usedBy,
      cell: ({ used_by: id, used_by_name: name }) =>
        id > 0 && (
          <Anchor component="button" type="button" size="sm" onClick={() => onUser(id)}>
            {name || `#${id}`}
          </Anchor>
        ),
    },
    {
      key: 'revoke',
      title: text.revoke,
      quiet: true,
      align: 'right',
      cell: ({ id, status, email }) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          {email !== '' && (status === 'open' || status === 'expired') && (
            <IconButton
              label={`${text.invite.resend} ${email}`}
              hint={text.invite.resend}
              loading={resend.isPending && resend.variables === id}
              onClick={() => resend.mutate(id)}
            >
              <IconMail size={16} />
            </IconButton>
          )}
          {status === 'open' && (
            <IconButton label={`${text.revoke} ${id}`} hint={text.revoke} onClick={() => revoking.open(id)}>
              <IconTrash size={16} />
            </IconButton>
          )}
        </Group>
      ),
    },
  ];
  return (
    <>
      <Section flush>
        <QueryTable
          query={invitations}
          caption={text.tabs.invitations}
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <Empty
              title={text.invitationsNone}
              action={<PlainButton onClick={onNew}>{text.invitationNew}</PlainButton>}
            >
              {text.invitationsNoneAbout}
            </Empty>
          }
          page={page}
          pageSize={PAGE_SIZE}
          onPage={onPage}
        />
      </Section>
      <Confirm dialog={revoking} title={text.revokeTitle} action={text.revoke} doing={revoke} onConfirm={revoke.mutate}>
        {text.revokeAbout}
      </Confirm>
      <Modal opened={links !== undefined} onClose={() => setLinks(undefined)} title={text.invite.resend}>
        {links !== undefined && <InvitedList invited={links} onClose={() => setLinks(undefined)} />}
      </Modal>
    </>
  );
}

/** The address, and what the account will be. */
function Recipient({ invitation }: { readonly invitation: Invitation }) {
  const text = useText();
  const format = useFormat();
  const { email, role, department_name: department, quota, plan, sent_at: sentAt, status } = invitation;
  if (email === '') return <Muted>{text.invite.anyone}</Muted>;
  const facts = [
    role === 10 && text.administrator,
    department,
    quota !== null && format.money(quota),
    plan,
    status === 'open' && sentAt === 0 && text.invite.unsent,
  ].filter((fact) => fact !== false && fact !== '');
  return (
    <div>
      <Text size="sm" className="name">
        {email}
      </Text>
      {facts.length > 0 && <Muted>{facts.join(' · ')}</Muted>}
    </div>
  );
}

/** The effect of an invitation with the current registration setting. */
function RegistrationNote() {
  const text = useText();
  const status = useStatus();
  if (status === undefined || status.invitation_required) return null;
  return (
    <Alert color={status.register_enabled ? 'blue' : 'orange'}>
      {status.register_enabled ? text.invitationOpen : text.invitationClosed}
    </Alert>
  );
}

/** The dialog that invites addresses, or creates a link for any visitor. */
export function NewInvitation({ opened, onClose }: { readonly opened: boolean; onClose(): void }) {
  const text = useText();
  const [way, setWay] = useState<'email' | 'link'>('email');
  const [created, setMade] = useState<Data<'POST /api/user/invitation'>>();
  const [invited, setInvited] = useState<Invited>();
  const isDone = created !== undefined || invited !== undefined;
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => {
        setMade(undefined);
        setInvited(undefined);
      }}
      title={text.invitationNew}
      closeOnClickOutside={!isDone}
    >
      <Stack>
        {!isDone && (
          <SegmentedControl
            aria-label={text.invite.way}
            value={way}
            onChange={setWay}
            data={[
              { value: 'email', label: text.invite.byEmail },
              { value: 'link', label: text.invite.byLink },
            ]}
          />
        )}
        {invited !== undefined ? (
          <InvitedList invited={invited} onClose={onClose} />
        ) : created !== undefined ? (
          <Link created={created} onClose={onClose} />
        ) : way === 'email' ? (
          <InviteForm onClose={onClose} onInvited={setInvited} />
        ) : (
          <Fields onClose={onClose} onMade={setMade} />
        )}
      </Stack>
    </Modal>
  );
}

function Fields({ onClose, onMade }: { onClose(): void; onMade(created: Data<'POST /api/user/invitation'>): void }) {
  const text = useText();
  const [days, setDays] = useState<number | string>(7);
  const refusal = useFormRefusal('expires_days');
  const make = useAction(() => call('POST /api/user/invitation', { body: { expires_days: Number(days) || 7 } }), {
    changes: CHANGES,
    done: onMade,
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={text.invitationMake} running={make} onClose={onClose}>
      <Text size="sm">{text.invitationAbout}</Text>
      <RegistrationNote />
      <NumberInput
        label={text.invitationDays}
        value={days}
        onChange={setDays}
        min={1}
        max={365}
        allowDecimal={false}
        error={refusal.at('expires_days')}
        data-autofocus
      />
    </DialogForm>
  );
}

function Link({ created, onClose }: { readonly created: Data<'POST /api/user/invitation'>; onClose(): void }) {
  const text = useText();
  const format = useFormat();
  const link = new URL('register', HOME);
  link.searchParams.set('invite', created.code);
  return (
    <Stack>
      <Alert color="orange">{text.invitationOnce}</Alert>
      <div>
        <Text size="sm">{text.invitationLink}</Text>
        <Copy value={link.href} what={text.invitationLink} />
      </div>
      <Muted>
        {text.invitationUntil} {format.moment(created.expires_at)}
      </Muted>
      <Group justify="flex-end">
        <Button onClick={onClose}>{text.words.close}</Button>
      </Group>
    </Stack>
  );
}
