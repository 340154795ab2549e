/** The first step of a sign-in: name and password. */
import { Anchor, Button, Group, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { PasswordField } from '../../parts/secret-fields.tsx';
import { useText } from '../../text.ts';
import { useAfterSignIn } from './entered.ts';
import type { PendingSignIn } from './second-step.tsx';
import { TEXT } from './text.ts';

/** `onHalf`: a code is required, too. */
export function PasswordStep({ onHalf }: { onHalf(half: PendingSignIn): void }) {
  const text = useText(TEXT);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const entered = useAfterSignIn();
  const refusal = useFormRefusal('username');
  const first = useRef<HTMLInputElement>(null);
  const secret = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const signIn = useAction(() => call('POST /api/user/login', { body: { username: name.trim(), password } }), {
    done: (answer) => ('require_2fa' in answer ? onHalf(answer) : entered()),
    refused(why) {
      refusal.refused(why);
      // The gateway does not reveal which of the two is wrong; usually it is the password.
      if (why.code === 'wrong_credentials') secret.current?.select();
      return true;
    },
  });
  return (
    <RefusalForm refusal={refusal} onSubmit={() => signIn.mutate()}>
      <TextInput
        ref={first}
        label={text.name}
        autoComplete="username"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        maxLength={254}
        required
        withAsterisk={false}
        {...refusal.field('username', name, setName)}
      />
      <PasswordField
        ref={secret}
        label={text.password}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <Refused by={refusal} />
      <Button type="submit" size="sm" loading={signIn.isPending} fullWidth>
        {text.signIn}
      </Button>
      <Group justify="center">
        <Anchor component={Link} href="/forgot" size="sm">
          {text.forgotLink}
        </Anchor>
      </Group>
    </RefusalForm>
  );
}
