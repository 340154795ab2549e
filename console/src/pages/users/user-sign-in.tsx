/** The sign-in methods of a user, and resets for users who have lost one. */
import { Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction, useSelf, useStatus } from '../../api/hooks.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { GuardedButton, Section } from '../../parts/page.tsx';
import { PasswordField } from '../../parts/secret-fields.tsx';
import { State } from '../../parts/values.tsx';
import { changeForbidden, USER_CHANGES, type User } from './rights.ts';
import { useText } from './text.ts';

interface Question {
  readonly title: string;
  readonly about: string;
  readonly action: string;
  work(): Promise<unknown>;
}

/** A section of the drawer. */
export function UserSignIn({ user }: { readonly user: User }) {
  const text = useText();
  const why = changeForbidden(useSelf(), user, text);
  const status = useStatus();
  const asking = useDialog<Question>();
  const [hasPasswordDialog, setPasswordDialog] = useState(false);
  const params = { id: user.id };
  const answer = useAction(({ work }: Question) => work(), { changes: USER_CHANGES, done: asking.close });

  const reset = (title: string, about: string, work: () => Promise<unknown>) => (
    <GuardedButton why={why} onClick={() => asking.open({ title, about, action: text.reset, work })}>
      {title}
    </GuardedButton>
  );
  const unbind = (type: string, label: string, about: string) => (
    <GuardedButton
      why={why}
      onClick={() =>
        asking.open({
          title: text.unbindTitle(label),
          about,
          action: text.words.unlink,
          work: () => call('DELETE /api/user/{id}/bindings/{type}', { params: { ...params, type } }),
        })
      }
    >
      {text.words.unlink}
      <span className="aloud"> {label}</span>
    </GuardedButton>
  );
  return (
    <Section title={text.signIn}>
      <Stack gap="xs">
        <Method
          name={text.words.password}
          isOn={user.has_password}
          word={user.has_password ? text.hasPassword : text.noPassword}
          action={
            <GuardedButton why={why} onClick={() => setPasswordDialog(true)}>
              {text.setPassword}
            </GuardedButton>
          }
        />
        <Method
          name={text.words.authenticatorApp}
          isOn={user.two_factor}
          word={user.two_factor ? text.on : text.off}
          action={
            user.two_factor &&
            reset(text.resetTwoFactor, text.resetTwoFactorAbout, () => call('DELETE /api/user/{id}/2fa', { params }))
          }
        />
        <Method
          name={text.words.passkey}
          isOn={user.passkey}
          word={user.passkey ? text.on : text.off}
          action={
            user.passkey &&
            reset(text.resetPasskey, text.resetPasskeyAbout, () =>
              call('DELETE /api/user/{id}/reset_passkey', { params }),
            )
          }
        />
        {user.email !== '' && (
          <Method
            name={`${text.words.emailAddress}: ${user.email}`}
            isOn
            word={text.bound}
            action={unbind('email', text.words.emailAddress, text.unbindEmailAbout)}
          />
        )}
        {user.bindings.map((provider) => {
          const label = status?.oauth_providers.find(({ name }) => name === provider)?.label ?? provider;
          return (
            <Method
              key={provider}
              name={label}
              isOn
              word={text.bound}
              action={unbind(provider, label, text.unbindAbout)}
            />
          );
        })}
      </Stack>
      <Confirm
        dialog={asking}
        title={asking.about?.title ?? ''}
        action={asking.about?.action ?? ''}
        doing={answer}
        onConfirm={answer.mutate}
      >
        {asking.about?.about}
      </Confirm>
      <Modal
        opened={hasPasswordDialog}
        onClose={() => setPasswordDialog(false)}
        title={text.setPasswordTitle(user.username)}
      >
        <PasswordForm user={user} onClose={() => setPasswordDialog(false)} />
      </Modal>
    </Section>
  );
}

function Method({
  name,
  isOn,
  word,
  action,
}: {
  readonly name: string;
  readonly isOn: boolean;
  readonly word: string;
  readonly action: ReactNode;
}) {
  return (
    <Group justify="space-between" gap="xs" mih={30}>
      <Group gap="xs" miw={0}>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <State tone={isOn ? 'good' : 'idle'}>{word}</State>
      </Group>
      {action}
    </Group>
  );
}

function PasswordForm({ user: { id }, onClose }: { readonly user: User; onClose(): void }) {
  const text = useText();
  const [password, setPassword] = useState('');
  const refusal = useFormRefusal('password');
  const set = useAction(() => call('PUT /api/user/', { body: { id, password } }), {
    changes: USER_CHANGES,
    done: onClose,
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={text.words.save} running={set} ready={password !== ''} onClose={onClose}>
      <Text size="sm">{text.setPasswordAbout}</Text>
      <PasswordField
        isNew
        label={text.words.newPassword}
        {...refusal.field('password', password, setPassword)}
        data-autofocus
      />
    </DialogForm>
  );
}
