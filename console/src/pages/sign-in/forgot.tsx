/** Requests a password reset email. The page does not reveal whether the address belongs to an account. */
import { Anchor, Button, Group, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { useStatus } from '../../api/status.ts';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Empty } from '../../parts/notes.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { useText } from '../../text.ts';
import { Frame } from './frame.tsx';
import { TEXT } from './text.ts';

/** The page. */
export function Forgot() {
  const { forgot: text, backToSignIn } = useText(TEXT);
  const status = useStatus();
  const [sent, setSent] = useState('');
  const back = (
    <Group justify="center">
      <Anchor component={Link} href="/login" size="sm">
        {backToSignIn}
      </Anchor>
    </Group>
  );
  if (status?.letters === 'none')
    return (
      <Frame title={text.title} below={back}>
        <Empty title={text.none}>{text.noneAbout}</Empty>
      </Frame>
    );
  return (
    <Frame title={sent === '' ? text.title : text.sent} below={back}>
      {sent === '' ? (
        <VerifyForm onSent={setSent} />
      ) : (
        <>
          <Text size="sm" role="status">
            {status?.letters === 'logged' ? text.logged : text.sentAbout(sent)}
          </Text>
          <PlainButton size="sm" onClick={() => setSent('')}>
            {text.again}
          </PlainButton>
        </>
      )}
    </Frame>
  );
}

function VerifyForm({ onSent }: { onSent(email: string): void }) {
  const text = useText(TEXT).forgot;
  const [email, setEmail] = useState('');
  const refusal = useFormRefusal('email');
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const sending = useAction(() => call('GET /api/reset_password', { search: { email: email.trim() } }), {
    done: () => onSent(email.trim()),
    refused: refusal.refused,
  });
  return (
    <RefusalForm refusal={refusal} onSubmit={() => sending.mutate()}>
      <TextInput
        ref={first}
        type="email"
        label={text.email}
        autoComplete="email"
        maxLength={254}
        required
        withAsterisk={false}
        {...refusal.field('email', email, setEmail)}
      />
      <Refused by={refusal} />
      <Button type="submit" size="sm" loading={sending.isPending} fullWidth>
        {text.go}
      </Button>
    </RefusalForm>
  );
}
