/** A dialog that confirms an action with a code. */
import { Modal, Text } from '@mantine/core';
import { useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { CodeField } from '../../parts/secret-fields.tsx';

interface CodeAction<Out> {
  readonly about: string;
  readonly action: string;
  readonly danger?: boolean;
  /** Backup codes are accepted. */
  readonly backup?: boolean;
  work(code: string): Promise<Out>;
  onDone(out: Out): void;
  onClose(): void;
}

/** Closing it clears the field. */
export function CodeDialog<Out>({
  opened,
  title,
  ...what
}: CodeAction<Out> & { readonly opened: boolean; readonly title: string }) {
  return (
    <Modal opened={opened} onClose={what.onClose} title={title}>
      <CodeForm {...what} />
    </Modal>
  );
}

function CodeForm<Out>({ about, action, danger = false, backup = false, work, onDone, onClose }: CodeAction<Out>) {
  const [code, setCode] = useState('');
  const refusal = useFormRefusal('code');
  const doing = useAction(() => work(code), {
    changes: ['GET /api/user/2fa/status', 'GET /api/user/sessions', 'GET /api/verify/status'],
    done: onDone,
    refused: refusal.refused,
  });
  return (
    <DialogForm refusal={refusal} action={action} running={doing} danger={danger} onClose={onClose}>
      <Text size="sm">{about}</Text>
      <CodeField backup={backup} {...refusal.field('code', code, setCode)} data-autofocus />
    </DialogForm>
  );
}
