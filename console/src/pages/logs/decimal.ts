/** Decimal numbers as text, because a float would round them. Pure. */

/** Formats a decimal for a language with all its digits: `12,345.678901`. Other text is returned unchanged. */
export function exactNumber(value: string, locale: string): string {
  const [, sign = '', integer = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? [];
  if (integer === '') return value;
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  const point = parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  const digits = fraction.replace(/0+$/, '');
  return `${sign}${new Intl.NumberFormat(locale).format(BigInt(integer))}${digits === '' ? '' : `${point}${digits}`}`;
}
