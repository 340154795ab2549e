/** A form in a dialog: fields, refusal, and two buttons. */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Running, useCancelled } from '../api/hooks.ts';
import { texts, useText } from '../text.ts';
import { type FormRefusal, RefusalForm, Refused } from './form-refusal.tsx';
import { PlainButton } from './page.tsx';

const TEXT = texts({ cancel: ['Cancel', '取消'] });

/** The form. Enter submits it. */
export function DialogForm({
  refusal,
  action,
  danger = false,
  ready = true,
  autoComplete,
  running,
  onSubmit = () => running.mutate(),
  onClose,
  children,
}: {
  readonly refusal: FormRefusal;
  /** The label of the submit button: `Create account`. */
  readonly action: string;
  readonly danger?: boolean;
  /** False if the form is not complete yet. */
  readonly ready?: boolean;
  readonly autoComplete?: 'off';
  /** The action that submitting begins. It is cancelled when the dialog closes. */
  readonly running: Running & { mutate(): void };
  /** Submits in place of `running.mutate()`. */
  onSubmit?(): void;
  onClose(): void;
  readonly children: ReactNode;
}) {
  const text = useText(TEXT);
  useCancelled(running);
  return (
    <RefusalForm refusal={refusal} gap="md" autoComplete={autoComplete} onSubmit={() => ready && onSubmit()}>
      {children}
      <Refused by={refusal} />
      <Group justify="flex-end" gap="xs">
        <PlainButton onClick={onClose}>{text.cancel}</PlainButton>
        <Button type="submit" color={danger ? 'red.9' : 'pine'} loading={running.isPending} disabled={!ready}>
          {action}
        </Button>
      </Group>
    </RefusalForm>
  );
}
