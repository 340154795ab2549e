/** Resets a password: requests the email, and sets a new password at the address in it. */
import { Anchor, Button, Group, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { call } from '../../api/client.ts';
import { useAction, useStatus } from '../../api/hooks.ts';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Empty } from '../../parts/notes.tsx';
import { LinkButton, PlainButton } from '../../parts/page.tsx';
import { PasswordField } from '../../parts/secret-fields.tsx';
import { Frame } from './frame.tsx';
import { useText } from './text.ts';

/** The target of the link in the email: sets a new password. */
export function Reset() {
  const text = useText().reset;
  const [search] = useSearchParams();
  const [email, token] = [search.get('email') ?? '', search.get('code') ?? ''];
  const another = (
    <LinkButton href="/forgot" size="sm">
      {text.another}
    </LinkButton>
  );
  if (email === '' || token === '')
    return (
      <Frame title={text.title}>
        <Empty title={text.broken} action={another}>
          {text.brokenAbout}
        </Empty>
      </Frame>
    );
  return (
    <Frame title={text.title} about={text.about(email)}>
      <ResetForm email={email} token={token} another={another} />
    </Frame>
  );
}

function ResetForm({
  email,
  token,
  another,
}: {
  readonly email: string;
  readonly token: string;
  readonly another: React.ReactNode;
}) {
  const { words } = useText();
  const [, go] = useLocation();
  const [password, setPassword] = useState('');
  const [dead, setDead] = useState(false);
  const refusal = useFormRefusal('password');
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const reset = useAction(() => call('POST /api/user/reset', { body: { email, token, password } }), {
    // Removes the code from the browser history.
    done: () => go('/login?done=reset', { replace: true }),
    refused(why) {
      setDead(why.code === 'reset_refused');
      return refusal.refused(why);
    },
  });
  return (
    <RefusalForm refusal={refusal} onSubmit={() => reset.mutate()}>
      {/* Password managers store the new password under this username. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <PasswordField
        isNew
        ref={first}
        label={words.newPassword}
        {...refusal.field('password', password, setPassword)}
      />
      <Refused by={refusal} />
      {dead ? (
        another
      ) : (
        <Button type="submit" size="sm" loading={reset.isPending} fullWidth>
          {words.setPassword}
        </Button>
      )}
    </RefusalForm>
  );
}

/** Requests the email. Does not reveal whether the address belongs to an account. */
export function Forgot() {
  const { forgot: text, backToSignIn } = useText();
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
  const text = useText().forgot;
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
