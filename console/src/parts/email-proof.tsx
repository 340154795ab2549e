/** Verifies an email address: sends a code, which the user enters. */
import { Group, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { call } from '../api/client.ts';
import { useAction, useStatus } from '../api/hooks.ts';
import { texts } from '../text.ts';
import { Refused, useFormRefusal } from './form-refusal.tsx';
import { PlainButton } from './page.tsx';

const useText = texts({
  send: ['Send code', '发送验证码'],
  again: ['Send new code', '重新发送验证码'],
  code: ['Code from the email', '邮件中的验证码'],
  sent: [
    (email: string) => `A code was sent to ${email}. It is valid for ten minutes.`,
    (email: string) => `验证码已发送到 ${email}，十分钟内有效。`,
  ],
  logged: [
    'This gateway sends no email: the code is in its log. Ask an administrator.',
    '此网关不发送邮件：验证码在其日志中。请联系管理员。',
  ],
});

/** Two fields of a form, with the button between them. */
export function EmailProof({
  about,
  email,
  code,
  onChange,
  errors,
}: {
  readonly about?: string;
  readonly email: string;
  readonly code: string;
  onChange(change: { readonly email?: string; readonly code?: string }): void;
  readonly errors: { readonly email: string | undefined; readonly code: string | undefined };
}) {
  const text = useText();
  const status = useStatus();
  const [sent, setSent] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const refusal = useFormRefusal('email');
  const send = useAction(() => call('GET /api/verification', { search: { email: email.trim() } }), {
    done: () => setSent(email.trim()),
    refused: refusal.refused,
  });
  useEffect(() => {
    if (sent !== '') field.current?.focus();
  }, [sent]);
  return (
    <Stack gap="xs">
      <div>
        <Group align="flex-end" gap="xs">
          <TextInput
            flex="1 1 12rem"
            type="email"
            label={text.words.emailAddress}
            {...(about !== undefined && { description: about })}
            autoComplete="email"
            maxLength={254}
            required
            withAsterisk={false}
            value={email}
            onChange={(event) => onChange({ email: event.currentTarget.value })}
            error={refusal.at('email') ?? errors.email}
          />
          <PlainButton
            size="sm"
            disabled={!/.@./.test(email)}
            loading={send.isPending}
            onClick={() => {
              refusal.clear();
              send.mutate();
            }}
          >
            {sent === '' ? text.send : text.again}
          </PlainButton>
        </Group>
        <Text size="sm" role="status" mt={sent === '' ? 0 : 4}>
          {sent !== '' && (status?.letters === 'logged' ? text.logged : text.sent(sent))}
        </Text>
      </div>
      <Refused by={refusal} />
      {sent !== '' && (
        <TextInput
          ref={field}
          label={text.code}
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={64}
          required
          withAsterisk={false}
          value={code}
          onChange={(event) => onChange({ code: event.currentTarget.value })}
          error={errors.code}
        />
      )}
    </Stack>
  );
}
