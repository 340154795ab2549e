/** Fields for what people know or have: passwords, and codes of a second factor or a letter. */
import { PasswordInput, type PasswordInputProps, Text, TextInput, type TextInputProps } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { texts, useText } from '../text.ts';

const TEXT = texts(
  {
    show: 'Show or hide the password',
    caps: 'Caps Lock is on.',
    rules: '8 characters or more; a few words together are better than one with signs.',
    code: 'Code of your authenticator',
    either: 'Six digits; or one of your backup codes.',
  },
  {
    show: '显示或隐藏密码',
    caps: '大写锁定已打开。',
    rules: '至少 8 个字符；几个词连在一起比一个带符号的词更安全。',
    code: '验证器中的验证码',
    either: '六位数字，也可以填写一个备用码。',
  },
);

/** A password. `fresh`: one that is chosen here; password managers offer one, and its rules are told. */
export function PasswordField({ fresh = false, ...props }: PasswordInputProps & { readonly fresh?: boolean }) {
  const text = useText(TEXT);
  const [caps, setCaps] = useState(false);
  const look = (event: KeyboardEvent): void => setCaps(event.getModifierState('CapsLock'));
  return (
    <div>
      <PasswordInput
        autoComplete={fresh ? 'new-password' : 'current-password'}
        {...(fresh && { description: text.rules })}
        maxLength={1_024}
        required
        withAsterisk={false}
        onKeyDown={look}
        onKeyUp={look}
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

/** A code of an authenticator; `backup`: a backup code will do. */
export function CodeField({ backup = false, ...props }: TextInputProps & { readonly backup?: boolean }) {
  const text = useText(TEXT);
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
