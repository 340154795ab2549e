/** Creates an account with a password that is shown until the dialog is closed. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type Body, call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { PasswordField } from '../../parts/secret-fields.tsx';
import { Copy } from '../../parts/values.tsx';
import { type Role, RoleChoice } from './role-choice.tsx';
import { useText } from './text.ts';

interface NewUserProps {
  readonly opened: boolean;
  onClose(): void;
  /** Shows the new account. */
  onOpen(id: number): void;
}

interface CreatedUser {
  readonly id: number;
  readonly username: string;
  readonly password: string;
}

/** The dialog. */
export function NewUser({ opened, onClose, onOpen }: NewUserProps) {
  const text = useText();
  const [created, setMade] = useState<CreatedUser>();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setMade(undefined)}
      title={created === undefined ? text.words.newAccount : text.created(created.username)}
      // Only a button closes the dialog, because the password is lost then.
      closeOnClickOutside={created === undefined}
    >
      {created === undefined ? (
        <Fields onClose={onClose} onMade={setMade} />
      ) : (
        <Stack>
          <Alert color="orange">{text.createdAbout}</Alert>
          <div>
            <Text size="sm">{text.words.username}</Text>
            <Copy value={created.username} what={text.words.username} />
          </div>
          <div>
            <Text size="sm">{text.words.password}</Text>
            <Copy value={created.password} what={text.words.password} />
          </div>
          <Group justify="flex-end" gap="xs">
            <PlainButton onClick={onClose}>{text.words.close}</PlainButton>
            <Button onClick={() => onOpen(created.id)}>{text.toAccount}</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function Fields({ onClose, onMade }: { onClose(): void; onMade(created: CreatedUser): void }) {
  const text = useText();
  const [name, setName] = useState('');
  const [displayName, setShown] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [visible, setVisible] = useState(false);
  const [role, setRole] = useState<Role>('1');
  const refusal = useFormRefusal('username', 'password', 'display_name', 'email');
  const make = useAction(
    () => {
      const body: Body<'POST /api/user/'> = {
        username: name.trim(),
        password,
        ...(displayName.trim() !== '' && { display_name: displayName.trim() }),
        ...(email.trim() !== '' && { email: email.trim() }),
        ...(role === '10' && { role: 10 as const }),
      };
      return call('POST /api/user/', { body });
    },
    {
      changes: ['GET /api/user/', 'GET /api/user/search'],
      done: ({ id, username }) => onMade({ id, username, password }),
      refused: refusal.refused,
    },
  );
  return (
    <DialogForm refusal={refusal} action={text.createDo} running={make} autoComplete="off" onClose={onClose}>
      <Text size="sm">{text.createAbout}</Text>
      <TextInput
        label={text.words.username}
        {...refusal.field('username', name, setName)}
        maxLength={64}
        autoCapitalize="none"
        spellCheck={false}
        required
        data-autofocus
      />
      <div>
        <PasswordField
          isNew
          label={text.words.password}
          {...refusal.field('password', password, setPassword)}
          visible={visible}
          onVisibilityChange={setVisible}
        />
        <PlainButton
          mt={6}
          onClick={() => {
            setPassword(randomPassword());
            setVisible(true);
          }}
        >
          {text.generate}
        </PlainButton>
      </div>
      <TextInput
        label={text.words.displayName}
        {...refusal.field('display_name', displayName, setShown)}
        maxLength={64}
      />
      <TextInput
        label={text.words.emailAddress}
        description={text.emailAbout}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        type="email"
        {...refusal.field('email', email, setEmail)}
        maxLength={254}
      />
      <RoleChoice value={role} onChange={setRole} />
    </DialogForm>
  );
}

/** Twenty characters without ambiguous letters. */
function randomPassword(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
  // Rejects byte values beyond the last multiple of the alphabet's length, which would favour its first letters.
  const most = 256 - (256 % letters.length);
  let text = '';
  while (text.length < 20) {
    for (const value of crypto.getRandomValues(new Uint8Array(32))) {
      if (value < most && text.length < 20) text += letters[value % letters.length];
    }
  }
  return text;
}
