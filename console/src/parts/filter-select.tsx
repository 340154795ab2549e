/** The selects of a filter. */
import { Select } from '@mantine/core';

/** The options of a select: none of the values, or one of them. */
export function anyOr<V extends string>(any: string, values: Iterable<V>, labelOf: (value: V) => string) {
  return [{ value: '', label: any }, ...Array.from(values, (value) => ({ value, label: labelOf(value) }))];
}

/** A select that filters a list; `data` from `anyOr`. */
export function FilterSelect({
  label,
  data,
  value,
  onChange,
}: {
  readonly label: string;
  readonly data: ReturnType<typeof anyOr>;
  readonly value: string;
  onChange(value: string): void;
}) {
  return (
    <Select
      aria-label={label}
      data={data}
      value={value}
      onChange={(chosen) => onChange(chosen ?? '')}
      allowDeselect={false}
      w="9rem"
    />
  );
}
