/** Reads values of the command line, within the bounds that `/api` has for the same values. */
import { durationMs } from '../config/values.ts';
import { UsageError } from '../contracts/command.ts';
import { LARGEST_GRANT, MICRO } from '../contracts/ledger.ts';
import { LATEST_MS } from '../contracts/periods.ts';

/** Milliseconds in the duration of an option, above zero and at most `mostMs`. Throws `UsageError`. */
export function readDuration(value: string, option: string, mostMs: number): number {
  let ms: number;
  try {
    ms = durationMs(value);
  } catch {
    throw new UsageError(`${option} must be a duration such as 12h or 30d, not "${value}"`);
  }
  if (ms === 0) throw new UsageError(`${option} must be above zero, not "${value}"`);
  if (ms > mostMs) throw new UsageError(`${option} must be at most ${Math.floor(mostMs / DAY_MS)}d, not "${value}"`);
  return ms;
}

/** The time after a duration, by default at most the end of the year 9999. Throws `UsageError`. */
export function readExpiry(value: string, nowMs: number, mostMs: number = LATEST_MS - nowMs): number {
  return nowMs + readDuration(value, '--expires', mostMs);
}

/** Whole quota units, in micro-quota. Throws `UsageError`. */
export function readUnits(value: string, option: string): bigint {
  const units = /^\d{1,18}$/.test(value) ? BigInt(value) : undefined;
  if (units === undefined) throw new UsageError(`${option} must be a whole number of quota units, not "${value}"`);
  const micro = units * MICRO;
  if (micro <= LARGEST_GRANT) return micro;
  throw new UsageError(`${option} must be at most ${LARGEST_GRANT / MICRO} quota units, not "${value}"`);
}

const DAY_MS = 86_400_000;
