/** A small line chart without uPlot, so that tables do not wait for it. */

/** A line without axes for a table cell. */
export function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const most = Math.max(...values, 0);
  const [width, height] = [84, 20];
  const step = width / Math.max(1, values.length - 1);
  const at = (value: number): number => height - 1 - (most === 0 ? 0 : (value / most) * (height - 2));
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${at(value).toFixed(1)}`).join(' ');
  return (
    <svg width={width} height={height} role="img" aria-label={label} className="sparkline">
      <polyline points={points} fill="none" stroke="currentColor" strokeWidth="1.5" />
    </svg>
  );
}
