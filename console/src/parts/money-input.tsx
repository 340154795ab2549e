/** An amount in currency, with the quota units below. */
import { NumberInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useStatus } from '../api/hooks.ts';
import { useFormat } from '../shell/format.ts';

/** The field. `units` is the initial value (null: empty); `onChange` gets whole quota units. Pass another `key` to reset it. */
export function MoneyInput({
  label,
  about,
  units,
  onUnits,
  placeholder,
  error,
  required = false,
  focused = false,
}: {
  readonly label: string;
  readonly about?: ReactNode;
  readonly units: number | null;
  onUnits(units: number | null): void;
  /** The meaning of an empty field. */
  readonly placeholder?: string;
  readonly error?: ReactNode;
  readonly required?: boolean;
  /** Gets the initial focus of a dialog. */
  readonly focused?: boolean;
}) {
  const format = useFormat();
  const status = useStatus();
  const perUnit = status?.quota_per_unit ?? 500_000;
  const [typed, setTyped] = useState<number | string>(units === null ? '' : units / perUnit);
  return (
    <NumberInput
      label={label}
      description={
        <>
          {about}
          {about !== undefined && units !== null && ' '}
          {units !== null && <span className="number">= {format.quota(units)}</span>}
        </>
      }
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder={placeholder}
      value={typed}
      onChange={(value) => {
        setTyped(value);
        const amount = typeof value === 'number' ? value : Number.parseFloat(value);
        onUnits(Number.isFinite(amount) ? Math.round(amount * perUnit) : null);
      }}
      leftSection="$"
      thousandSeparator=","
      min={0}
      allowNegative={false}
      decimalScale={6}
      error={error}
      required={required}
      {...(focused && { 'data-autofocus': true })}
    />
  );
}
