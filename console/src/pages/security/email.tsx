/** The email address of the account, verified by a code. */
import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { useStatus } from '../../api/status.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { EmailProof } from '../../parts/email-proof.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { Section } from '../../parts/page.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import type { Self } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { notifyDone } from './said.ts';
import { TEXT } from './text.ts';

/** A section of the page. */
export function Email({ self }: { readonly self: Self }) {
  const { email: text } = useText(TEXT);
  const status = useStatus();
  const [changing, setChanging] = useState(false);
  const none = status?.letters === 'none' ? text.unavailable : text.none;
  return (
    <Section
      title={text.title}
      actions={
        !changing &&
        status?.letters !== 'none' && (
          <PlainButton onClick={() => setChanging(true)}>{self.email === '' ? text.add : text.change}</PlainButton>
        )
      }
    >
      <Stack gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {self.email === '' ? none : `${text.is} `}
          {self.email !== '' && (
            <Text span fw={600}>
              {self.email}
            </Text>
          )}
        </Text>
        {changing && <EmailForm onEnd={() => setChanging(false)} />}
      </Stack>
    </Section>
  );
}

function EmailForm({ onEnd }: { onEnd(): void }) {
  const { email: text } = useText(TEXT);
  const [values, setGiven] = useState({ email: '', code: '' });
  const refusal = useFormRefusal('email', 'code');
  const bind = useAction(
    () => call('POST /api/oauth/email/bind', { body: { email: values.email.trim(), code: values.code.trim() } }),
    {
      changes: ['GET /api/user/self'],
      done() {
        notifyDone(text.done);
        onEnd();
      },
      refused: refusal.refused,
    },
  );
  return (
    <DialogForm
      refusal={refusal}
      action={text.go}
      running={bind}
      onSubmit={() => (values.code.trim() === '' ? refusal.say('', text.askFirst) : bind.mutate())}
      onClose={onEnd}
    >
      <EmailProof
        {...values}
        onChange={(change) => setGiven((before) => ({ ...before, ...change }))}
        errors={{ email: refusal.at('email'), code: refusal.at('code') }}
      />
    </DialogForm>
  );
}
