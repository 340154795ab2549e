/** The units of `/api`: quota units and Unix seconds, instead of micro-quota and milliseconds. */
import { inQuota, LARGEST_GRANT, Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import type { Host } from '../../../core/plugin.ts';

export { secondsOf, unitsAbove, unitsOf } from '../../../core/contracts/shown.ts';
export { inQuota as exactUnits };

/** The maximum grant in quota units, limited by the ledger's integers. */
export const MOST_UNITS = Number(LARGEST_GRANT / MICRO);

/** Micro-quota in quota units as a number, with a fraction if needed: the nearest double. */
export function quotaNumber(micro: bigint): number {
  return Number(inQuota(micro));
}

/** Decimals of an amount in currency units if one currency unit is not a round number of quota units. */
const CURRENCY_PLACES = 18;

/** Micro-quota in currency units, as a decimal number: `0.00000002`. `perUnit`: quota units in one currency unit. */
export function currencyText(micro: bigint, perUnit: number): string {
  const digits = (micro * 10n ** BigInt(CURRENCY_PLACES)) / (MICRO * BigInt(perUnit));
  const size = (digits < 0n ? -digits : digits).toString().padStart(CURRENCY_PLACES + 1, '0');
  const fraction = size.slice(-CURRENCY_PLACES).replace(/0+$/, '');
  return `${digits < 0n ? '-' : ''}${size.slice(0, -CURRENCY_PLACES)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Quota units in one currency unit. */
export function perUnitOf(host: Pick<Host, 'find'>): number {
  return host.find(Ledger)?.perUnit ?? 500_000;
}

/** Quota units in micro-quota. */
export function microOf(units: number): bigint {
  return BigInt(units) * MICRO;
}

/** A day, in milliseconds. */
export const DAY_MS = 86_400_000;

/** The day (UTC) of a time: `2026-01-31`. */
export function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
