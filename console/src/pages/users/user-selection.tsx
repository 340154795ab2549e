/** The actions on several selected users: enable, disable, delete, set a group. */
import { Modal, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type ReactNode, useState } from 'react';
import { type Body, call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { User } from '../../api/operations.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { NOTHING, SelectionBar } from '../../parts/selection-bar.tsx';
import { useText } from './text.ts';

type Batch = Body<'POST /api/user/batch'>;
const CHANGES = ['GET /api/user/', 'GET /api/user/{id}'] as const;

/** The bar above the list. `csv`: the button that saves the list. */
export function UserSelection({
  rows,
  selected,
  onSelect,
  csv,
}: {
  readonly rows: readonly User[];
  readonly selected: ReadonlySet<number>;
  onSelect(ids: ReadonlySet<number>): void;
  readonly csv: ReactNode;
}) {
  const { selection: text, words } = useText();
  const asking = useDialog<'disable' | 'delete'>();
  const [grouping, setGrouping] = useState(false);
  const ids = rows.map(({ id }) => id).filter((id) => selected.has(id));
  const done = (count: number): void => {
    asking.close();
    setGrouping(false);
    onSelect(NOTHING);
    notifications.show({ message: text.done(count) });
  };
  const change = useAction((batch: Omit<Batch, 'ids'>) => call('POST /api/user/batch', { body: { ...batch, ids } }), {
    changes: CHANGES,
    done,
  });
  const isDeletion = asking.about === 'delete';
  return (
    <>
      <SelectionBar ids={rows.map(({ id }) => id)} selected={selected} onSelect={onSelect} end={csv}>
        <PlainButton size="compact-xs" onClick={() => change.mutate({ action: 'enable' })}>
          {words.enable}
        </PlainButton>
        <PlainButton size="compact-xs" onClick={() => asking.open('disable')}>
          {words.disable}
        </PlainButton>
        <PlainButton size="compact-xs" onClick={() => setGrouping(true)}>
          {text.group}
        </PlainButton>
        <PlainButton size="compact-xs" onClick={() => asking.open('delete')}>
          {words.delete}
        </PlainButton>
      </SelectionBar>
      <Confirm
        dialog={asking}
        title={isDeletion ? text.deleteTitle(ids.length) : text.disableTitle(ids.length)}
        action={isDeletion ? words.delete : words.disable}
        doing={change}
        onConfirm={(action) => change.mutate({ action })}
      >
        {isDeletion ? text.deleteAbout : text.disableAbout}
      </Confirm>
      <Modal opened={grouping} onClose={() => setGrouping(false)} title={text.group}>
        <GroupForm ids={ids} onClose={() => setGrouping(false)} onDone={done} />
      </Modal>
    </>
  );
}

function GroupForm({
  ids,
  onClose,
  onDone,
}: {
  readonly ids: readonly number[];
  onClose(): void;
  onDone(count: number): void;
}) {
  const { selection: text, words } = useText();
  const [group, setGroup] = useState('');
  const refusal = useFormRefusal('group');
  const set = useAction(
    () => call('POST /api/user/batch', { body: { ids: [...ids], action: 'set_group' as const, group: group.trim() } }),
    { changes: CHANGES, done: onDone, refused: refusal.refused },
  );
  return (
    <DialogForm refusal={refusal} action={text.group} running={set} ready={group.trim() !== ''} onClose={onClose}>
      <TextInput
        label={words.group}
        description={text.groupAbout}
        {...refusal.field('group', group, setGroup)}
        maxLength={64}
        data-autofocus
      />
    </DialogForm>
  );
}
