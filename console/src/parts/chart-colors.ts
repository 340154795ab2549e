/** Chart colours: seven that users with colour vision deficiencies can distinguish, and grey for all others. */
import { useComputedColorScheme } from '@mantine/core';

/**
 * All pairs are distinguishable with protanopia, deuteranopia and tritanopia, and each colour has a contrast of 3:1 to the page.
 * The same index has the same hue in the light and the dark theme.
 */
const COLORS = {
  light: ['#176640', '#3449f0', '#bc663b', '#873daf', '#721523', '#b19207', '#0c97cb'],
  dark: ['#54d29d', '#526bc7', '#e47e2e', '#c39deb', '#d72222', '#eff216', '#95fdff'],
} as const;
const REST = '#868e96';

/** The number of series with a colour; combine further ones into one series of all others. */
export const MOST_SERIES = COLORS.light.length;

/** The colour of the series at an index in the current theme; `undefined`: all others. */
export function useSeriesColor(): (at: number | undefined) => string {
  const scheme = useComputedColorScheme('light');
  return (at) => (at === undefined ? undefined : COLORS[scheme][at]) ?? REST;
}

/** The colour index of each series; series of all others are not counted. */
export function placesOf(
  series: readonly { readonly rest?: boolean; readonly place?: number }[],
): readonly (number | undefined)[] {
  let next = 0;
  return series.map(({ rest, place }) => (rest === true ? undefined : (place ?? next++)));
}
