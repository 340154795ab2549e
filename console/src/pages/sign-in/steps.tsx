/** The sign-in: password, passkey or OAuth account, then a code if required. */
import { Alert, Anchor, Box, Divider, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { sentenceOfCode } from '../../api/refusals.ts';
import { useStatus } from '../../api/status.ts';
import { useAddress } from '../../parts/address.ts';
import { Muted } from '../../parts/plain.tsx';
import { Snippet, useLanguage } from '../../parts/values.tsx';
import { useText } from '../../text.ts';
import { Frame } from './frame.tsx';
import { OtherMethods } from './other-ways.tsx';
import { PasswordStep } from './password-step.tsx';
import { type PendingSignIn, SecondStep } from './second-step.tsx';
import { TEXT } from './text.ts';

const HERE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const NEW_PASSWORD = "echo 'a long passphrase' | npm run -s turnpike -- user password root --password-stdin";

/** Renders nothing for all others, because they have no access to its terminal. */
function FirstStart() {
  const text = useText(TEXT).firstStart;
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

/** Both steps. */
export function SignInSteps() {
  const text = useText(TEXT);
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
            {text.registerLink}
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
