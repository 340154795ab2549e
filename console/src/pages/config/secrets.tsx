/** The secrets of the store that gateway.yaml names as `${secret:NAME}`: set, rotate, delete. Their values are never shown. */
import { Code, Group, Modal, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import type { ConfigSecret } from '../../api/operations.ts';
import { IconPlus, IconRefresh, IconTrash } from '../../icons.ts';
import { Confirm, useDialog } from '../../parts/confirm.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { DialogForm, useFormRefusal } from '../../parts/form-refusal.tsx';
import { Empty } from '../../parts/notes.tsx';
import { GuardedButton, IconButton, Section, Small } from '../../parts/page.tsx';
import { CopyIcon, When } from '../../parts/values.tsx';
import type { Editor } from './editor.ts';
import { SecretInput } from './key-fields.tsx';
import { referencesOf } from './settings.ts';
import { useText } from './settings-text.ts';

const SECRET_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** The list. */
export function Secrets({ editor }: { readonly editor: Editor }) {
  const text = useText();
  const setting = useDialog<{ readonly name: string }>();
  const deleting = useDialog<ConfigSecret>();
  const { secrets, environment } = editor.config;
  const remove = useAction(
    ({ name }: ConfigSecret) => call('DELETE /api/config/secrets/{name}', { params: { name } }),
    {
      changes: ['GET /api/config'],
      done(_, { name }) {
        deleting.close();
        notifications.show({ message: text.secretDeleted(name) });
      },
    },
  );
  // A secret that only the unsaved text uses must not be deleted either.
  const inCopy = new Set(referencesOf(editor.copy.text));
  const columns: readonly Column<ConfigSecret>[] = [
    {
      key: 'name',
      title: text.words.name,
      cell: ({ name }) => (
        <Group gap={4} wrap="nowrap" component="span">
          <Code>{name}</Code>
          <CopyIcon value={referenceOf(name)} what={referenceOf(name)} />
        </Group>
      ),
    },
    {
      key: 'set',
      title: text.secretSet,
      cell: ({ set_at, set_by }) => (
        <>
          <When at={set_at} /> <Small span>{set_by}</Small>
        </>
      ),
    },
    {
      key: 'used',
      title: text.usedIn,
      from: 'sm',
      cell: ({ used_in }) =>
        used_in.length === 0 ? (
          <Small span>{text.unused}</Small>
        ) : (
          used_in.map((path) => <Code key={path}>{path}</Code>)
        ),
    },
    {
      key: 'actions',
      title: text.words.actions,
      quiet: true,
      align: 'right',
      cell: (secret) => (
        <Group gap={4} wrap="nowrap" justify="flex-end">
          {editor.why === undefined && (
            <IconButton label={text.rotateOf(secret.name)} onClick={() => setting.open({ name: secret.name })}>
              <IconRefresh size={16} />
            </IconButton>
          )}
          {editor.why === undefined && secret.used_in.length === 0 && !inCopy.has(`secret:${secret.name}`) && (
            <IconButton label={text.deleteOf(secret.name)} onClick={() => deleting.open(secret)}>
              <IconTrash size={16} />
            </IconButton>
          )}
        </Group>
      ),
    },
  ];
  return (
    <Section
      flush
      title={text.secrets}
      about={text.secretsAbout}
      actions={
        <GuardedButton why={editor.why} leftSection={<IconPlus size={16} />} onClick={() => setting.open({ name: '' })}>
          {text.addSecret}
        </GuardedButton>
      }
    >
      <DataTable
        caption={text.secrets}
        columns={columns}
        rows={secrets}
        rowKey={({ name }) => name}
        empty={
          <Empty title={text.noSecrets}>
            {text.noSecretsAbout} {environment.length > 0 && text.fromEnvironment(environment.join(', '))}
          </Empty>
        }
      />
      <Modal
        opened={setting.opened}
        onClose={setting.close}
        title={setting.about?.name ? text.rotateOf(setting.about.name) : text.addSecret}
      >
        {setting.opened && (
          <SecretForm
            name={setting.about?.name ?? ''}
            taken={secrets.map(({ name }) => name)}
            onClose={setting.close}
          />
        )}
      </Modal>
      <Confirm
        dialog={deleting}
        title={text.deleteSecretTitle(deleting.about?.name ?? '')}
        action={text.words.delete}
        doing={remove}
        onConfirm={(secret) => remove.mutate(secret)}
      >
        {text.deleteSecretAbout}
      </Confirm>
    </Section>
  );
}

function referenceOf(name: string): string {
  return `\${secret:${name}}`;
}

/** `name`: of the secret that gets a new value; empty: a new secret. */
function SecretForm({
  name: given,
  taken,
  onClose,
}: {
  readonly name: string;
  readonly taken: readonly string[];
  onClose(): void;
}) {
  const text = useText();
  const [name, setName] = useState(given);
  const [value, setValue] = useState('');
  const refusal = useFormRefusal('name', 'value');
  const saving = useAction(() => call('PUT /api/config/secrets/{name}', { params: { name }, body: { value } }), {
    changes: ['GET /api/config', 'GET /api/vendor/'],
    done({ problems: [problem] }) {
      notifications.show(
        problem === undefined
          ? { color: 'pine', message: text.secretStored(name) }
          : { color: 'red', role: 'alert', message: `${text.secretNotLoaded(name)} ${problem.message}` },
      );
      onClose();
    },
    refused: refusal.refused,
  });
  const wrong = !SECRET_NAME.test(name) ? text.secretNameWrong : taken.includes(name) ? text.nameTaken : undefined;
  return (
    <DialogForm
      refusal={refusal}
      action={text.storeSecret}
      ready={value !== ''}
      autoComplete="off"
      running={saving}
      onSubmit={() => {
        if (given === '' && wrong !== undefined) refusal.say('name', wrong);
        else saving.mutate();
      }}
      onClose={onClose}
    >
      {given === '' && (
        <TextInput
          label={text.words.name}
          description={text.secretNameAbout}
          {...refusal.field('name', name, setName)}
          spellCheck={false}
          required
          withAsterisk={false}
          maxLength={64}
          data-autofocus
        />
      )}
      <SecretInput
        label={text.secretValue}
        description={text.secretValueAbout}
        value={value}
        error={refusal.at('value')}
        onChange={setValue}
        {...(given !== '' && { 'data-autofocus': true })}
      />
    </DialogForm>
  );
}
