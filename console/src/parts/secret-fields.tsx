/** Fields for passwords and codes, and a dialog with a secret. */
import {
  Button,
  Group,
  Modal,
  PasswordInput,
  type PasswordInputProps,
  Stack,
  Text,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { texts } from '../text.ts';
import { Snippet } from './values.tsx';

const useText = texts({
  show: ['Show or hide the password', '显示或隐藏密码'],
  caps: ['Caps Lock is on.', '大写锁定已打开。'],
  rules: [
    'At least 8 characters. Several words are safer than one word with symbols.',
    '至少 8 个字符。多个单词比一个带符号的单词更安全。',
  ],
  code: ['Authenticator code', '身份验证器验证码'],
  either: ['Six digits, or one of your backup codes.', '六位数字，或一个备用码。'],
});

/** A password. `isNew`: a new one; password managers suggest one, and the rules are shown. */
export function PasswordField({ isNew = false, ...props }: PasswordInputProps & { readonly isNew?: boolean }) {
  const text = useText();
  const [caps, setCaps] = useState(false);
  const checkCapsLock = (event: KeyboardEvent): void => setCaps(event.getModifierState('CapsLock'));
  return (
    <div>
      <PasswordInput
        autoComplete={isNew ? 'new-password' : 'current-password'}
        {...(isNew && { description: text.rules })}
        maxLength={1_024}
        required
        withAsterisk={false}
        onKeyDown={checkCapsLock}
        onKeyUp={checkCapsLock}
        onBlur={() => setCaps(false)}
        aria-invalid={props.error ? true : undefined}
        visibilityToggleFocusable
        visibilityToggleButtonProps={{ 'aria-label': text.show }}
        {...props}
      />
      <Text size="xs" c="orange" role="status">
        {caps && text.caps}
      </Text>
    </div>
  );
}

/** An authenticator code; `backup`: backup codes are accepted. */
export function CodeField({ backup = false, ...props }: TextInputProps & { readonly backup?: boolean }) {
  const text = useText();
  return (
    <TextInput
      label={text.code}
      {...(backup && { description: text.either })}
      autoComplete="one-time-code"
      inputMode={backup ? 'text' : 'numeric'}
      autoCapitalize="characters"
      autoCorrect="off"
      spellCheck={false}
      maxLength={64}
      required
      withAsterisk={false}
      {...props}
    />
  );
}

/** Open while there is a secret. `about` says what to do with it; `done` is the label of the button. */
export function ShownOnce({
  secret,
  title,
  about,
  done,
  onClose,
}: {
  readonly secret: string | undefined;
  readonly title: string;
  readonly about: string;
  readonly done: string;
  onClose(): void;
}) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="sm">
        <Text size="sm">{about}</Text>
        <Snippet code={secret ?? ''} label={title} />
        <Group justify="flex-end">
          <Button onClick={onClose}>{done}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
