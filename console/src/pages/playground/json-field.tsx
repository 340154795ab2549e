/** An optional JSON field: a switch, a text field, and the error in it. */
import { Button, Group, Text, Textarea } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import type { KeyboardEvent } from 'react';
import { PlainButton } from '../../parts/plain.tsx';
import { useText } from '../../text.ts';
import { TEXT } from './text.ts';

/** The field; shown while it has text. */
export function JsonField({
  label,
  about,
  value,
  example,
  error,
  onChange,
  onKeyDown,
}: {
  readonly label: string;
  readonly about: string;
  readonly value: string;
  readonly example: string;
  readonly error: string | undefined;
  onChange(value: string): void;
  onKeyDown(event: KeyboardEvent): void;
}) {
  const text = useText(TEXT);
  if (value === '')
    return (
      <Group gap="xs">
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <PlainButton
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          aria-label={`${label}: ${text.example}`}
          onClick={() => onChange(example)}
        >
          {text.example}
        </PlainButton>
      </Group>
    );
  return (
    <div>
      <Textarea
        label={label}
        description={about}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        onKeyDown={onKeyDown}
        error={error}
        autosize
        minRows={4}
        maxRows={14}
        spellCheck={false}
        classNames={{ input: 'pg-code' }}
      />
      <Button
        mt={4}
        variant="subtle"
        size="compact-sm"
        leftSection={<IconTrash size={14} />}
        aria-label={`${label}: ${text.remove}`}
        onClick={() => onChange('')}
      >
        {text.remove}
      </Button>
    </div>
  );
}
