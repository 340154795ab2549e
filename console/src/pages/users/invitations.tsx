/** Invitations: links for creating accounts; create, list, revoke. */
import { Alert, Anchor, Button, Group, Modal, NumberInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call, type Data, HOME } from '../../api/client.ts';
import { KEEPS_DATA, useAction, useApi, useStatus } from '../../api/hooks.ts';
import type { Invitation } from '../../api/operations.ts';
import { IconTrash } from '../../icons.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, QueryTable } from '../../parts/data-table.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Empty } from '../../parts/notes.tsx';
import { IconButton, Muted, PlainButton, Section } from '../../parts/page.tsx';
import { Copy, State, type Tone, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from './text.ts';

const PAGE_SIZE = 25;
const MOODS: Readonly<Record<Invitation['status'], Tone>> = {
  open: 'info',
  used: 'good',
  expired: 'idle',
  revoked: 'idle',
};
const CHANGES = ['GET /api/user/invitations'] as const;

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
  const columns: readonly Column<Invitation>[] = [
    {
      key: 'state',
      title: text.words.state,
      cell: ({ status }) => <State tone={MOODS[status]}>{text.invitationStates[status]}</State>,
    },
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
      cell: ({ id, status }) =>
        status === 'open' && (
          <IconButton label={`${text.revoke} ${id}`} hint={text.revoke} onClick={() => revoking.open(id)}>
            <IconTrash size={16} />
          </IconButton>
        ),
    },
  ];
  return (
    <>
      <RegistrationNote />
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
    </>
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

/** The dialog that creates one. */
export function NewInvitation({ opened, onClose }: { readonly opened: boolean; onClose(): void }) {
  const text = useText();
  const [created, setMade] = useState<Data<'POST /api/user/invitation'>>();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setMade(undefined)}
      title={text.invitationNew}
      closeOnClickOutside={created === undefined}
    >
      {created === undefined ? (
        <Fields onClose={onClose} onMade={setMade} />
      ) : (
        <Link created={created} onClose={onClose} />
      )}
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
