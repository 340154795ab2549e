/** Draws a chart: layers, bars, lines, and localized axes. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

/** A line, or a layer of a stack. */
export interface Series {
  readonly name: string;
  /** One value per moment; null if unknown. */
  readonly values: readonly (number | null)[];
  /** The series of all others: grey. */
  readonly rest?: boolean;
  /** The colour index, if series before it are left out. */
  readonly place?: number;
  /** A line above layers and bars that is not stacked: a budget, a forecast. */
  readonly line?: 'solid' | 'dashed';
}

/** A chart. */
export interface Plotted {
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly colors: readonly string[];
  readonly stacked: boolean;
  readonly bars: boolean;
  /** Seconds between moments. */
  readonly step: number;
  readonly style: { readonly ink: string; readonly grid: string; readonly font: string };
  show(value: number): string;
  /** Formats a moment of the axis; the argument is the distance of the ticks in seconds. */
  tick(at: number, apart: number): string;
  /** The time zone whose midnights the axis shows. */
  readonly zone: string;
}

/** The bounds of each layer; a line has only one. */
export interface Layer {
  readonly bases: readonly number[] | undefined;
  readonly tops: readonly (number | null)[];
}

/** Stacks the layers. */
export function layersOf(series: readonly Series[], stacked: boolean): readonly Layer[] {
  const heights: number[] = [];
  return series.map(({ values, line }) => {
    if (line !== undefined) return { bases: undefined, tops: values };
    if (!stacked) return { bases: values.map(() => 0), tops: values };
    const bases = values.map((_, at) => heights[at] ?? 0);
    const tops = values.map((value, at) => (bases[at] ?? 0) + (value ?? 0));
    for (const [at, top] of tops.entries()) heights[at] = top;
    return { bases, tops };
  });
}

/** The maximum width of a bar in CSS pixels. */
const WIDEST = 40;
const FULL = 0.74;

/** Draws into an element. `moved`: called when the pointer or the keyboard selects another moment. */
export function plot(
  of: Plotted,
  size: { width: number; height: number },
  place: HTMLElement,
  moved: (plot: uPlot) => void,
) {
  const { times, series, style, step, colors } = of;
  const layers = layersOf(series, of.stacked);
  // An area with a single moment has no width.
  const bars = of.bars || (of.stacked && times.length < 2);
  const sided = bars && !of.stacked ? series.filter(({ line }) => line === undefined).length : 1;
  const axis = {
    stroke: style.ink,
    font: `11px ${style.font}`,
    grid: { stroke: style.grid, width: 1 },
    ticks: { stroke: style.grid, width: 1, size: 4 },
  };
  const flat = series.every(({ values }) => values.every((value) => value === null || value === 0));
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const isInteger = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));
  const lines = series.map(({ name, line }, at): uPlot.Series => {
    const color = colors[at] ?? '#888';
    const layer = layers[at] ?? { bases: [], tops: [] };
    if (line !== undefined)
      return {
        label: name,
        stroke: color,
        width: 2,
        ...(line === 'dashed' && { dash: [6, 4] }),
        points: { show: false },
      };
    if (bars) {
      const side = of.stacked ? 0 : series.slice(0, at).filter((each) => each.line === undefined).length;
      return {
        label: name,
        fill: color,
        width: 0,
        points: { show: false },
        paths: barsOf(times, layer, step, side, sided),
      };
    }
    if (of.stacked) return { label: name, fill: color, width: 0, points: { show: false }, paths: areaOf(times, layer) };
    const alone = series.length === 1;
    return {
      label: name,
      stroke: color,
      width: 1.75,
      ...(alone && { fill: `${color}22` }),
      points: { show: times.length < 3 },
    };
  });
  const options: uPlot.Options = {
    ...size,
    // Space on the right for half of the last label.
    padding: [10, 26, 0, 0],
    legend: { show: false },
    cursor: {
      // The whole column is highlighted.
      x: !bars,
      y: false,
      drag: { x: false, y: false },
      points: { show: !bars, size: 7 },
    },
    focus: { alpha: 0.35 },
    tzDate: (at: number) => uPlot.tzDate(new Date(at * 1_000), of.zone === 'UTC' ? 'Etc/UTC' : of.zone),
    scales: {
      x: {
        time: true,
        // The full range, always: the chart is not zoomed, and uPlot would extend a single moment to years.
        range: () => (bars || first === last ? [first - step / 2, last + step / 2] : [first, last]),
      },
      y: { range: (_, least, most) => [least < 0 ? least * 1.08 : 0, most > 0 ? most * 1.08 : least < 0 ? 0 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 68,
        // No ticks between moments.
        incrs: INCREMENTS.filter((each) => each >= step),
        values: (_, splits, __, ___, apart) => splits.map((at) => of.tick(at, apart)),
      },
      {
        ...axis,
        space: 34,
        ...(isInteger && { incrs: WHOLE }),
        size: (_, values) => 14 + 6.5 * Math.max(3, ...(values ?? []).map((value) => value.length)),
        values: (_, splits) => splits.map((value) => (value === 0 ? '0' : flat ? '' : of.show(value))),
      },
    ],
    series: [{}, ...lines],
    hooks: { setCursor: [moved] },
  };
  return new uPlot(options, [[...times], ...layers.map(({ tops }) => [...tops])] as uPlot.AlignedData, place);
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The possible distances of axis labels. */
const INCREMENTS = [
  ...[1, 5, 10, 30].flatMap((each) => [each, each * MINUTE]),
  ...[1, 2, 3, 6, 12].map((each) => each * HOUR),
  // Multiples of 30 days are shown as calendar months.
  ...[1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365].map((each) => each * DAY),
].sort((a, b) => a - b);
/** Counts have no fractions. */
const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((each) => each * 10 ** power)).flat();

/** The upper edge of a layer, and back along the lower one. */
function areaOf(times: readonly number[], { bases = [], tops }: Layer): uPlot.Series.PathBuilder {
  return (u) => {
    const fill = new Path2D();
    const x = (at: number): number => u.valToPos(times[at] ?? 0, 'x', true);
    const y = (value: number | null | undefined): number => u.valToPos(value ?? 0, 'y', true);
    for (const [at, top] of tops.entries()) fill.lineTo(x(at), y(top));
    for (let at = tops.length - 1; at >= 0; at--) fill.lineTo(x(at), y(bases[at]));
    fill.closePath();
    return { fill, stroke: null, flags: 0 };
  };
}

/** Bars for each moment, side by side unless stacked, with a small gap between layers. */
function barsOf(
  times: readonly number[],
  { bases = [], tops }: Layer,
  step: number,
  side: number,
  sides: number,
): uPlot.Series.PathBuilder {
  return (u) => {
    const fill = new Path2D();
    const first = times[0] ?? 0;
    const room = Math.abs(u.valToPos(first + step, 'x', true) - u.valToPos(first, 'x', true));
    const wide = Math.max(1, Math.min(room * FULL, WIDEST * sides * uPlot.pxRatio));
    for (const [at, top] of tops.entries()) {
      const base = bases[at] ?? 0;
      if (top === null || top === base) continue;
      const left = Math.round(u.valToPos(times[at] ?? 0, 'x', true) - wide / 2 + (side * wide) / sides);
      const [high, low] = [u.valToPos(top, 'y', true), u.valToPos(base, 'y', true)].sort((a, b) => a - b) as [
        number,
        number,
      ];
      const hair = base !== 0 && low - high > 4 ? uPlot.pxRatio : 0;
      // Non-zero values are always visible.
      fill.rect(left, high, Math.max(1, Math.round(wide / sides)), Math.max(low - high - hair, base === 0 ? 1 : 0.5));
    }
    return { fill, stroke: null, flags: 0 };
  };
}

/** The layer below the pointer, or the line nearest to it. */
export function layerAt(plotted: uPlot, layers: readonly Layer[], stacked: boolean): number | undefined {
  const { idx, top } = plotted.cursor;
  if (idx === null || idx === undefined || top === undefined || top < 0) return undefined;
  const value = plotted.posToVal(top, 'y');
  if (stacked) {
    const index = layers.findIndex(
      ({ bases, tops }) => bases !== undefined && value > (bases[idx] ?? 0) && value <= (tops[idx] ?? 0),
    );
    if (index >= 0) return index;
  }
  let nearest: { at: number; distance: number } | undefined;
  for (const [at, { bases, tops }] of layers.entries()) {
    const edge = tops[idx];
    if (edge === null || edge === undefined || (stacked && bases !== undefined)) continue;
    const distance = Math.abs(plotted.valToPos(edge, 'y') - top);
    if (distance <= NEAR && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) nearest = { at, distance };
  }
  return nearest?.at;
}
/** CSS pixels. */
const NEAR = 16;
