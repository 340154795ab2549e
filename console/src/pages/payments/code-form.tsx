/** Creates redemption codes and shows them for copying and as a file. */
import { Button, Drawer, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { call, saveBytes } from '../../api/client.ts';
import { useAction, useCancelled } from '../../api/hooks.ts';
import { sentenceOf } from '../../api/refusals.ts';
import { IconDownload } from '../../icons.ts';
import { MoneyInput } from '../../parts/money-input.tsx';
import { PlainButton } from '../../parts/page.tsx';
import { Snippet, useLanguage } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { fromField } from '../../shell/zone.ts';
import { useText } from './text.ts';

interface Values {
  readonly name: string;
  readonly quota: number | null;
  readonly count: number | string;
  /** The value of a date and time field; empty: never. */
  readonly date: string;
}

interface CreatedCodes {
  readonly codes: readonly string[];
  readonly name: string;
  readonly quota: number;
  /** Unix seconds; 0: never. */
  readonly expires: number;
}

/** The drawer. */
export function CodeForm({ opened, onClose }: { readonly opened: boolean; onClose(): void }) {
  const { making: text, words } = useText();
  const [created, setMade] = useState<CreatedCodes>();
  const close = (): void => {
    onClose();
    setMade(undefined);
  };
  return (
    <Drawer
      opened={opened}
      onClose={close}
      title={created === undefined ? words.createCodes : text.madeTitle(created.codes.length)}
      closeOnClickOutside={created === undefined}
    >
      {created === undefined ? (
        <Form onMade={setMade} onClose={close} />
      ) : (
        <MadeCodes created={created} onClose={close} />
      )}
    </Drawer>
  );
}

function Form({ onMade, onClose }: { onMade(created: CreatedCodes): void; onClose(): void }) {
  const { making: text, words } = useText();
  const { zone } = useFormat();
  const language = useLanguage();
  const form = useForm<Values>({
    initialValues: { name: '', quota: null, count: 1, date: '' },
    validate: {
      name: (name) => (name.trim() === '' ? text.nameWanted : null),
      quota: (quota) => (quota === null || quota < 1 ? text.amountWanted : null),
      count: (count) =>
        Number.isInteger(count) && Number(count) >= 1 && Number(count) <= 100 ? null : text.countAbout,
      date: (date) => (date === '' || (fromField(date) ?? 0) * 1_000 > Date.now() ? null : text.dateWanted),
    },
  });
  const make = useAction(
    async ({ name, quota, count, date }: Values) => {
      const of = {
        name: name.trim(),
        quota: quota ?? 0,
        expires: fromField(date) ?? 0,
      };
      const body = { name: of.name, quota: of.quota, count: Number(count), expired_time: of.expires };
      return { ...of, codes: await call('POST /api/redemption/', { body }) };
    },
    {
      changes: ['GET /api/redemption/search'],
      done: onMade,
      refused(refusal) {
        const field = refusal.param === 'expired_time' ? 'date' : refusal.param;
        if (!(field in form.values)) return false;
        form.setFieldError(field, sentenceOf(refusal, language));
        return true;
      },
    },
  );
  useCancelled(make);
  return (
    <form onSubmit={form.onSubmit((values) => make.mutate(values))} noValidate>
      <Stack>
        <TextInput
          label={words.name}
          description={text.nameAbout}
          required
          maxLength={20}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <MoneyInput
          label={text.amount}
          units={form.values.quota}
          onUnits={(quota) => form.setFieldValue('quota', quota)}
          error={form.errors.quota}
          required
        />
        <NumberInput
          label={text.count}
          description={text.countAbout}
          min={1}
          max={100}
          allowDecimal={false}
          allowNegative={false}
          clampBehavior="none"
          required
          {...form.getInputProps('count')}
        />
        <TextInput
          type="datetime-local"
          label={`${words.expires} (${zone})`}
          description={text.expiresAbout}
          {...form.getInputProps('date')}
        />
        <Group justify="flex-end" gap="xs">
          <PlainButton onClick={onClose}>{words.cancel}</PlainButton>
          <Button type="submit" loading={make.isPending}>
            {text.action(Number(form.values.count) || 1)}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function MadeCodes({ created, onClose }: { readonly created: CreatedCodes; onClose(): void }) {
  const { making: text, words } = useText();
  const format = useFormat();
  return (
    <Stack>
      <Text size="sm">{text.madeAbout(format.money(created.quota))}</Text>
      <Snippet code={created.codes.join('\n')} label={text.list} />
      <Group justify="flex-end" gap="xs">
        <PlainButton leftSection={<IconDownload size={16} />} onClick={() => saveCodes(created)}>
          {words.downloadCsv}
        </PlainButton>
        <Button onClick={onClose} data-autofocus>
          {words.done}
        </Button>
      </Group>
    </Stack>
  );
}

/** The codes as CSV. Text that begins like a formula is escaped. */
function saveCodes({ codes, name, quota, expires }: CreatedCodes): void {
  const safe = /^[=+\-@\t\r]/.test(name) ? `'${name}` : name;
  const end = expires === 0 ? '' : new Date(expires * 1_000).toISOString();
  const lines = codes.map((code) => [code, `"${safe.replaceAll('"', '""')}"`, quota, end].join(','));
  const text = ['code,name,quota,expires', ...lines].join('\r\n');
  saveBytes('redemption-codes.csv', new Blob([`${text}\r\n`], { type: 'text/csv' }));
}
