/** A dialog that does something with a code. */
import { Modal, Text } from '@mantine/core';
import { useState } from 'react';
import { useDoing } from '../../api/hooks.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { useFormRefusal } from '../../parts/form-refusal.tsx';
import { CodeField } from '../../parts/secret-fields.tsx';

interface What<Out> {
  readonly about: string;
  readonly action: string;
  readonly danger?: boolean;
  /** A backup code will do. */
  readonly backup?: boolean;
  work(code: string): Promise<Out>;
  onDone(out: Out): void;
  onClose(): void;
}

/** Closed, it forgets what was typed. */
export function CodeDialog<Out>({
  opened,
  title,
  ...what
}: What<Out> & { readonly opened: boolean; readonly title: string }) {
  return (
    <Modal opened={opened} onClose={what.onClose} title={title}>
      <CodeForm {...what} />
    </Modal>
  );
}

function CodeForm<Out>({ about, action, danger = false, backup = false, work, onDone, onClose }: What<Out>) {
  const [code, setCode] = useState('');
  const refusal = useFormRefusal('code');
  const doing = useDoing(() => work(code), {
    changes: ['GET /api/user/2fa/status', 'GET /api/user/sessions', 'GET /api/verify/status'],
    done: onDone,
    refused: refusal.refused,
  });
  return (
    <DialogForm
      refusal={refusal}
      action={action}
      doing={doing}
      danger={danger}
      onSubmit={() => doing.mutate()}
      onClose={onClose}
    >
      <Text size="sm">{about}</Text>
      <CodeField
        backup={backup}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        error={refusal.at('code')}
        data-autofocus
      />
    </DialogForm>
  );
}
