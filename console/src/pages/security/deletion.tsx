/** Deletes the account. */
import { Group, Modal, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { Section } from '../../parts/page.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { isRoot, type Self } from '../../shell/self.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** A section of the page. */
export function Deletion({ self }: { readonly self: Self }) {
  const { deletion: text } = useText(TEXT);
  const [opened, setOpened] = useState(false);
  const close = (): void => setOpened(false);
  return (
    <Section title={text.title}>
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
  const { deletion: text } = useText(TEXT);
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
