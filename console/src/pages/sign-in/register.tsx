/** Registration, with an invitation or a verified email address if the gateway requires it. */
import { Anchor, Button, Group, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { call } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Status } from '../../api/operations.ts';
import { EmailProof } from '../../parts/email-proof.tsx';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { PasswordField } from '../../parts/secret-fields.tsx';
import { Frame, useAfterSignIn } from './frame.tsx';
import { useText } from './text.ts';

/** The page. */
export function Register() {
  const text = useText();
  const status = useApi('GET /api/status', undefined, { staleTime: Number.POSITIVE_INFINITY });
  return (
    <Frame
      title={text.words.createAccount}
      below={
        <Group gap={4} justify="center">
          <Text size="sm">{text.haveAccount}</Text>
          <Anchor component={Link} href="/login" size="sm">
            {text.backToSignIn}
          </Anchor>
        </Group>
      }
    >
      <Loaded query={status}>
        {(data) =>
          data.register_enabled ? (
            <RegisterForm status={data} />
          ) : (
            <Empty title={text.register.closed}>{text.register.closedAbout}</Empty>
          )
        }
      </Loaded>
    </Frame>
  );
}

function RegisterForm({ status }: { readonly status: Status }) {
  const text = useText();
  const [search] = useSearchParams();
  const [, go] = useLocation();
  const [form, setForm] = useState({
    username: '',
    password: '',
    invite: search.get('invite') ?? '',
    email: '',
    code: '',
  });
  const change = (part: Partial<typeof form>): void => setForm((before) => ({ ...before, ...part }));
  const { username, password, invite, email, code } = form;
  const { invitation_required: invited, email_verification: proven } = status;
  const refusal = useFormRefusal('username', 'password', 'email', 'verification_code', 'invite_code');
  const entered = useAfterSignIn();
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);

  const enter = useAction(() => call('POST /api/user/login', { body: { username, password } }), {
    done: entered,
    // The account was created nevertheless.
    refused: () => {
      go('/login?done=registered', { replace: true });
      return true;
    },
  });
  const register = useAction(
    () =>
      call('POST /api/user/register', {
        body: {
          username,
          password,
          ...(invited && { invite_code: invite.trim() }),
          ...(proven && { email: email.trim(), verification_code: code.trim() }),
        },
      }),
    { done: () => enter.mutate(), refused: refusal.refused },
  );
  return (
    <RefusalForm refusal={refusal} onSubmit={() => register.mutate()}>
      {invited && (
        <TextInput
          ref={invite === '' ? first : undefined}
          label={text.register.invitation}
          description={text.register.invitationAbout}
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          required
          withAsterisk={false}
          value={invite}
          onChange={(event) => change({ invite: event.currentTarget.value })}
          error={refusal.at('invite_code')}
        />
      )}
      <TextInput
        ref={invited && invite === '' ? undefined : first}
        label={text.register.username}
        description={text.register.usernameAbout}
        autoComplete="username"
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        maxLength={200}
        required
        withAsterisk={false}
        value={username}
        onChange={(event) => change({ username: event.currentTarget.value })}
        error={refusal.at('username')}
      />
      <PasswordField
        isNew
        label={text.words.password}
        value={password}
        onChange={(event) => change({ password: event.currentTarget.value })}
        error={refusal.at('password')}
      />
      {proven && (
        <EmailProof
          about={text.register.emailAbout}
          email={email}
          code={code}
          onChange={change}
          errors={{ email: refusal.at('email'), code: refusal.at('verification_code') }}
        />
      )}
      <Refused by={refusal} />
      <Button type="submit" size="sm" loading={register.isPending || enter.isPending} fullWidth>
        {text.register.go}
      </Button>
    </RefusalForm>
  );
}
