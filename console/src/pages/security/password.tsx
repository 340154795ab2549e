/** Changes or sets the password. */
import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Section } from '../../parts/page.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { PasswordField } from '../../parts/secret-fields.tsx';
import type { Self } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { notifyDone } from './said.ts';
import { TEXT } from './text.ts';

/** A section of the page. */
export function Password({ self }: { readonly self: Self }) {
  const { password: text } = useText(TEXT);
  const [current, setCurrent] = useState('');
  const [newPassword, setFresh] = useState('');
  const refusal = useFormRefusal('original_password', 'password');
  const hasOne = self.has_password !== false;
  const change = useAction(
    () =>
      call('PUT /api/user/self', { body: { password: newPassword, ...(hasOne && { original_password: current }) } }),
    {
      changes: ['GET /api/user/self', 'GET /api/user/sessions', 'GET /api/user/token/status'],
      done() {
        setCurrent('');
        setFresh('');
        notifyDone(text.done);
      },
      refused: refusal.refused,
    },
  );
  return (
    <Section title={text.title}>
      <RefusalForm refusal={refusal} onSubmit={() => change.mutate()}>
        {/* Password managers store the new password under this username. */}
        <input type="text" name="username" autoComplete="username" value={self.username} readOnly hidden />
        {hasOne ? (
          <PasswordField label={text.current} {...refusal.field('original_password', current, setCurrent)} />
        ) : (
          <Text size="sm">{text.none}</Text>
        )}
        <PasswordField isNew label={text.fresh} {...refusal.field('password', newPassword, setFresh)} />
        <Refused by={refusal} />
        <Group justify="flex-end">
          <PlainButton type="submit" loading={change.isPending}>
            {hasOne ? text.go : text.set}
          </PlainButton>
        </Group>
      </RefusalForm>
    </Section>
  );
}
