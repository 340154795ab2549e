/** Redeems a code and shows the result. */
import { Alert, Group, Stack, TextInput } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAction } from '../../api/hooks.ts';
import { sentenceOf } from '../../api/refusals.ts';
import { Section } from '../../parts/page.tsx';
import { PlainButton } from '../../parts/plain.tsx';
import { useLanguage } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';
import { PAID_CHANGES } from './use-paying.ts';

/** The section. */
export function Redeem() {
  const { code: text } = useText(TEXT);
  const format = useFormat();
  const language = useLanguage();
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState('');
  const [added, setAdded] = useState<number>();
  const redeem = useAction((key: string) => call('POST /api/user/topup', { body: { key } }), {
    changes: PAID_CHANGES,
    done(units) {
      setAdded(units);
      setCode('');
    },
    refused(refusal) {
      setProblem(sentenceOf(refusal, language));
      return true;
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setAdded(undefined);
    setProblem('');
    if (code.trim() === '') setProblem(text.wanted);
    else redeem.mutate(code.trim());
  };
  return (
    <Section title={text.title}>
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <TextInput
            label={text.field}
            description={text.about}
            value={code}
            onChange={({ currentTarget }) => {
              setCode(currentTarget.value);
              setProblem('');
            }}
            error={problem || undefined}
            autoComplete="off"
            spellCheck={false}
            maxLength={100}
          />
          <Group justify="flex-end">
            <PlainButton type="submit" loading={redeem.isPending}>
              {text.redeem}
            </PlainButton>
          </Group>
        </Stack>
        <div aria-live="polite">
          {added !== undefined && (
            <Alert color="green" icon={<IconCheck />} mt="sm">
              {text.added(format.money(added))}
            </Alert>
          )}
        </div>
      </form>
    </Section>
  );
}
