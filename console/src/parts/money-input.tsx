/** An amount of quota as people type it: in currency, with the quota units that it comes to below. */
import { NumberInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useStatus } from '../api/status.ts';
import { useFormat } from '../shell/format.ts';

/** The field. It begins with `units` (null: empty) and tells whole quota units; give it another `key` to begin anew. */
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
  /** What an empty field means. */
  readonly placeholder?: string;
  readonly error?: ReactNode;
  readonly required?: boolean;
  /** It is where a dialog begins. */
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
