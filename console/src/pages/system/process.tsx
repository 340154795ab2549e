/** The process: memory, event loop, CPU. */
import { Text } from '@mantine/core';
import { Section } from '../../parts/page.tsx';
import { Meter } from '../../parts/values.tsx';
import { useFormat } from '../../shell/format.ts';
import { useText } from '../../text.ts';
import { coresUsed, cpuTone, heapTone, lagTone, loadTone, memoryTone, type Sample, type Vitals } from './judge.ts';
import { Reading } from './reading.tsx';
import { TEXT } from './text.ts';

/** Its figures. */
export function ProcessReadings({ vitals, history }: { readonly vitals: Vitals; readonly history: readonly Sample[] }) {
  const text = useText(TEXT);
  const format = useFormat();
  const { memory, lag, cpu } = vitals;
  const cores = coresUsed(history);
  return (
    <Section flush title={text.process}>
      <Reading name={text.memory} tone={memoryTone(vitals)} about={text.memoryAbout}>
        <Meter label={text.ofMachine} used={memory.rss} limit={memory.machine} show={format.bytes} />
      </Reading>
      <Reading name={text.heap} tone={heapTone(vitals)} about={text.heapAbout}>
        <Meter label={text.ofLimit} used={memory.heap_used} limit={memory.heap_limit} show={format.bytes} />
      </Reading>
      <Reading
        name={text.lag}
        tone={lagTone(vitals)}
        about={text.lagAbout}
        value={
          lag === null
            ? text.lagUnknown
            : text.lagValue(format.duration(lag.p50_ms), format.duration(lag.p99_ms), format.duration(lag.max_ms))
        }
      />
      <Reading
        name={text.cpu}
        tone={cpuTone(cores)}
        about={text.cpuAbout}
        value={cores === undefined ? text.lagUnknown : text.cpuValue(format.percent(cores))}
      >
        <Text size="xs" c="dimmed">
          {text.cpuUsed(format.duration(cpu.user * 1_000), format.duration(cpu.system * 1_000))}
        </Text>
      </Reading>
      <Reading
        name={text.load}
        tone={loadTone(vitals)}
        about={text.loadAbout}
        value={text.loadValue(cpu.load.map(format.number).join(' · '), format.number(cpu.cores))}
      />
    </Section>
  );
}
