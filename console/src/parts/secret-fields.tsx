/** Fields for passwords and codes. */
import { PasswordInput, type PasswordInputProps, Text, TextInput, type TextInputProps } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { texts, useText } from '../text.ts';

const TEXT = texts({
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
  const text = useText(TEXT);
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
