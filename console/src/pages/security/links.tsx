/** Linked OAuth accounts. */
import { Stack } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { call } from '../../api/client.ts';
import { goToExternal } from '../../api/external.ts';
import { useAction } from '../../api/hooks.ts';
import { useStatus } from '../../api/status.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { Section } from '../../parts/page.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { State } from '../../parts/values.tsx';
import type { Self } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { Item } from './item.tsx';
import { notifyDone } from './said.ts';
import { TEXT } from './text.ts';

interface Link {
  readonly name: string;
  readonly label: string;
  readonly subject: string | undefined;
  /** True if the provider still accepts sign-ins. */
  readonly isOffered: boolean;
}

/** A section of the page; renders nothing without providers and linked accounts. */
export function Links({ self }: { readonly self: Self }) {
  const { links: text } = useText(TEXT);
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
                <PlainButton onClick={() => asking.open(link)} aria-label={`${text.disconnect}: ${link.label}`}>
                  {text.disconnect}
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
        action={text.disconnect}
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
