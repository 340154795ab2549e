/** The names of the account. */
import { Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Section } from '../../parts/page.tsx';
import { Muted, PlainButton } from '../../parts/plain.tsx';
import type { Self } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { notifyDone } from './said.ts';
import { TEXT } from './text.ts';

/** A section of the page. */
export function Profile({ self }: { readonly self: Self }) {
  const { profile: text, save, saved } = useText(TEXT);
  const [username, setUsername] = useState(self.username);
  const [displayName, setDisplayName] = useState(self.display_name);
  const refusal = useFormRefusal('username', 'display_name');
  const change = useAction(
    () => call('PUT /api/user/self', { body: { username: username.trim(), display_name: displayName.trim() } }),
    { changes: ['GET /api/user/self'], done: () => notifyDone(saved), refused: refusal.refused },
  );
  const isSame = username.trim() === self.username && displayName.trim() === self.display_name;
  return (
    <Section title={text.title}>
      <RefusalForm refusal={refusal} onSubmit={() => change.mutate()}>
        <TextInput
          label={text.username}
          description={text.usernameAbout}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={200}
          required
          withAsterisk={false}
          {...refusal.field('username', username, setUsername)}
        />
        <TextInput
          label={text.displayName}
          description={text.displayAbout}
          autoComplete="name"
          maxLength={200}
          {...refusal.field('display_name', displayName, setDisplayName)}
        />
        <Muted>{text.language}</Muted>
        <Refused by={refusal} />
        <Group justify="flex-end">
          <PlainButton type="submit" disabled={isSame} loading={change.isPending}>
            {save}
          </PlainButton>
        </Group>
      </RefusalForm>
    </Section>
  );
}
