/** The sign-in, shown at any address so that the user continues there: password, passkey or OAuth account, then a code if required. */
import { Alert, Anchor, Box, Button, Divider, Group, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { call } from '../../api/client.ts';
import { useAction, useStatus } from '../../api/hooks.ts';
import type { SecondStepRequired } from '../../api/operations.ts';
import { sentenceOf, sentenceOfCode } from '../../api/refusals.ts';
import { useAddress } from '../../parts/address.ts';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Muted, PlainButton, Small } from '../../parts/page.tsx';
import { CodeField, PasswordField } from '../../parts/secret-fields.tsx';
import { Snippet, useLanguage } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { storeRequestedPage } from './addresses.ts';
import { Frame, useAfterSignIn } from './frame.tsx';
import { OtherMethods } from './other-ways.tsx';
import { Register } from './register.tsx';
import { Forgot, Reset } from './reset.tsx';
import { useText } from './text.ts';

export default function SignIn() {
  const [path] = useLocation();
  const search = useSearch();
  useEffect(() => storeRequestedPage(path, search), [path, search]);
  switch (path) {
    case '/register':
      return <Register />;
    case '/forgot':
      return <Forgot />;
    case '/reset':
      return <Reset />;
    default:
      return <SignInSteps />;
  }
}

const HERE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const NEW_PASSWORD = "echo 'a long passphrase' | npm run -s turnpike -- user password root --password-stdin";

/** Renders nothing for all others, because they have no access to its terminal. */
function FirstStart() {
  const text = useText().firstStart;
  if (!HERE.test(location.hostname)) return null;
  return (
    <Box component="details" className="first-start">
      <Text component="summary" size="sm" c="dimmed">
        {text.title}
      </Text>
      <Muted my="xs">{text.about}</Muted>
      <Snippet code={NEW_PASSWORD} label={text.title} />
    </Box>
  );
}

function SignInSteps() {
  const text = useText();
  const language = useLanguage();
  // `step` and `error` come from an OAuth redirect; `done` comes from another sign-in page.
  const [address, change] = useAddress({ step: '', error: '', done: '' });
  const [half, setHalf] = useState<PendingSignIn>();
  const [over, setOver] = useState<string>();
  const status = useStatus();

  const home = httpsHome(status?.server_address ?? '');

  const restart = (why?: string): void => {
    setHalf(undefined);
    setOver(why);
    change({ step: '', error: '', done: '' }, 'replace');
  };
  if (half !== undefined || address.step === '2fa') return <SecondStep half={half} onRestart={restart} />;

  const problem = over ?? (address.error === '' ? undefined : (sentenceOfCode(address.error, language) ?? text.failed));
  const good =
    address.done === 'registered' ? text.done.registered : address.done === 'reset' ? text.done.reset : undefined;
  return (
    <Frame title={text.signIn} below={<FirstStart />}>
      {home !== undefined && (
        <Alert color="orange" p="xs">
          {text.onlyHttps} <Anchor href={home}>{home}</Anchor>
        </Alert>
      )}
      {problem !== undefined && (
        <Alert color="red" p="xs">
          {problem}
        </Alert>
      )}
      {good !== undefined && (
        <Alert color="pine" p="xs" role="status">
          {good}
        </Alert>
      )}
      <PasswordStep
        onHalf={(answer) => {
          setOver(undefined);
          setHalf(answer);
        }}
      />
      {status !== undefined && (status.passkey_login || status.oauth_providers.length > 0) && (
        <Stack gap="xs">
          <Divider label={text.or} />
          <OtherMethods providers={status.oauth_providers} />
        </Stack>
      )}
      {status?.register_enabled === true && (
        <Group gap={4} justify="center">
          <Text size="sm">{text.newHere}</Text>
          <Anchor component={Link} href="/register" size="sm">
            {text.words.createAccount}
          </Anchor>
        </Group>
      )}
    </Frame>
  );
}

/** The https address, if the gateway requires https and this page uses http, which its cookies would not reach; otherwise undefined. */
function httpsHome(address: string): string | undefined {
  return address.startsWith('https:') && location.protocol === 'http:' ? `${address}/console/` : undefined;
}

/** `onHalf`: a code is required, too. */
function PasswordStep({ onHalf }: { onHalf(half: PendingSignIn): void }) {
  const text = useText();
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
        label={text.words.password}
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

/** The answer of the first step. */
type PendingSignIn = SecondStepRequired;

/** `half` undefined: the first step was an OAuth sign-in, and a cookie identifies it. */
function SecondStep({ half, onRestart }: { readonly half: PendingSignIn | undefined; onRestart(why?: string): void }) {
  const { second: text, words } = useText();
  const language = useLanguage();
  const format = useFormat();
  const entered = useAfterSignIn();
  const [code, setCode] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const refusal = useFormRefusal('code');
  const body = half === undefined ? { code } : { code, flow_token: half.flow_token };
  const finish = useAction(() => call('POST /api/user/login/2fa', { body }), {
    done: entered,
    refused(why) {
      if (why.code === 'sign_in_expired') onRestart(sentenceOf(why, language));
      else refusal.refused(why);
      return true;
    },
  });
  return (
    <Frame title={text.title} about={half === undefined ? text.aboutElsewhere : text.about}>
      <RefusalForm refusal={refusal} onSubmit={() => finish.mutate()}>
        <CodeField ref={field} backup {...refusal.field('code', code, setCode)} />
        <Refused by={refusal} />
        <Button type="submit" size="sm" loading={finish.isPending} fullWidth>
          {words.continue}
        </Button>
        <PlainButton size="sm" fullWidth onClick={() => onRestart()}>
          {text.restart}
        </PlainButton>
        {half !== undefined && <Small ta="center">{text.until(format.time(half.expires_at))}</Small>}
      </RefusalForm>
    </Frame>
  );
}
