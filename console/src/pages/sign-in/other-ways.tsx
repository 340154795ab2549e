/** Ways to sign in beside a password: a passkey, and accounts elsewhere. */
import { Anchor, Button, Stack, Text } from '@mantine/core';
import { IconExternalLink, IconFingerprint } from '@tabler/icons-react';
import { call } from '../../api/client.ts';
import { leadElsewhere } from '../../api/elsewhere.ts';
import { useDoing } from '../../api/hooks.ts';
import { showPasskey, usePasskeyState } from '../../api/passkeys.ts';
import { Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { useText } from '../../text.ts';
import { useEntered } from './entered.ts';
import { TEXT } from './text.ts';

/** `providers`: of the status. */
export function OtherWays({
  providers,
}: {
  readonly providers: readonly { readonly name: string; readonly label: string }[];
}) {
  const text = useText(TEXT);
  const refusal = useFormRefusal();
  const elsewhere = useDoing(
    (provider: string) => call('POST /api/oauth/state', { body: { provider, intent: 'login' } }),
    { done: ({ url }) => leadElsewhere(url), refused: refusal.refused },
  );
  return (
    <Stack gap="xs">
      <PasskeyWay />
      {providers.map(({ name, label }) => (
        <Button
          key={name}
          variant="default"
          size="sm"
          fullWidth
          rightSection={<IconExternalLink size={14} />}
          loading={elsewhere.isPending && elsewhere.variables === name}
          onClick={() => {
            refusal.clear();
            elsewhere.mutate(name);
          }}
        >
          {text.withProvider(label)}
        </Button>
      ))}
      <Refused by={refusal} />
    </Stack>
  );
}

function PasskeyWay() {
  const text = useText(TEXT);
  const refusal = useFormRefusal();
  const entered = useEntered();
  const passkey = usePasskeyState();
  const signIn = useDoing(
    async () => {
      const body = await showPasskey(await call('POST /api/user/passkey/login/begin'));
      return call('POST /api/user/passkey/login/finish', { body });
    },
    { done: entered, refused: refusal.refused },
  );
  switch (passkey?.state) {
    case 'ready':
      return (
        <>
          <Button
            variant="default"
            size="sm"
            fullWidth
            leftSection={<IconFingerprint size={16} />}
            loading={signIn.isPending}
            onClick={() => {
              refusal.clear();
              signIn.mutate();
            }}
          >
            {text.withPasskey}
          </Button>
          <Refused by={refusal} />
        </>
      );
    case 'insecure':
      return (
        <Text size="sm" c="dimmed">
          {text.passkeyInsecure}
        </Text>
      );
    case 'elsewhere':
      return (
        <Text size="sm" c="dimmed">
          {text.passkeyElsewhere} <Anchor href={passkey.home}>{passkey.home}</Anchor>
        </Text>
      );
    default:
      return null;
  }
}
