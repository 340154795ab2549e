/** Deletes an account after its name was typed. */
import { Modal, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { useText } from '../../text.ts';
import { USER_CHANGES, type User } from './rights.ts';
import { TEXT } from './text.ts';

interface DeleteUserProps {
  readonly user: User;
  readonly opened: boolean;
  onClose(): void;
  onDeleted(): void;
}

/** The dialog. */
export function DeleteUser(props: DeleteUserProps) {
  const text = useText(TEXT);
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={text.removeTitle(props.user.username)}>
      <Fields {...props} />
    </Modal>
  );
}

function Fields({ user: { id, username }, onClose, onDeleted }: DeleteUserProps) {
  const text = useText(TEXT);
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
