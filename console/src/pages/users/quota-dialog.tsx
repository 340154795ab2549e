/** Adds, deducts or sets the balance of an account, with a preview. */
import { Modal, SegmentedControl, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { Small } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { USER_CHANGES, type User } from './rights.ts';
import { TEXT } from './text.ts';

type Mode = 'add' | 'subtract' | 'override';

interface QuotaDialogProps {
  readonly user: User;
  readonly opened: boolean;
  onClose(): void;
}

/** The dialog. */
export function QuotaDialog(props: QuotaDialogProps) {
  const text = useText(TEXT);
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={text.quotaTitle(props.user.username)}>
      <Fields {...props} />
    </Modal>
  );
}

function Fields({ user, onClose }: QuotaDialogProps) {
  const text = useText(TEXT);
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
      done({ quota }) {
        notifications.show({ message: text.quotaDone(format.money(quota)) });
        onClose();
      },
      refused: refusal.refused,
    },
  );
  const after = preview(user, mode, amount ?? 0);
  const isPossible = amount !== null && (amount > 0 || mode === 'override') && !(mode === 'override' && user.debt > 0);
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
          {text.quotaAbout[mode]} {mode === 'override' && user.debt > 0 && text.quotaInDebt}
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

/** The resulting balance and debt. */
function preview({ quota, debt }: User, mode: Mode, amount: number): { readonly left: number; readonly owed: number } {
  if (mode === 'override') return { left: amount, owed: debt };
  if (mode === 'subtract') return { left: Math.max(0, quota - amount), owed: debt };
  return { left: quota + Math.max(0, amount - debt), owed: Math.max(0, debt - amount) };
}
