/** A chart as a table: for screen readers, and for exact numbers. */
import { useState } from 'react';
import { texts } from '../text.ts';
import type { Series } from './chart-plot.ts';

const useText = texts({ table: ['Show as a table', '显示为表格'], time: ['Time', '时间'] });

/** Rows are rendered only after it is opened. */
export function ChartTable({
  label,
  times,
  series,
  when,
  show,
}: {
  readonly label: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  when(unix: number): string;
  show(value: number): string;
}) {
  const text = useText();
  const [opened, setOpened] = useState(false);
  return (
    <details className="chart-table" onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{text.table}</summary>
      {opened && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be focusable
        <section className="table-frame" tabIndex={0} aria-label={label}>
          <table aria-label={label}>
            <thead>
              <tr>
                <th scope="col">{text.time}</th>
                {series.map(({ name }, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: series are identified by their index
                  <th key={at} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((time, row) => (
                <tr key={time}>
                  <th scope="row">{when(time)}</th>
                  {series.map(({ values }, at) => {
                    const value = values[row];
                    return (
                      // biome-ignore lint/suspicious/noArrayIndexKey: series are identified by their index
                      <td key={at} className="number">
                        {value === null || value === undefined ? '' : show(value)}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
