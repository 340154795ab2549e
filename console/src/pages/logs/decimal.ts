/** Decimal numbers that are told as text, because a float would not hold them. Pure. */

/** As people of a language write it, with every digit that there is: `12,345.678901`. What is no decimal stays as it is. */
export function exactNumber(value: string, locale: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value) ?? [];
  if (whole === '') return value;
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  const point = parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  const digits = fraction.replace(/0+$/, '');
  return `${sign}${new Intl.NumberFormat(locale).format(BigInt(whole))}${digits === '' ? '' : `${point}${digits}`}`;
}
