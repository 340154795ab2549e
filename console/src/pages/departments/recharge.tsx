/** Adds to the total budget of a department, with a preview. */
import { Modal, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { Muted } from '../../parts/plain.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import type { Department } from './forest.ts';
import { TEXT } from './text.ts';

/** The dialog. */
export function Recharge(props: { readonly department: Department; readonly opened: boolean; onClose(): void }) {
  const text = useText(TEXT);
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={text.rechargeTitle(props.department.name)}>
      <Fields {...props} />
    </Modal>
  );
}

function Fields({ department, onClose }: { readonly department: Department; onClose(): void }) {
  const text = useText(TEXT);
  const format = useFormat();
  const [amount, setAmount] = useState<number | null>(null);
  const refusal = useFormRefusal('amount');
  const recharge = useAction(
    () => call('POST /api/department/{id}/recharge', { params: { id: department.id }, body: { amount: amount ?? 0 } }),
    {
      changes: ['GET /api/department/tree'],
      done: onClose,
      refused: refusal.refused,
    },
  );
  const before = department.quota ?? 0;
  const after = before + (amount ?? 0);
  return (
    <DialogForm
      refusal={refusal}
      action={text.recharge}
      running={recharge}
      ready={amount !== null && amount > 0}
      onClose={onClose}
    >
      <MoneyInput
        label={text.rechargeAmount}
        units={amount}
        onUnits={setAmount}
        error={refusal.at('amount')}
        required
        focused
      />
      <Text size="sm" aria-live="polite">
        {text.rechargeAfter(
          format.money(before),
          format.money(after),
          format.money(Math.max(0, after - department.used_quota)),
        )}
      </Text>
      {department.monthly_quota !== null && <Muted>{text.rechargeMonth}</Muted>}
    </DialogForm>
  );
}
