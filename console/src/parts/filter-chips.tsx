/** The active filters; each can be removed. */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { IconX } from '../icons.ts';
import { texts } from '../text.ts';
import { PlainButton } from './page.tsx';

const useText = texts({
  filters: ['Filters', '筛选条件'],
  chip: [(what: string, value: string) => `${what}: ${value}`, (what: string, value: string) => `${what}：${value}`],
  remove: [
    (what: string, value: string) => `Remove the filter ${what}: ${value}`,
    (what: string, value: string) => `移除筛选条件 ${what}：${value}`,
  ],
});

/** A row of `FilterChip`s. `onClear`: removes all of them; shown if there are several. */
export function FilterChips({
  onClear,
  children,
}: {
  readonly onClear: (() => void) | undefined;
  readonly children: ReactNode;
}) {
  const text = useText();
  return (
    <Group gap="xs" role="group" aria-label={text.filters}>
      {children}
      {onClear !== undefined && (
        <Button variant="subtle" size="compact-sm" onClick={onClear}>
          {text.words.clearFilters}
        </Button>
      )}
    </Group>
  );
}

/** One filter with its value. */
export function FilterChip({
  what,
  value,
  onRemove,
}: {
  readonly what: string;
  readonly value: string;
  onRemove(): void;
}) {
  const text = useText();
  return (
    <PlainButton
      size="compact-sm"
      fw={400}
      maw="100%"
      rightSection={<IconX size={13} />}
      aria-label={text.remove(what, value)}
      onClick={onRemove}
    >
      {text.chip(what, value)}
    </PlainButton>
  );
}
