/** Deletes a department, or shows what prevents it. */
import { Group, List, Modal, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import type { Department } from './forest.ts';
import { TEXT } from './text.ts';

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
  const text = useText(TEXT);
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
        action={text.remove}
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
            {text.close}
          </PlainButton>
        </Group>
      </Stack>
    </Modal>
  );
}
