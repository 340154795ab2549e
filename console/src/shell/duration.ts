/** Durations in words. */

/** `840 ms`, `1.2 s`, `3 min 5 s`; the smaller of two units only if there is any of it. `write`: writes a value with its unit. */
export function durationText(ms: number, write: (value: number, unit: string, digits?: number) => string): string {
  if (ms < 1_000) return write(Math.round(ms), 'millisecond');
  if (ms < 60_000) return write(ms / 1_000, 'second', 1);
  const [minutes, hours, days] = [60_000, 3_600_000, 86_400_000].map((each) => Math.floor(ms / each)) as [
    number,
    number,
    number,
  ];
  const parts: readonly (readonly [value: number, unit: string])[] =
    hours === 0
      ? [
          [minutes, 'minute'],
          [Math.floor(ms / 1_000) % 60, 'second'],
        ]
      : days === 0
        ? [
            [hours, 'hour'],
            [minutes % 60, 'minute'],
          ]
        : [
            [days, 'day'],
            [hours % 24, 'hour'],
          ];
  return parts
    .filter(([value]) => value > 0)
    .map(([value, unit]) => write(value, unit))
    .join(' ');
}
