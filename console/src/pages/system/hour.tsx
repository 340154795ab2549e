/** Charts of the last hour of the process. */
import { Text } from '@mantine/core';
import { Chart, type Series } from '../../parts/chart.tsx';
import { Section } from '../../parts/page.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import type { Sample } from './judge.ts';
import { TEXT } from './text.ts';

/** Five charts. */
export function LastHour({ history }: { readonly history: readonly Sample[] }) {
  const text = useText(TEXT);
  const format = useFormat();
  const chartText = text.charts;
  const times = history.map(({ at }) => at);
  const series = (name: string, of: (sample: Sample) => number): Series => ({
    name,
    values: history.map(of),
    line: 'solid',
  });
  const chart = (label: string, drawn: readonly Series[], show: (value: number) => string) => (
    <div>
      <Text size="sm" fw={600} component="h3" m={0}>
        {label}
      </Text>
      <Chart label={label} times={times} series={drawn} show={show} step={10} height={140} />
    </div>
  );
  return (
    <Section title={text.hour} about={text.hourAbout}>
      <div className="two-columns">
        {chart(
          chartText.memory,
          [series(chartText.rss, ({ rss }) => rss), series(chartText.heap, (sample) => sample.heap_used)],
          format.bytes,
        )}
        {chart(chartText.lag, [series(chartText.lag, (sample) => sample.lag_ms)], format.duration)}
        {chart(chartText.cpu, [series(chartText.cpu, ({ cpu }) => cpu)], format.number)}
        {chart(chartText.calls, [series(chartText.calls, (sample) => sample.in_flight)], format.number)}
        {chart(chartText.waiting, [series(chartText.waiting, ({ waiting }) => waiting)], format.number)}
      </div>
    </Section>
  );
}
