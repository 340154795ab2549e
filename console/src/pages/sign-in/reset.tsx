/** The target of the link in a password reset email: sets a new password. */
import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Empty } from '../../parts/notes.tsx';
import { LinkButton } from '../../parts/plain.tsx';
import { PasswordField } from '../../parts/secret-fields.tsx';
import { useText } from '../../text.ts';
import { Frame } from './frame.tsx';
import { TEXT } from './text.ts';

/** The page. */
export function Reset() {
  const text = useText(TEXT).reset;
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
  const text = useText(TEXT).reset;
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
      <PasswordField isNew ref={first} label={text.password} {...refusal.field('password', password, setPassword)} />
      <Refused by={refusal} />
      {dead ? (
        another
      ) : (
        <Button type="submit" size="sm" loading={reset.isPending} fullWidth>
          {text.go}
        </Button>
      )}
    </RefusalForm>
  );
}
