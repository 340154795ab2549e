/** Sign-in methods, second factors and sessions. */
import { Alert, Box, Stack } from '@mantine/core';
import { call, goToExternal } from '../../api/client.ts';
import { isAdmin, type Self, useAction, useApi, useStatus } from '../../api/hooks.ts';
import { sentenceOfCode } from '../../api/refusals.ts';
import { IconExternalLink } from '../../icons.ts';
import { useAddress } from '../../parts/address.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Page, PlainButton, Section } from '../../parts/page.tsx';
import { State, useLanguage } from '../../parts/values.tsx';
import { AccessToken, Sessions } from './access.tsx';
import { Deletion, Email, Password, Profile } from './account.tsx';
import { Factors } from './factors.tsx';
import { Item, notifyDone } from './item.tsx';
import { Notices } from './notices.tsx';
import { ServiceTokens } from './service-tokens.tsx';
import { useText } from './text.ts';

export default function Security() {
  const text = useText();
  const self = useApi('GET /api/user/self');
  return (
    <Page name="security" about={text.about}>
      <LinkResult />
      <Loaded query={self} height={400}>
        {(person) => (
          <>
            <Box className="two-columns">
              <Stack gap="md">
                <Factors />
                <Password self={person} />
                <Links self={person} />
                <AccessToken />
              </Stack>
              <Stack gap="md">
                <Profile key={person.username + person.display_name} self={person} />
                <Email self={person} />
                <Notices key={person.setting} self={person} />
              </Stack>
            </Box>
            <Sessions />
            {isAdmin(person) && <ServiceTokens self={person} />}
            <Deletion self={person} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function LinkResult() {
  const text = useText();
  const language = useLanguage();
  const [{ connected, error }, change] = useAddress({ connected: '', error: '' });
  const status = useStatus();
  if (connected === '' && error === '') return null;
  // Anyone can write a URL, so only configured providers are named.
  const label = status?.oauth_providers.find(({ name }) => name === connected)?.label;
  if (error === '' && label === undefined) return null;
  return (
    <Alert
      color={error === '' ? 'pine' : 'red'}
      role={error === '' ? 'status' : 'alert'}
      withCloseButton
      closeButtonLabel={text.dismiss}
      onClose={() => change({ connected: '', error: '' }, 'replace')}
    >
      {error === '' ? text.connected(label ?? '') : (sentenceOfCode(error, language) ?? text.connectFailed)}
    </Alert>
  );
}

interface Link {
  readonly name: string;
  readonly label: string;
  readonly subject: string | undefined;
  /** True if the provider still accepts sign-ins. */
  readonly isOffered: boolean;
}

/** Linked OAuth accounts; renders nothing without providers and linked accounts. */
function Links({ self }: { readonly self: Self }) {
  const { links: text, words } = useText();
  const status = useStatus();
  const asking = useDialog<Link>();
  const connect = useAction(
    (provider: string) => call('POST /api/oauth/state', { body: { provider, intent: 'bind' } }),
    {
      done: ({ url }) => goToExternal(url),
    },
  );
  const disconnect = useAction(
    (provider: string) => call('DELETE /api/user/unbind/{provider}', { params: { provider } }),
    {
      changes: ['GET /api/user/self', 'GET /api/user/sessions'],
      done() {
        asking.close();
        notifyDone(text.done);
      },
    },
  );
  const links = linksOf(status?.oauth_providers ?? [], self.bindings ?? {});
  if (links.length === 0) return null;
  return (
    <Section title={text.title} about={text.about}>
      <Stack gap="sm">
        {links.map((link) => (
          <Item
            key={link.name}
            name={link.label}
            state={link.isOffered ? undefined : <State tone="warn">{text.gone}</State>}
            actions={
              link.subject === undefined ? (
                <PlainButton
                  rightSection={<IconExternalLink size={14} />}
                  loading={connect.isPending && connect.variables === link.name}
                  onClick={() => connect.mutate(link.name)}
                  aria-label={`${text.connect}: ${link.label}`}
                >
                  {text.connect}
                </PlainButton>
              ) : (
                <PlainButton onClick={() => asking.open(link)} aria-label={`${words.unlink}: ${link.label}`}>
                  {words.unlink}
                </PlainButton>
              )
            }
          >
            {link.subject === undefined ? text.not : text.as(link.subject)}
          </Item>
        ))}
      </Stack>
      <Confirm
        dialog={asking}
        title={text.title2(asking.about?.label ?? '')}
        action={words.unlink}
        doing={disconnect}
        onConfirm={(about) => disconnect.mutate(about.name)}
      >
        {text.about2}
      </Confirm>
    </Section>
  );
}

/** The configured providers, and those with a linked account. */
function linksOf(
  offered: readonly { readonly name: string; readonly label: string }[],
  bindings: Readonly<Record<string, string>>,
): readonly Link[] {
  const others = Object.keys(bindings).filter((name) => !offered.some((each) => each.name === name));
  return [
    ...offered.map(({ name, label }) => ({ name, label, subject: bindings[name], isOffered: true })),
    ...others.map((name) => ({ name, label: name, subject: bindings[name], isOffered: false })),
  ];
}
