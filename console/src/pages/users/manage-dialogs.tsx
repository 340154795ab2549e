/** Dialogs that change an account: disable and enable, role, balance, deletion. */
import { Modal, SegmentedControl, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { UserAction } from '../../api/operations.ts';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { Small } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { USER_CHANGES, type User } from './rights.ts';
import { useText } from './text.ts';

interface DialogProps {
  readonly user: User;
  readonly opened: boolean;
  onClose(): void;
}

/** Disables an account, or enables a disabled one. */
export function FreezeDialog({ user, ...others }: DialogProps) {
  const text = useText();
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
  const text = useText();
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
  const text = useText();
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

interface DeleteUserProps {
  readonly user: User;
  readonly opened: boolean;
  onClose(): void;
  onDeleted(): void;
}

/** Deletes an account after its name was typed. */
export function DeleteUser(props: DeleteUserProps) {
  const text = useText();
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={text.removeTitle(props.user.username)}>
      <DeleteFields {...props} />
    </Modal>
  );
}

function DeleteFields({ user: { id, username }, onClose, onDeleted }: DeleteUserProps) {
  const text = useText();
  const [typed, setTyped] = useState('');
  const refusal = useFormRefusal();
  const remove = useAction(() => call('DELETE /api/user/{id}', { params: { id } }), {
    changes: [...USER_CHANGES, 'GET /api/department/tree'],
    done() {
      notifications.show({ message: text.removed(username) });
      onClose();
      onDeleted();
    },
    refused: refusal.refused,
  });
  return (
    <DialogForm
      refusal={refusal}
      action={text.words.deleteAccount}
      running={remove}
      ready={typed === username}
      danger
      onClose={onClose}
    >
      <Text size="sm">{text.removeAbout}</Text>
      <TextInput
        label={text.removeType(username)}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
      />
    </DialogForm>
  );
}

type Mode = 'add' | 'subtract' | 'override';

interface QuotaDialogProps {
  readonly user: User;
  readonly opened: boolean;
  onClose(): void;
}

/** Adds, deducts or sets the balance of an account, with a preview. */
export function QuotaDialog(props: QuotaDialogProps) {
  const text = useText();
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={text.quotaTitle(props.user.username)}>
      <QuotaFields {...props} />
    </Modal>
  );
}

function QuotaFields({ user, onClose }: QuotaDialogProps) {
  const text = useText();
  const format = useFormat();
  const [mode, setMode] = useState<Mode>('add');
  const [amount, setAmount] = useState<number | null>(null);
  const [reason, setReason] = useState('');
  const refusal = useFormRefusal('value', 'reason');
  const change = useAction(
    () =>
      call('POST /api/user/manage', {
        body: {
          id: user.id,
          action: 'add_quota',
          mode,
          value: amount ?? 0,
          ...(reason.trim() && { reason: reason.trim() }),
        },
      }),
    {
      changes: USER_CHANGES,
      done({ quota, held_quota: held, debt }) {
        const sentences = [
          text.quotaDone(format.money(quota)),
          ...(held > 0 ? [text.quotaHeld(format.money(held))] : []),
          ...(debt > 0 ? [text.quotaOwed(format.money(debt))] : []),
        ];
        notifications.show({ message: sentences.join(' ') });
        onClose();
      },
      refused: refusal.refused,
    },
  );
  const after = preview(user, mode, amount ?? 0);
  const isPossible = amount !== null && (amount > 0 || mode === 'override');
  return (
    <DialogForm refusal={refusal} action={text.quotaModes[mode]} running={change} ready={isPossible} onClose={onClose}>
      <div>
        <SegmentedControl
          fullWidth
          aria-label={text.words.action}
          value={mode}
          onChange={setMode}
          data={(['add', 'subtract', 'override'] as const).map((value) => ({ value, label: text.quotaModes[value] }))}
        />
        <Text size="sm" mt={6}>
          {text.quotaAbout[mode]}
        </Text>
      </div>
      <MoneyInput
        label={text.words.amount}
        units={amount}
        onUnits={setAmount}
        error={refusal.at('value')}
        required
        focused
      />
      <TextInput
        label={text.reason}
        description={text.reasonAbout}
        {...refusal.field('reason', reason, setReason)}
        maxLength={200}
      />
      <div aria-live="polite">
        <Text size="sm" fw={600}>
          {text.quotaAfter(format.money(user.quota), format.money(after.left))}{' '}
          {after.owed > 0 && text.quotaAfterDebt(format.money(after.owed))}
        </Text>
        <Small>{text.quotaRunning}</Small>
      </div>
    </DialogForm>
  );
}

/** The resulting balance and debt: what running calls hold cannot be taken, and is owed. */
function preview(
  { quota, held_quota: held, debt }: User,
  mode: Mode,
  amount: number,
): { readonly left: number; readonly owed: number } {
  if (mode === 'add') return { left: quota + Math.max(0, amount - debt), owed: Math.max(0, debt - amount) };
  const before = debt > 0 ? Math.min(quota, held - debt) : quota + held;
  const balance = mode === 'override' ? amount : Math.max(Math.min(before, 0), before - amount);
  return { left: Math.max(0, balance - held), owed: Math.max(0, held - balance) };
}
