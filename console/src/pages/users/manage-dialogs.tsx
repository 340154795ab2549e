/** Dialogs that disable and enable an account, and that change its role; each records a reason in the audit log. */
import { Modal, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { UserAction } from '../../api/operations.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { useText } from '../../text.ts';
import { USER_CHANGES, type User } from './rights.ts';
import { TEXT } from './text.ts';

interface DialogProps {
  readonly user: User;
  readonly opened: boolean;
  onClose(): void;
}

/** Disables an account, or enables a disabled one. */
export function FreezeDialog({ user, ...others }: DialogProps) {
  const text = useText(TEXT);
  const isFrozen = user.status === 2;
  return (
    <ManageDialog
      {...others}
      id={user.id}
      action={isFrozen ? 'enable' : 'disable'}
      title={isFrozen ? text.unfreezeTitle(user.username) : text.freezeTitle(user.username)}
      about={isFrozen ? text.unfreezeAbout : text.freezeAbout}
      button={isFrozen ? text.words.enable : text.words.disable}
      danger={!isFrozen}
    />
  );
}

/** Makes a member an administrator, or an administrator a member. */
export function RoleDialog({ user, ...others }: DialogProps) {
  const text = useText(TEXT);
  const isMember = user.role === 1;
  return (
    <ManageDialog
      {...others}
      id={user.id}
      action={isMember ? 'promote' : 'demote'}
      title={isMember ? text.promoteTitle(user.username) : text.demoteTitle(user.username)}
      about={isMember ? text.promoteAbout : text.demoteAbout}
      button={isMember ? text.promote : text.demote}
    />
  );
}

interface ManageDialogProps extends Omit<DialogProps, 'user'> {
  readonly id: number;
  readonly action: UserAction['action'];
  readonly title: string;
  readonly about: string;
  readonly button: string;
  readonly danger?: boolean;
}

function ManageDialog(props: ManageDialogProps) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      <Fields {...props} />
    </Modal>
  );
}

function Fields({ id, action, about, button, danger = false, onClose }: ManageDialogProps) {
  const text = useText(TEXT);
  const [reason, setReason] = useState('');
  const refusal = useFormRefusal('reason');
  const manage = useAction(
    () => call('POST /api/user/manage', { body: { id, action, ...(reason.trim() && { reason: reason.trim() }) } }),
    { changes: USER_CHANGES, done: onClose, refused: refusal.refused },
  );
  return (
    <DialogForm refusal={refusal} action={button} running={manage} danger={danger} onClose={onClose}>
      <Text size="sm">{about}</Text>
      <TextInput
        label={text.reason}
        description={text.reasonAbout}
        {...refusal.field('reason', reason, setReason)}
        maxLength={200}
        data-autofocus
      />
    </DialogForm>
  );
}
