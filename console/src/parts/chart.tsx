/** Charts of values over time, drawn by uPlot, usable with pointer, keyboard and screen reader, and available as a table. */
import { Box } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { type Format, useFormat } from '../shell/format.ts';
import { texts } from '../text.ts';
import { placesOf, useSeriesColor } from './chart-colors.ts';
import { layerAt, layersOf, plot, type Series } from './chart-plot.ts';
import { ChartTable } from './chart-table.tsx';
import { ChartTip, rowsAt, Swatch, useSpokenText } from './chart-tip.tsx';
import './chart.css';

/** From this distance in seconds on, moments are days. */
const DAY_S = 86_400;

/** The smallest distance between moments; for a single moment, one day. */
function stepOf(times: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 1; at < times.length; at++) least = Math.min(least, (times[at] ?? 0) - (times[at - 1] ?? 0));
  return Number.isFinite(least) && least > 0 ? least : DAY_S;
}

/** Formats a moment with the precision of the chart. Days are the UTC days of the ledger, hours are in the chosen zone. */
function momentWriter({ dates }: Format, step: number): (unix: number) => string {
  const day = { weekday: 'short', month: 'short', day: 'numeric' } as const;
  if (step >= DAY_S) return dates(day, true);
  const second = step < 60 ? ({ second: '2-digit' } as const) : {};
  return dates({ ...day, hour: 'numeric', minute: '2-digit', ...second, timeZoneName: 'short' });
}

/** Formats axis labels: the day at midnight, the time in between; months if there is no room for more. */
function tickWriter({ dates, zone }: Format, step: number): (unix: number, apart: number) => string {
  const utc = step >= DAY_S;
  const clock = dates({ hour: 'numeric', minute: '2-digit' }, utc);
  const exact = dates({ hour: 'numeric', minute: '2-digit', second: '2-digit' }, utc);
  const day = dates({ month: 'short', day: 'numeric' }, utc);
  const month = dates({ month: 'short', year: 'numeric' }, utc);
  // The chosen zone is UTC or that of the browser.
  const isMidnight = (unix: number): boolean =>
    utc || zone === 'UTC' ? unix % DAY_S === 0 : new Date(unix * 1_000).toTimeString().startsWith('00:00:00');
  return (unix, apart) => {
    if (apart >= 30 * DAY_S) return month(unix);
    if (apart >= DAY_S) return day(unix);
    // Ticks less than a minute apart show the seconds, with the hour, because 5:30 would look like a time of day.
    if (apart < 60) return exact(unix);
    return isMidnight(unix) ? day(unix) : clock(unix);
  };
}

export type { Series } from './chart-plot.ts';

const useText = texts({
  days: ['Days are UTC', '日期按 UTC 计算'],
  hours: [(zone: string) => `Times are ${zone}`, (zone: string) => `时间为 ${zone}`],
  read: [
    (label: string) => `${label}. Use the arrow keys to read each value.`,
    (label: string) => `${label}。用方向键逐个查看数值。`,
  ],
  nothing: ['No data yet.', '还没有数据。'],
});

/** A chart. `times`: ascending unix seconds. `stacked`: stacks the layers. `show` formats a value. */
export function Chart({
  label,
  times,
  series,
  stacked = false,
  bars = false,
  height = 200,
  show,
  unit,
  step = stepOf(times),
  onPick,
}: {
  /** The accessible name. */
  readonly label: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly stacked?: boolean;
  readonly bars?: boolean;
  readonly height?: number;
  show(value: number): string;
  /** The unit, if `show` does not include it. */
  readonly unit?: string;
  /** Seconds between two moments; needed if the chart has only one. */
  readonly step?: number;
  /** Called when the user selects a moment. */
  onPick?(time: number): void;
}) {
  const format = useFormat();
  const text = useText();
  const spoken = useSpokenText();
  const colorAt = useSeriesColor();
  const { ref, width } = useElementSize();
  const place = useRef<HTMLDivElement>(null);
  const plotted = useRef<uPlot>(undefined);
  const [at, setAt] = useState<{ index: number; x: number; y: number; layer: number | undefined }>();
  const [legend, setLegend] = useState<number>();
  const colors = placesOf(series).map(colorAt);
  const drawn = JSON.stringify([times, series, colors, unit]);
  const nothing = times.length === 0 || series.every(({ values }) => values.every((value) => value === null));
  const when = momentWriter(format, step);

  // biome-ignore lint/correctness/useExhaustiveDependencies: compared by content
  useEffect(() => {
    if (place.current === null || width === 0 || nothing) return;
    const style = getComputedStyle(place.current);
    const layers = layersOf(series, stacked);
    const asBars = bars || (stacked && times.length < 2);
    const column = document.createElement('div');
    column.className = 'chart-column';
    const moved = (moving: uPlot): void => {
      const { idx, left = -1, top = 0 } = moving.cursor;
      const index = left < 0 ? undefined : (idx ?? undefined);
      if (asBars) showColumn(column, moving, times, step, index);
      const { over } = moving;
      const x = over.offsetLeft + moving.valToPos(times[index ?? 0] ?? 0, 'x');
      const y = over.offsetTop + top;
      setAt(index === undefined ? undefined : { index, x, y, layer: layerAt(moving, layers, stacked) });
    };
    const uplot = plot(
      {
        times,
        series,
        colors,
        stacked,
        bars,
        step,
        zone: step >= DAY_S ? 'UTC' : format.zone,
        show,
        tick: tickWriter(format, step),
        style: {
          ink: style.getPropertyValue('--mantine-color-dimmed'),
          grid: style.getPropertyValue('--mantine-color-default-border'),
          font: style.fontFamily,
        },
      },
      { width, height },
      place.current,
      moved,
    );
    uplot.over.append(column);
    column.hidden = true;
    plotted.current = uplot;
    return () => {
      plotted.current = undefined;
      setAt(undefined);
      uplot.destroy();
    };
  }, [drawn, width, height, stacked, bars, format, step, nothing]);

  const bright = legend ?? at?.layer;
  // biome-ignore lint/correctness/useExhaustiveDependencies: dim again after each redraw
  useEffect(() => {
    plotted.current?.setSeries(bright === undefined ? null : bright + 1, { focus: true });
  }, [bright, drawn, width]);

  const go = (index: number): void => {
    const uplot = plotted.current;
    const time = times[index];
    if (uplot === undefined || time === undefined) return;
    uplot.setCursor({ left: uplot.valToPos(time, 'x'), top: uplot.over.clientHeight / 3 });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      PageDown: -7,
      PageUp: 7,
    };
    const last = times.length - 1;
    const now = at?.index ?? (steps[event.key] === -1 ? times.length : -1);
    const by = steps[event.key];
    if (by !== undefined) go(Math.max(0, Math.min(last, now + by)));
    else if (event.key === 'Home') go(0);
    else if (event.key === 'End') go(last);
    else if (event.key === 'Escape') plotted.current?.setCursor({ left: -10, top: -10 });
    else if (event.key === 'Enter' && at !== undefined) onPick?.(times[at.index] ?? 0);
    else return;
    event.preventDefault();
  };

  const index = at?.index ?? times.length - 1;
  const time = times[index];
  const rows = rowsAt(series, index);
  return (
    <Box miw={0}>
      {!nothing && (
        <div className="chart-head" aria-hidden>
          <span>{unit}</span>
          <span>{step >= DAY_S ? text.days : text.hours(format.zone)}</span>
        </div>
      )}
      <div className="chart-frame">
        <Box ref={ref} mih={height} className={onPick === undefined ? 'chart' : 'chart chart-picks'}>
          {nothing ? (
            <div className="chart-nothing" style={{ height }}>
              {text.nothing}
            </div>
          ) : (
            // biome-ignore lint/a11y/useKeyWithClickEvents: keyboard selection is handled below
            <div
              ref={place}
              role="img"
              aria-label={label}
              onClick={onPick === undefined || at === undefined ? undefined : () => onPick(times[at.index] ?? 0)}
            />
          )}
        </Box>
        {!nothing && time !== undefined && (
          <div
            className="chart-reader"
            role="slider"
            tabIndex={0}
            aria-label={text.read(label)}
            aria-valuemin={0}
            aria-valuemax={times.length - 1}
            aria-valuenow={index}
            aria-valuetext={spoken(when(time), rows, stacked, show)}
            onKeyDown={onKeyDown}
            onBlur={() => plotted.current?.setCursor({ left: -10, top: -10 })}
          />
        )}
        {at !== undefined && time !== undefined && (
          <ChartTip
            when={when(time)}
            rows={rows}
            colors={colors}
            lit={bright}
            stacked={stacked}
            show={show}
            place={{ x: at.x, y: at.y, width }}
          />
        )}
      </div>
      {series.length > 1 && !nothing && (
        <ul className="chart-legend" aria-hidden onMouseLeave={() => setLegend(undefined)}>
          {series.map(({ name, line }, which) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: series are identified by their index
            <li key={which} data-dim={bright !== undefined && bright !== which} onMouseEnter={() => setLegend(which)}>
              <Swatch color={colors[which] ?? ''} line={line} />
              <span>{name}</span>
            </li>
          ))}
        </ul>
      )}
      {!nothing && <ChartTable label={label} times={times} series={series} when={when} show={show} />}
    </Box>
  );
}

/** Highlights the column of a bar. */
function showColumn(
  column: HTMLElement,
  uplot: uPlot,
  times: readonly number[],
  step: number,
  index: number | undefined,
): void {
  const time = index === undefined ? undefined : times[index];
  column.hidden = time === undefined;
  if (time === undefined) return;
  const left = uplot.valToPos(time - step / 2, 'x');
  column.style.left = `${left}px`;
  column.style.width = `${uplot.valToPos(time + step / 2, 'x') - left}px`;
}
