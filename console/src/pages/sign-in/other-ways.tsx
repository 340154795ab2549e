/** Other sign-in methods: passkey and OAuth accounts. */
import { Anchor, Stack } from '@mantine/core';
import { call, goToExternal } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { showPasskey, usePasskeyState } from '../../api/passkeys.ts';
import { IconExternalLink, IconFingerprint } from '../../icons.ts';
import { Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Muted, PlainButton } from '../../parts/page.tsx';
import { useAfterSignIn } from './frame.tsx';
import { useText } from './text.ts';

/** OAuth providers, from the status. */
type ProviderList = readonly { readonly name: string; readonly label: string }[];

/** All of them. */
export function OtherMethods({ providers }: { readonly providers: ProviderList }) {
  return (
    <Stack gap="xs">
      <PasskeyMethod />
      <Providers providers={providers} />
    </Stack>
  );
}

/** A button for each provider. `invitation`: the code of the invitation that a new account accepts. */
export function Providers({
  providers,
  invitation,
}: {
  readonly providers: ProviderList;
  readonly invitation?: string;
}) {
  const text = useText();
  const refusal = useFormRefusal();
  const begin = useAction(
    (provider: string) => {
      const code = invitation === undefined ? {} : { invite_code: invitation };
      return call('POST /api/oauth/state', { body: { provider, intent: 'login', ...code } });
    },
    { done: ({ url }) => goToExternal(url), refused: refusal.refused },
  );
  return (
    <Stack gap="xs">
      {providers.map(({ name, label }) => (
        <PlainButton
          key={name}
          size="sm"
          fullWidth
          rightSection={<IconExternalLink size={14} />}
          loading={begin.isPending && begin.variables === name}
          onClick={() => {
            refusal.clear();
            begin.mutate(name);
          }}
        >
          {text.withProvider(label)}
        </PlainButton>
      ))}
      <Refused by={refusal} />
    </Stack>
  );
}

function PasskeyMethod() {
  const text = useText();
  const refusal = useFormRefusal();
  const entered = useAfterSignIn();
  const passkey = usePasskeyState();
  const signIn = useAction(
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
          <PlainButton
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
          </PlainButton>
          <Refused by={refusal} />
        </>
      );
    case 'insecure':
      return <Muted>{text.passkeyInsecure}</Muted>;
    case 'other-origin':
      return (
        <Muted>
          {text.passkeyElsewhere} <Anchor href={passkey.home}>{passkey.home}</Anchor>
        </Muted>
      );
    default:
      return null;
  }
}
