/** What is said of one moment of a chart: when it is, and every series, those that are most first. */
import { useLayoutEffect, useRef } from 'react';
import { texts, useText } from '../text.ts';
import type { Series } from './chart-plot.ts';

const TEXT = texts(
  { total: 'Total', more: (count: number) => `and ${count} more` },
  { total: '合计', more: (count: number) => `另有 ${count} 项` },
);

/** Rows of a tip. */
const MOST_ROWS = 9;
/** So far from the moment that it tells of. */
const AWAY = 12;

/** A small square, or a line, in the colour of a series. */
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

/** A series at one moment. */
export interface Told {
  readonly at: number;
  readonly name: string;
  readonly value: number;
  readonly line: Series['line'];
}

/** Those that have a value there; layers that are nothing are left out, unless all are. */
export function toldAt(series: readonly Series[], index: number): readonly Told[] {
  const all = series.flatMap(({ name, values, line }, at) => {
    const value = values[index];
    return value === null || value === undefined ? [] : [{ at, name, value, line }];
  });
  const some = all.filter(({ value, line }) => value !== 0 || line !== undefined);
  return (some.length > 0 ? some : all.slice(0, 1)).toSorted((a, b) => b.value - a.value);
}

/** What layers come to. */
function totalOf(told: readonly Told[]): number {
  return told.reduce((sum, { value, line }) => (line === undefined ? sum + value : sum), 0);
}

/** The tip. */
export function ChartTip({
  when,
  told,
  colors,
  lit,
  stacked,
  show,
  place,
}: {
  readonly when: string;
  readonly told: readonly Told[];
  readonly colors: readonly string[];
  /** The series that the pointer is on. */
  readonly lit: number | undefined;
  readonly stacked: boolean;
  show(value: number): string;
  /** Where the moment is, and how wide the frame is that the tip must not leave. */
  readonly place: { readonly x: number; readonly y: number; readonly width: number };
}) {
  const text = useText(TEXT);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const tip = box.current;
    if (tip === null) return;
    const wide = tip.offsetWidth;
    const beside = place.x + wide + AWAY > place.width ? place.x - wide - AWAY : place.x + AWAY;
    tip.style.left = `${Math.max(0, Math.min(beside, place.width - wide))}px`;
    tip.style.top = `${Math.max(0, place.y - tip.offsetHeight / 2)}px`;
  });
  const shown = told.slice(0, MOST_ROWS);
  return (
    <div ref={box} className="chart-tip" aria-hidden>
      <div>{when}</div>
      {shown.map(({ at, name, value, line }) => (
        <div key={at} className="chart-tip-row" data-lit={lit === at}>
          <Swatch color={colors[at] ?? ''} line={line} />
          <span className="chart-tip-name">{name}</span>
          <span className="number">{show(value)}</span>
        </div>
      ))}
      {told.length > shown.length && <div>{text.more(told.length - shown.length)}</div>}
      {stacked && told.filter(({ line }) => line === undefined).length > 1 && (
        <div className="chart-tip-row" data-lit={false}>
          <span className="chart-tip-name">{text.total}</span>
          <span className="number">{show(totalOf(told))}</span>
        </div>
      )}
    </div>
  );
}

/** The same in a sentence. */
export function useSpoken(): (
  when: string,
  told: readonly Told[],
  stacked: boolean,
  show: (value: number) => string,
) => string {
  const text = useText(TEXT);
  return (when, told, stacked, show) => {
    const parts = told.slice(0, MOST_ROWS).map(({ name, value }) => `${name} ${show(value)}`);
    const total = stacked && told.length > 1 ? [`${text.total} ${show(totalOf(told))}`] : [];
    return [when, ...total, ...parts].join(', ');
  };
}
