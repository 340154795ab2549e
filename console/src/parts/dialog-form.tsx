/** A form in a dialog: its fields, what was refused of it, and the two buttons at its end. */
import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Running, useCancelled } from '../api/hooks.ts';
import { texts, useText } from '../text.ts';
import { type FormRefusal, Refused } from './form-refusal.tsx';

const TEXT = texts({ cancel: 'Cancel' }, { cancel: '取消' });

/** The form. It is sent with Enter as well. */
export function DialogForm({
  refusal,
  action,
  danger = false,
  doing,
  ready = true,
  autoComplete,
  onSubmit,
  onClose,
  children,
}: {
  readonly refusal: FormRefusal;
  /** What the button says that sends it: `Make the account`. */
  readonly action: string;
  readonly danger?: boolean;
  /** What sending it begins. It is cancelled as the dialog closes. */
  readonly doing: Running;
  /** False where it cannot be sent yet. */
  readonly ready?: boolean;
  readonly autoComplete?: 'off';
  onSubmit(): void;
  onClose(): void;
  readonly children: ReactNode;
}) {
  const text = useText(TEXT);
  useCancelled(doing);
  return (
    <form
      ref={refusal.form}
      autoComplete={autoComplete}
      onSubmit={(event) => {
        event.preventDefault();
        refusal.clear();
        if (ready) onSubmit();
      }}
    >
      <Stack>
        {children}
        <Refused by={refusal} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {text.cancel}
          </Button>
          <Button type="submit" color={danger ? 'red.9' : 'pine'} loading={doing.isPending} disabled={!ready}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
