/** Selects: those of a filter, and a choice between a few values. */
import { NativeSelect, SegmentedControl, Select } from '@mantine/core';

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

/** Side by side in wide windows, a select in narrow ones. */
export function Choice<V extends string>({
  label,
  ...choice
}: {
  readonly label: string;
  readonly data: { readonly value: V; readonly label: string }[];
  readonly value: V;
  onChange(value: V): void;
}) {
  return (
    <>
      <SegmentedControl<V> size="xs" visibleFrom="sm" aria-label={label} {...choice} />
      <NativeSelect
        size="xs"
        hiddenFrom="sm"
        aria-label={label}
        {...choice}
        onChange={({ currentTarget: { value } }) => choice.onChange(value as V)}
      />
    </>
  );
}
