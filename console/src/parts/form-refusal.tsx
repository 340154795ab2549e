/** Refusals of forms: at the field that they are about, or above the button; the field gets the focus. */
import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { Refusal } from '../api/client.ts';
import { sentenceOf } from '../api/refusals.ts';
import { useLanguage } from './values.tsx';

interface Said {
  /** Empty: about no field of the form. */
  readonly field: string;
  readonly sentence: string;
}

/** What a form knows of its refusal. */
export interface FormRefusal {
  /** For `ref` of the form. */
  readonly form: React.RefObject<HTMLFormElement | null>;
  /** For `error` of a field. */
  at(field: string): string | undefined;
  /** For `<Refused>`: what is about no field. */
  readonly whole: string | undefined;
  /** For `refused` of `useDoing`. */
  refused(refusal: Refusal): boolean;
  /** Something that the form finds out by itself. */
  say(field: string, sentence: string): void;
  clear(): void;
}

/** `fields`: the names by which refusals call the fields of the form (`Refusal.param`). */
export function useFormRefusal(...fields: readonly string[]): FormRefusal {
  const language = useLanguage();
  const [said, setSaid] = useState<Said>();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (said !== undefined && said.field !== '')
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [said]);
  return {
    form,
    at: (field) => (said?.field === field ? said.sentence : undefined),
    whole: said?.field === '' ? said.sentence : undefined,
    refused(refusal) {
      // Whoever closes the check knows that nothing was done.
      if (refusal.code === 'verification_required') return true;
      setSaid({ field: fields.includes(refusal.param) ? refusal.param : '', sentence: sentenceOf(refusal, language) });
      return true;
    },
    say: (field, sentence) => setSaid({ field, sentence }),
    clear: () => setSaid(undefined),
  };
}

/** The refusal that is about no field; it is read aloud. */
export function Refused({ by }: { readonly by: FormRefusal }) {
  if (by.whole === undefined) return null;
  return (
    <Alert color="red" icon={<IconAlertTriangle />} p="xs">
      {by.whole}
    </Alert>
  );
}
