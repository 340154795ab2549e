/** The limits of a key in its form: for all its calls, and for single models. */
import { Autocomplete, Group, NumberInput, Select, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { IconPlus, IconTrash } from '../../icons.ts';
import { MoneyInput } from '../../parts/money-input.tsx';
import { Muted, PlainButton } from '../../parts/page.tsx';
import { LIMITS, type LimitName, type LimitValue } from './key-values.ts';
import { useText } from './text.ts';

/** The rows: each is one limit, of all models or of one. */
export function LimitsField({
  limits,
  error,
  onChange,
}: {
  readonly limits: readonly LimitValue[];
  readonly error: ReactNode;
  onChange(limits: readonly LimitValue[]): void;
}) {
  const { limits: text, words } = useText();
  const { data: models = [] } = useApi('GET /api/user/models', undefined, { staleTime: 60_000 });
  const change = (at: number, changes: Partial<LimitValue>): void =>
    onChange(limits.map((limit, i) => (i === at ? { ...limit, ...changes } : limit)));
  const nextId = Math.max(0, ...limits.map(({ id }) => id)) + 1;
  return (
    <Stack gap="xs" role="group" aria-labelledby="key-limits">
      <Text id="key-limits" size="sm" fw={500}>
        {text.title}
      </Text>
      <Muted>{text.about}</Muted>
      {limits.map((limit, at) => (
        <Stack key={limit.id} gap={6} className="key-limit" role="group" aria-label={text.row(`${at + 1}`)}>
          <Group gap="xs" grow preventGrowOverflow={false} align="flex-start">
            <Select
              label={text.kind}
              data={LIMITS.map((value) => ({ value, label: text.kinds[value] }))}
              value={limit.name}
              allowDeselect={false}
              onChange={(name) => change(at, { name: (name ?? limit.name) as LimitName, amount: null })}
            />
            {limit.name.endsWith('_budget') ? (
              <MoneyInput
                key={limit.name}
                label={words.amount}
                units={limit.amount}
                onUnits={(amount) => change(at, { amount })}
              />
            ) : (
              <NumberInput
                key={limit.name}
                label={text.count}
                min={1}
                allowDecimal={false}
                allowNegative={false}
                thousandSeparator=","
                value={limit.amount ?? ''}
                onChange={(value) => change(at, { amount: typeof value === 'number' ? value : null })}
              />
            )}
          </Group>
          <Group gap="xs" align="flex-end">
            <Autocomplete
              flex={1}
              label={words.model}
              placeholder={text.allModels}
              data={[...models]}
              value={limit.model}
              onChange={(model) => change(at, { model })}
              limit={50}
            />
            <PlainButton
              leftSection={<IconTrash size={16} />}
              aria-label={text.removeRow(`${at + 1}`)}
              onClick={() => onChange(limits.filter((_, i) => i !== at))}
            >
              {words.remove}
            </PlainButton>
          </Group>
        </Stack>
      ))}
      {error !== undefined && error !== null && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
      <Group>
        <PlainButton
          leftSection={<IconPlus size={16} />}
          onClick={() => onChange([...limits, { id: nextId, model: '', name: 'monthly_budget', amount: null }])}
        >
          {text.add}
        </PlainButton>
      </Group>
    </Stack>
  );
}
