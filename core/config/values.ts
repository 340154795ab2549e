/** Values with units as gateway.yaml spells them (durations, sizes), and the schemas for them. */

import { type Schema, schema } from '../contracts/definitions.ts';
import { canonicalRange } from '../helpers/address-list.ts';

/** A duration: `250ms`, `30s`, `15m`, `2h`, `90d`. Read it with `durationMs`. */
export const duration: Schema<string> = schema<string>({
  type: 'string',
  title: 'duration',
  pattern: '^\\d{1,9}(ms|s|m|h|d)$',
  examples: ['250ms', '30s', '15m'],
});

/** A size in bytes: `10mb`, `16MiB`, `64kb`. Read it with `byteSize`. */
export const size: Schema<string> = schema<string>({
  type: 'string',
  title: 'size',
  pattern: '^\\d{1,9}([kKmMgG][iI]?)?[bB]$',
  examples: ['64kb', '16mb', '1gb'],
});

/** An address, or a range of them: `127.0.0.1`, `10.0.0.0/8`, `fd00::/8`. */
export const addressRange: Schema<string> = schema<string>({
  type: 'string',
  title: 'IP address or range',
  format: 'address-range',
  examples: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'],
});

const msIn: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A group of settings, all optional, in the schema of a section. */
export const settings = <const P extends object>(description: string, properties: P) =>
  ({ description, type: 'object', additionalProperties: false, properties, default: {} }) as const;

/** Milliseconds in `30s`. Throws a RangeError for anything else. */
export function durationMs(text: string): number {
  const [, count, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) throw new RangeError('not a duration such as 250ms, 30s or 15m');
  return Number(count) * msIn[unit]!;
}

const bytesIn: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Bytes in `10mb`; a kilobyte is 1024 bytes, with or without the `i`. Throws a RangeError for anything else. */
export function byteSize(text: string): number {
  const [, count, unit] = /^(\d{1,9})(?:([kmg])i?)?b$/i.exec(text) ?? [];
  if (count === undefined) throw new RangeError('not a size such as 64kb, 16mb or 1gb');
  return Number(count) * bytesIn[(unit ?? '').toLowerCase()]!;
}

/** True for `127.0.0.1` and `10.0.0.0/8`. */
export function isAddressRange(text: string): boolean {
  return !('problem' in canonicalRange(text));
}

/** True for a regular expression: `^[a-z_]+$`. */
export function isPattern(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** True for a URL with a scheme, a host and a valid port: `https://api.example.com/v1`. */
export function isUrl(text: string): boolean {
  return URL.canParse(text);
}

/** The same, and `*`. */
export function isOrigin(text: string): boolean {
  return text === '*' || isUrl(text);
}
