/** Adds to the total budget of a department, or deletes it. */
import { Group, List, Modal, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { Muted, PlainButton } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import type { Department } from './forest.ts';
import { useText } from './text.ts';

/** The dialog. */
export function DeleteDepartment({
  department: { id, name, member_count: people, children },
  opened,
  onClose,
  onDeleted,
}: {
  readonly department: Department;
  readonly opened: boolean;
  onClose(): void;
  onDeleted(): void;
}) {
  const text = useText();
  const format = useFormat();
  const remove = useAction(() => call('DELETE /api/department/{id}', { params: { id } }), {
    changes: ['GET /api/department/tree', 'GET /api/department/names'],
    done() {
      notifications.show({ message: text.deleted(name) });
      onClose();
      onDeleted();
    },
  });
  if (people === 0 && children.length === 0) {
    return (
      <Confirm
        dialog={{ about: true, opened, close: onClose }}
        title={text.deleteTitle(name)}
        action={text.words.delete}
        doing={remove}
        onConfirm={() => remove.mutate()}
      >
        {text.deleteAbout}
      </Confirm>
    );
  }
  return (
    <Modal opened={opened} onClose={onClose} title={text.deleteTitle(name)}>
      <Stack>
        <Text size="sm">{text.deleteBlocked}</Text>
        <List size="sm">
          {people > 0 && <List.Item>{text.deletePeople(format.number(people))}</List.Item>}
          {children.length > 0 && <List.Item>{text.deleteBelow(format.number(children.length))}</List.Item>}
        </List>
        <Group justify="flex-end">
          <PlainButton onClick={onClose} data-autofocus>
            {text.words.close}
          </PlainButton>
        </Group>
      </Stack>
    </Modal>
  );
}

/** The dialog. */
export function Recharge(props: { readonly department: Department; readonly opened: boolean; onClose(): void }) {
  const text = useText();
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={text.rechargeTitle(props.department.name)}>
      <Fields {...props} />
    </Modal>
  );
}

function Fields({ department, onClose }: { readonly department: Department; onClose(): void }) {
  const text = useText();
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
