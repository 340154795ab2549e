/** A chart as a table: for whoever cannot see it, and for whoever wants the numbers. */
import { useState } from 'react';
import { texts, useText } from '../text.ts';
import type { Series } from './chart-plot.ts';

const TEXT = texts({ table: 'As a table', time: 'Time' }, { table: '以表格显示', time: '时间' });

/** Opened by whoever wants it; there are no rows before. */
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
  const text = useText(TEXT);
  const [opened, setOpened] = useState(false);
  return (
    <details className="chart-table" onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{text.table}</summary>
      {opened && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: whatever scrolls must be reached by keyboard
        <section className="table-frame" tabIndex={0} aria-label={label}>
          <table aria-label={label}>
            <thead>
              <tr>
                <th scope="col">{text.time}</th>
                {series.map(({ name }, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: their place is what they are told apart by
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
                      // biome-ignore lint/suspicious/noArrayIndexKey: their place is what they are told apart by
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
