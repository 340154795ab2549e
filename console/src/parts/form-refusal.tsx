/** Refusals in forms: shown at the field or above the button; the field gets the focus. */
import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { Refusal } from '../api/client.ts';
import { sentenceOf } from '../api/refusals.ts';
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
  return {
    form,
    at: (field) => (message?.field === field ? message.sentence : undefined),
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

/** The refusal that is not about a field; announced to screen readers. */
export function Refused({ by }: { readonly by: FormRefusal }) {
  if (by.formMessage === undefined) return null;
  return (
    <Alert color="red" icon={<IconAlertTriangle />} p="xs">
      {by.formMessage}
    </Alert>
  );
}
