/** The drawer that creates or changes a key. */
import {
  Button,
  Chip,
  Drawer,
  Group,
  Input,
  MultiSelect,
  Radio,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { call } from '../../api/client.ts';
import { useAction, useApi, useCancelled } from '../../api/hooks.ts';
import { sentenceOf } from '../../api/refusals.ts';
import { GroupSelect } from '../../parts/group-select.tsx';
import { MoneyInput } from '../../parts/money-input.tsx';
import { Loaded } from '../../parts/notes.tsx';
import { Muted, PlainButton } from '../../parts/page.tsx';
import { useLanguage, When } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { toField } from '../../shell/zone.ts';
import { LimitsField } from './key-limits.tsx';
import { KeyStateBadge } from './key-table.tsx';
import type { Key } from './key-values.ts';
import {
  changesOf,
  EXPIRIES,
  type Expiry,
  endOf,
  fieldNamed,
  type KeyValues,
  newKeyOf,
  valuesOf,
} from './key-values.ts';
import { useText } from './text.ts';

/** The drawer. `open`: `new`, the ID of a key, or empty. */
export function KeyDrawer({
  open,
  onClose,
  onMade,
}: {
  readonly open: string;
  onClose(): void;
  onMade(key: Key): void;
}) {
  const text = useText();
  const id = /^\d+$/.test(open) ? open : undefined;
  return (
    <Drawer
      opened={id !== undefined || open === 'new'}
      onClose={onClose}
      title={id === undefined ? text.words.newKey : text.form.edit}
    >
      {id === undefined ? (
        <KeyForm of={undefined} onClose={onClose} onMade={onMade} />
      ) : (
        <StoredKey key={id} id={id} onClose={onClose} onMade={onMade} />
      )}
    </Drawer>
  );
}

function StoredKey({ id, ...on }: { readonly id: string; onClose(): void; onMade(key: Key): void }) {
  const query = useApi('GET /api/token/{id}', { params: { id } }, { staleTime: 0, gcTime: 0 });
  return (
    <Loaded query={query} height={320}>
      {(key) => <KeyForm of={key} {...on} />}
    </Loaded>
  );
}

function KeyForm({ of, onClose, onMade }: { readonly of: Key | undefined; onClose(): void; onMade(key: Key): void }) {
  const { form: text, limits: allLimits, saved, words } = useText();
  const language = useLanguage();
  const form = useForm<KeyValues>({
    initialValues: valuesOf(of),
    validate: {
      name: (name) => (name.trim() === '' ? text.nameWanted : null),
      amount: (amount, { limited }) => (limited && amount === null ? text.amountWanted : null),
      limits: (limits) => (limits.some(({ amount }) => amount === null) ? allLimits.wanted : null),
      date: (_, values) => {
        // A key that has expired may stay expired while other fields change.
        if (values.expiry !== 'date' || (of !== undefined && values.date === valuesOf(of).date)) return null;
        const end = endOf(values, Date.now());
        return end === undefined || end * 1_000 <= Date.now() ? text.dateWanted : null;
      },
    },
  });
  const save = useAction(
    (values: KeyValues) =>
      of === undefined
        ? call('POST /api/token/', { body: newKeyOf(values, Date.now()) })
        : call('PUT /api/token/', { body: changesOf(values, of, Date.now()) }),
    {
      changes: ['GET /api/token/', 'GET /api/token/{id}', 'GET /api/token/usage'],
      done(key) {
        if (of === undefined) onMade(key);
        else {
          notifications.show({ message: saved(key.name) });
          onClose();
        }
      },
      refused(refusal) {
        const field = fieldNamed(refusal.param);
        if (field === undefined) return false;
        form.setFieldError(field, sentenceOf(refusal, language));
        return true;
      },
    },
  );
  useCancelled(save);
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))} noValidate>
      <Stack>
        {of !== undefined && <Facts of={of} />}
        <TextInput
          label={words.name}
          description={text.nameAbout}
          placeholder={text.nameExample}
          required
          maxLength={200}
          data-autofocus={of === undefined ? true : undefined}
          {...form.getInputProps('name')}
        />
        <Radio.Group
          label={text.allowance}
          value={form.values.limited ? 'limited' : 'unlimited'}
          onChange={(value) => form.setFieldValue('limited', value === 'limited')}
        >
          <Stack gap="xs" mt={4}>
            <Radio value="unlimited" label={text.unlimited} />
            <Radio value="limited" label={text.limited} />
          </Stack>
        </Radio.Group>
        {form.values.limited && (
          <MoneyInput
            label={words.amount}
            about={of === undefined ? text.amountAbout : text.amountLeft}
            units={form.values.amount}
            onUnits={(units) => form.setFieldValue('amount', units)}
            error={form.errors.amount}
            required
          />
        )}
        <ExpiryField form={form} />
        <GroupSelect
          value={form.values.group}
          onChange={(group) => {
            form.setFieldValue('group', group);
            form.clearFieldError('group');
          }}
          error={form.errors.group}
        />
        <ModelsField form={form} />
        <Textarea
          label={words.addresses}
          description={text.addressesAbout}
          placeholder={text.addressesExample}
          autosize
          minRows={3}
          maxRows={10}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          {...form.getInputProps('addresses')}
        />
        <LimitsField
          limits={form.values.limits}
          error={form.errors.limits}
          onChange={(limits) => {
            form.setFieldValue('limits', limits);
            form.clearFieldError('limits');
          }}
        />
        <Switch
          label={text.strict}
          description={text.strictAbout}
          {...form.getInputProps('strict', { type: 'checkbox' })}
        />
        <Group justify="flex-end" gap="xs">
          <PlainButton onClick={onClose}>{words.cancel}</PlainButton>
          <Button type="submit" loading={save.isPending}>
            {of === undefined ? words.createKey : words.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type Form = Pick<
  UseFormReturnType<KeyValues>,
  'values' | 'errors' | 'setFieldValue' | 'clearFieldError' | 'getInputProps'
>;

function Facts({ of }: { readonly of: Key }) {
  const { lastUsed, notUsed, words } = useText();
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text size="sm" ff="monospace">
          {of.key}
        </Text>
        <KeyStateBadge of={of} />
      </Group>
      <Muted>
        {words.created} <When at={of.created_time} /> · {lastUsed} <When at={of.accessed_time} none={notUsed} />
      </Muted>
    </Stack>
  );
}

function ExpiryField({ form }: { readonly form: Form }) {
  const { form: text, words } = useText();
  const format = useFormat();
  const { expiry, date } = form.values;
  const end = endOf(form.values, Date.now());
  const choose = (chosen: Expiry): void => {
    form.setFieldValue('expiry', chosen);
    form.clearFieldError('date');
    if (chosen === 'date' && date === '')
      form.setFieldValue('date', toField(Math.floor(Date.now() / 1_000) + 30 * 86_400));
  };
  return (
    <Stack gap="xs">
      <Input.Wrapper
        label={words.expires}
        labelElement="div"
        labelProps={{ id: 'key-expiry' }}
        description={
          end === undefined || expiry === 'date'
            ? undefined
            : end < 0
              ? text.expiresNever
              : text.expiresAt(format.moment(end))
        }
        inputWrapperOrder={['label', 'input', 'description', 'error']}
      >
        <Chip.Group value={expiry} onChange={(value) => choose(value as Expiry)}>
          <Group gap={6} my={4} role="radiogroup" aria-labelledby="key-expiry">
            {EXPIRIES.map((each) => (
              <Chip key={each} value={each} size="xs" radius="sm">
                {text.presets[each]}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      {expiry === 'date' && (
        <TextInput
          type="datetime-local"
          label={`${text.date} (${format.zone})`}
          required
          {...form.getInputProps('date')}
        />
      )}
    </Stack>
  );
}

function ModelsField({ form }: { readonly form: Form }) {
  const { form: text, words } = useText();
  const { data = [] } = useApi('GET /api/user/models', undefined, { staleTime: 60_000 });
  const { models } = form.values;
  return (
    <MultiSelect
      label={words.models}
      description={text.modelsAbout}
      // A model that no longer exists stays until the user removes it.
      data={[...new Set([...data, ...models])]}
      value={[...models]}
      onChange={(chosen) => form.setFieldValue('models', chosen)}
      placeholder={models.length === 0 ? text.modelsAll : undefined}
      nothingFoundMessage={words.noMatchingModels}
      searchable
      clearable
      hidePickedOptions
      limit={50}
      error={form.errors.models}
    />
  );
}
