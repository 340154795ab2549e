/** Forms and their refusals, shown at the field or above the button; the field gets the focus. */
import { Alert, Button, Group, Stack, type StackProps } from '@mantine/core';
import { type ChangeEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { Refusal } from '../api/client.ts';
import { type Running, useCancelled } from '../api/hooks.ts';
import { sentenceOf } from '../api/refusals.ts';
import { IconAlertTriangle } from '../icons.ts';
import { texts } from '../text.ts';
import { PlainButton } from './page.tsx';
import { useLanguage } from './values.tsx';

interface FieldMessage {
  /** Empty: not about a field of the form. */
  readonly field: string;
  readonly sentence: string;
}

/** The refusal state of a form. */
export interface FormRefusal {
  /** For `ref` of the form. */
  readonly form: React.RefObject<HTMLFormElement | null>;
  /** For `error` of a field. */
  at(field: string): string | undefined;
  /** For a text field: its value, how it changes, and its refusal. */
  field(
    name: string,
    value: string,
    set: (value: string) => void,
  ): {
    value: string;
    onChange(event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>): void;
    error: string | undefined;
  };
  /** For `<Refused>`: a refusal that is not about a field. */
  readonly formMessage: string | undefined;
  /** For `refused` of `useAction`. */
  refused(refusal: Refusal): boolean;
  /** Reports a validation error of the form itself. */
  say(field: string, sentence: string): void;
  clear(): void;
}

/** `fields`: the names of the form's fields in refusals (`Refusal.param`). */
export function useFormRefusal(...fields: readonly string[]): FormRefusal {
  const language = useLanguage();
  const [message, setSaid] = useState<FieldMessage>();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (message !== undefined && message.field !== '')
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [message]);
  const at = (field: string): string | undefined => (message?.field === field ? message.sentence : undefined);
  return {
    form,
    at,
    field: (name, value, set) => ({ value, onChange: (event) => set(event.currentTarget.value), error: at(name) }),
    formMessage: message?.field === '' ? message.sentence : undefined,
    refused(refusal) {
      // If the user closed the verification dialog, no message is needed.
      if (refusal.code === 'verification_required') return true;
      setSaid({ field: fields.includes(refusal.param) ? refusal.param : '', sentence: sentenceOf(refusal, language) });
      return true;
    },
    say: (field, sentence) => setSaid({ field, sentence }),
    clear: () => setSaid(undefined),
  };
}

/** A form whose refusals are shown in it: its fields, `<Refused>` and buttons below each other. */
export function RefusalForm({
  refusal,
  gap = 'sm',
  onSubmit,
  children,
  ...rest
}: {
  readonly refusal: FormRefusal;
  readonly gap?: StackProps['gap'];
  readonly autoComplete?: 'off' | undefined;
  readonly noValidate?: boolean;
  onSubmit(): void;
  readonly children: ReactNode;
}) {
  return (
    <form
      ref={refusal.form}
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        refusal.clear();
        onSubmit();
      }}
    >
      <Stack gap={gap}>{children}</Stack>
    </form>
  );
}

/** The refusal that is not about a field; announced to screen readers. */
export function Refused({ by }: { readonly by: FormRefusal }) {
  if (by.formMessage === undefined) return null;
  return (
    <Alert color="red" icon={<IconAlertTriangle />} p="xs">
      {by.formMessage}
    </Alert>
  );
}

const useText = texts({ cancel: ['Cancel', '取消'] });

/** A form in a dialog: fields, refusal, and two buttons. Enter submits it. */
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
  const text = useText();
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
