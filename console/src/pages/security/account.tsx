/** Sections of the account: names, password, verified email address, deletion. */
import { Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { isRoot, type Self, useAction, useStatus } from '../../api/hooks.ts';
import { EmailProof } from '../../parts/email-proof.tsx';
import { DialogForm, RefusalForm, Refused, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Muted, PlainButton, Section } from '../../parts/page.tsx';
import { PasswordField } from '../../parts/secret-fields.tsx';
import { notifyDone } from './item.tsx';
import { useText } from './text.ts';

/** The email address, verified by a code. */
export function Email({ self }: { readonly self: Self }) {
  const { email: text, words } = useText();
  const status = useStatus();
  const [changing, setChanging] = useState(false);
  const none = status?.letters === 'none' ? text.unavailable : text.none;
  return (
    <Section
      title={words.emailAddress}
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
  const { email: text } = useText();
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

/** The names. */
export function Profile({ self }: { readonly self: Self }) {
  const { profile: text, saved, words } = useText();
  const [username, setUsername] = useState(self.username);
  const [displayName, setDisplayName] = useState(self.display_name);
  const refusal = useFormRefusal('username', 'display_name');
  const change = useAction(
    () => call('PUT /api/user/self', { body: { username: username.trim(), display_name: displayName.trim() } }),
    { changes: ['GET /api/user/self'], done: () => notifyDone(saved), refused: refusal.refused },
  );
  const isSame = username.trim() === self.username && displayName.trim() === self.display_name;
  return (
    <Section title={words.profile}>
      <RefusalForm refusal={refusal} onSubmit={() => change.mutate()}>
        <TextInput
          label={words.username}
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
          label={words.displayName}
          description={text.displayAbout}
          autoComplete="name"
          maxLength={200}
          {...refusal.field('display_name', displayName, setDisplayName)}
        />
        <Muted>{text.language}</Muted>
        <Refused by={refusal} />
        <Group justify="flex-end">
          <PlainButton type="submit" disabled={isSame} loading={change.isPending}>
            {words.save}
          </PlainButton>
        </Group>
      </RefusalForm>
    </Section>
  );
}

/** Changes or sets the password. */
export function Password({ self }: { readonly self: Self }) {
  const { password: text, words } = useText();
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
    <Section title={words.password}>
      <RefusalForm refusal={refusal} onSubmit={() => change.mutate()}>
        {/* Password managers store the new password under this username. */}
        <input type="text" name="username" autoComplete="username" value={self.username} readOnly hidden />
        {hasOne ? (
          <PasswordField label={text.current} {...refusal.field('original_password', current, setCurrent)} />
        ) : (
          <Text size="sm">{text.none}</Text>
        )}
        <PasswordField isNew label={words.newPassword} {...refusal.field('password', newPassword, setFresh)} />
        <Refused by={refusal} />
        <Group justify="flex-end">
          <PlainButton type="submit" loading={change.isPending}>
            {hasOne ? text.go : words.setPassword}
          </PlainButton>
        </Group>
      </RefusalForm>
    </Section>
  );
}

/** Deletes the account. */
export function Deletion({ self }: { readonly self: Self }) {
  const { deletion: text, words } = useText();
  const [opened, setOpened] = useState(false);
  const close = (): void => setOpened(false);
  return (
    <Section title={words.deleteAccount}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" flex="1 1 16rem">
          {isRoot(self) ? text.root : text.about}
        </Text>
        {!isRoot(self) && <PlainButton onClick={() => setOpened(true)}>{text.go}</PlainButton>}
      </Group>
      <Modal opened={opened} onClose={close} title={text.dialog}>
        <DeletionForm name={self.username} onClose={close} />
      </Modal>
    </Section>
  );
}

function DeletionForm({ name, onClose }: { readonly name: string; onClose(): void }) {
  const { deletion: text } = useText();
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const refusal = useFormRefusal();
  const remove = useAction(() => call('DELETE /api/user/self'), {
    done: () => void queries.resetQueries(),
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={text.go} danger running={remove} ready={typed === name} onClose={onClose}>
      <Text size="sm">
        {text.about} {text.never}
      </Text>
      <TextInput
        label={text.type(name)}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
      />
    </DialogForm>
  );
}
