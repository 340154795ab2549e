/** The tooltip of a chart: the moment, and its series in descending order. */
import { useLayoutEffect, useRef } from 'react';
import { texts } from '../text.ts';
import type { Series } from './chart-plot.ts';

const useText = texts({
  total: ['Total', '合计'],
  more: [(count: number) => `and ${count} more`, (count: number) => `另有 ${count} 项`],
});

const MOST_ROWS = 9;
/** The distance from the moment in CSS pixels. */
const AWAY = 12;

/** A square or a line in the colour of a series. */
export function Swatch({ color, line }: { readonly color: string; readonly line?: Series['line'] }) {
  return (
    <svg width="10" height="10" aria-hidden="true" className="swatch">
      {line === undefined ? (
        <rect width="10" height="10" rx="2" fill={color} />
      ) : (
        <path d="M0 5h10" stroke={color} strokeWidth="2.5" strokeDasharray={line === 'dashed' ? '4 2' : undefined} />
      )}
    </svg>
  );
}

/** The value of a series at a moment. */
export interface TipRow {
  readonly at: number;
  readonly name: string;
  readonly value: number;
  readonly line: Series['line'];
}

/** Series with a value; zero layers are left out, unless all are zero. */
export function rowsAt(series: readonly Series[], index: number): readonly TipRow[] {
  const all = series.flatMap(({ name, values, line }, at) => {
    const value = values[index];
    return value === null || value === undefined ? [] : [{ at, name, value, line }];
  });
  const nonZero = all.filter(({ value, line }) => value !== 0 || line !== undefined);
  return (nonZero.length > 0 ? nonZero : all.slice(0, 1)).toSorted((a, b) => b.value - a.value);
}

function totalOf(rows: readonly TipRow[]): number {
  return rows.reduce((sum, { value, line }) => (line === undefined ? sum + value : sum), 0);
}

/** The tooltip. */
export function ChartTip({
  when,
  rows,
  colors,
  lit,
  stacked,
  show,
  place,
}: {
  readonly when: string;
  readonly rows: readonly TipRow[];
  readonly colors: readonly string[];
  /** The series below the pointer. */
  readonly lit: number | undefined;
  readonly stacked: boolean;
  show(value: number): string;
  /** The position of the moment, and the width of the frame that the tooltip must stay in. */
  readonly place: { readonly x: number; readonly y: number; readonly width: number };
}) {
  const text = useText();
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const tip = box.current;
    if (tip === null) return;
    const wide = tip.offsetWidth;
    const beside = place.x + wide + AWAY > place.width ? place.x - wide - AWAY : place.x + AWAY;
    tip.style.left = `${Math.max(0, Math.min(beside, place.width - wide))}px`;
    tip.style.top = `${Math.max(0, place.y - tip.offsetHeight / 2)}px`;
  });
  const visible = rows.slice(0, MOST_ROWS);
  return (
    <div ref={box} className="chart-tip" aria-hidden>
      <div>{when}</div>
      {visible.map(({ at, name, value, line }) => (
        <div key={at} className="chart-tip-row" data-lit={lit === at}>
          <Swatch color={colors[at] ?? ''} line={line} />
          <span className="chart-tip-name">{name}</span>
          <span className="number">{show(value)}</span>
        </div>
      ))}
      {rows.length > visible.length && <div>{text.more(rows.length - visible.length)}</div>}
      {stacked && rows.filter(({ line }) => line === undefined).length > 1 && (
        <div className="chart-tip-row" data-lit={false}>
          <span className="chart-tip-name">{text.total}</span>
          <span className="number">{show(totalOf(rows))}</span>
        </div>
      )}
    </div>
  );
}

/** The same as a sentence. */
export function useSpokenText(): (
  when: string,
  rows: readonly TipRow[],
  stacked: boolean,
  show: (value: number) => string,
) => string {
  const text = useText();
  return (when, rows, stacked, show) => {
    const parts = rows.slice(0, MOST_ROWS).map(({ name, value }) => `${name} ${show(value)}`);
    const total = stacked && rows.length > 1 ? [`${text.total} ${show(totalOf(rows))}`] : [];
    return [when, ...total, ...parts].join(', ');
  };
}
