/** Registration, with an invitation or a verified email address if the gateway requires it. */
import { Alert, Anchor, Button, Divider, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { call, type Data } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Status } from '../../api/operations.ts';
import { EmailProof } from '../../parts/email-proof.tsx';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Empty, Loaded } from '../../parts/notes.tsx';
import { Muted, Small } from '../../parts/page.tsx';
import { PasswordField } from '../../parts/secret-fields.tsx';
import { useFormat } from '../../shell/format.ts';
import { Frame, useAfterSignIn } from './frame.tsx';
import { Providers } from './other-ways.tsx';
import { useText } from './text.ts';

/** An open invitation for the user with an address. */
type Invitation = Data<'GET /api/invitation'>;

/** The page. An invitation with an address is accepted even if registration is closed. */
export function Register() {
  const text = useText();
  const [search] = useSearchParams();
  const code = search.get('invite') ?? '';
  const status = useApi('GET /api/status', undefined, { staleTime: Number.POSITIVE_INFINITY });
  const invitation = useApi(
    'GET /api/invitation',
    { search: { code } },
    { enabled: code !== '', retry: false, staleTime: Number.POSITIVE_INFINITY },
  );
  const personal = invitation.data !== undefined && invitation.data.email !== '' ? invitation.data : undefined;
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
        {(data) => {
          if (invitation.isLoading) return <Skeleton height={120} />;
          if (personal !== undefined) return <InvitedForm status={data} invitation={personal} code={code} />;
          if (data.register_enabled) return <RegisterForm status={data} isInvalid={invitation.isError} />;
          return invitation.isError ? (
            <Empty title={text.register.invalid}>{text.register.invalidAbout}</Empty>
          ) : (
            <Empty title={text.register.closed}>{text.register.closedAbout}</Empty>
          );
        }}
      </Loaded>
    </Frame>
  );
}

/** The form of an invited user, who may use an OAuth account with the invited address instead of a password. */
function InvitedForm({
  status,
  invitation,
  code,
}: {
  readonly status: Status;
  readonly invitation: Invitation;
  readonly code: string;
}) {
  const text = useText();
  const format = useFormat();
  const { email, role, invited_by: by, expires_at: expires } = invitation;
  return (
    <>
      <Text size="sm">{role === 10 ? text.register.invitedAdmin(by, email) : text.register.invited(by, email)}</Text>
      <RegisterForm status={status} invitation={invitation} />
      {status.oauth_providers.length > 0 && (
        <Stack gap="xs">
          <Divider label={text.or} />
          <Providers providers={status.oauth_providers} invitation={code} />
          <Muted>{text.register.sameAddress(email)}</Muted>
        </Stack>
      )}
      <Small ta="center">{text.second.until(format.moment(expires))}</Small>
    </>
  );
}

function RegisterForm({
  status,
  invitation,
  isInvalid = false,
}: {
  readonly status: Status;
  /** Its account gets the address of the invitation. */
  readonly invitation?: Invitation;
  /** The link has an invitation that is not valid any more. */
  readonly isInvalid?: boolean;
}) {
  const text = useText();
  const [search] = useSearchParams();
  const [, go] = useLocation();
  const [form, setForm] = useState({
    username: invitation === undefined ? '' : nameIn(invitation.email),
    password: '',
    invite: search.get('invite') ?? '',
    email: '',
    code: '',
  });
  const change = (part: Partial<typeof form>): void => setForm((before) => ({ ...before, ...part }));
  const { username, password, invite, email, code } = form;
  const isPersonal = invitation !== undefined;
  const invited = status.invitation_required && !isPersonal;
  const proven = status.email_verification && !isPersonal;
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
          ...((invited || isPersonal) && { invite_code: invite.trim() }),
          ...(proven && { email: email.trim(), verification_code: code.trim() }),
        },
      }),
    { done: () => enter.mutate(), refused: refusal.refused },
  );
  return (
    <RefusalForm refusal={refusal} onSubmit={() => register.mutate()}>
      {isInvalid && <Alert color="orange">{text.register.invalidAbout}</Alert>}
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

/** A name to start with: the part of an address before its `@`. */
function nameIn(email: string): string {
  return email.slice(0, email.lastIndexOf('@'));
}
