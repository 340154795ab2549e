/** What `/api` counts in, quota units and unix seconds, where we count micro-quota and milliseconds. */
import { MICRO } from '../../core/contracts/ledger.ts';

/** The most that can be granted, in quota units: as much as the ledger has room for. */
export const MOST_UNITS = 4_000_000_000_000;

/** Micro-quota in whole quota units, rounded down. */
export function unitsOf(micro: bigint): number {
  const units = micro / MICRO;
  return Number(micro < 0n && units * MICRO !== micro ? units - 1n : units);
}

/** The same exactly, as a decimal number: `12.345678`. */
export function exactUnits(micro: bigint): string {
  const size = micro < 0n ? -micro : micro;
  const fraction = (size % MICRO).toString().padStart(6, '0').replace(/0+$/, '');
  return `${micro < 0n ? '-' : ''}${size / MICRO}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Quota units in micro-quota. */
export function microOf(units: number): bigint {
  return BigInt(units) * MICRO;
}

/** The second of a moment; 0 where there was none. */
export function secondsOf(ms = 0): number {
  return Math.floor(ms / 1_000);
}
