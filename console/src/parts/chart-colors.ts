/** Colours of charts: seven that everybody tells apart, whatever colours their eyes know, and grey for all others. */
import { useComputedColorScheme } from '@mantine/core';

/**
 * Any two of them are told apart, also by people without red, green or blue cones, and each has a contrast of 3:1 to the page. The
 * same place has the same hue in light and dark.
 */
const COLORS = {
  light: ['#176640', '#3449f0', '#bc663b', '#873daf', '#721523', '#b19207', '#0c97cb'],
  dark: ['#54d29d', '#526bc7', '#e47e2e', '#c39deb', '#d72222', '#eff216', '#95fdff'],
} as const;
const REST = '#868e96';

/** So many series have a colour of their own; what is more should be one series of all others. */
export const MOST_SERIES = COLORS.light.length;

/** The colour of the series at a place, for whoever looks; `undefined`: of all others. */
export function useSeriesColor(): (at: number | undefined) => string {
  const scheme = useComputedColorScheme('light');
  return (at) => (at === undefined ? undefined : COLORS[scheme][at]) ?? REST;
}

/** Which place each series has: those that are no rest count up. */
export function placesOf(
  series: readonly { readonly rest?: boolean; readonly place?: number }[],
): readonly (number | undefined)[] {
  let next = 0;
  return series.map(({ rest, place }) => (rest === true ? undefined : (place ?? next++)));
}
