/** A choice between a few values. */
import { NativeSelect, SegmentedControl } from '@mantine/core';

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
