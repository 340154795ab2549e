/** Selects all rows of a page of a list, with the actions on the selection. */
import { Box, Checkbox, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat } from '../shell/format.ts';
import { texts } from '../text.ts';
import type { Column } from './data-table.tsx';

const useText = texts({
  all: ['Select all on this page', '选择本页全部'],
  one: [(name: string) => `Select ${name}`, (name: string) => `选择 ${name}`],
  selected: [(count: string) => `${count} selected`, (count: string) => `已选 ${count} 个`],
});

/** No row is selected. */
export const NOTHING: ReadonlySet<number> = new Set();

/** The bar. `ids`: the rows of the page; `children`: the actions, shown if rows are selected. */
export function SelectionBar({
  ids,
  selected,
  onSelect,
  end,
  children,
}: {
  readonly ids: readonly number[];
  readonly selected: ReadonlySet<number>;
  onSelect(ids: ReadonlySet<number>): void;
  /** Shown at the end of the bar, whatever is selected. */
  readonly end?: ReactNode;
  readonly children: ReactNode;
}) {
  const text = useText();
  const format = useFormat();
  const count = ids.filter((id) => selected.has(id)).length;
  const all = count === ids.length;
  if (ids.length === 0) return null;
  return (
    <Group className="selection" gap="sm" mih={36}>
      <Checkbox
        size="xs"
        label={text.all}
        checked={all}
        indeterminate={!all && count > 0}
        onChange={() => onSelect(all ? NOTHING : new Set(ids))}
      />
      {count > 0 && (
        <>
          <Text size="sm" aria-live="polite">
            {text.selected(format.number(count))}
          </Text>
          {children}
        </>
      )}
      {end !== undefined && <Box ml="auto">{end}</Box>}
    </Group>
  );
}

/** The column with the checkbox of each row. */
export function useSelectColumn<Row extends { readonly id: number }>(
  selected: ReadonlySet<number>,
  onSelect: (ids: ReadonlySet<number>) => void,
  nameOf: (row: Row) => string,
): Column<Row> {
  const text = useText();
  return {
    key: 'select',
    title: text.one(''),
    quiet: true,
    cell: (row) => (
      <Checkbox
        size="xs"
        aria-label={text.one(nameOf(row))}
        checked={selected.has(row.id)}
        onChange={({ currentTarget: { checked } }) => {
          const next = new Set(selected);
          if (checked) next.add(row.id);
          else next.delete(row.id);
          onSelect(next);
        }}
      />
    ),
  };
}
