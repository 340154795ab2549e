/** The tables of a bench, in Markdown: what everybody takes, and how far Turnpike is from its targets. */
import type { Measured } from './measurements.ts';
import { BYTES, TRANSLATED } from './pairs.ts';
import { added, addedRatio, type Pick, type Rounds, ratio, typical, type Who } from './rounds.ts';

const cpu: Pick = (sample) => sample.cpu;
const perSecond: Pick = (sample) => sample.perSecond;
const p50: Pick = (sample) => sample.p50;
const p99: Pick = (sample) => sample.p99;
const firstByte: Pick = (sample) => sample.firstByteP50;
const cpuPerEvent: Pick = (sample) => sample.cpuPerEvent;
const eventDelay: Pick = (sample) => sample.eventDelayP99;
const failed: Pick = (sample) => sample.failed;
const perStream: Pick = ({ memoryBefore, memoryDuring, answered, failed }) =>
  memoryBefore === undefined || memoryDuring === undefined
    ? undefined
    : (memoryDuring - memoryBefore) / (answered + failed);

/** What we want of ourselves: a ratio or a size, and from where on it is good. */
interface Goal {
  readonly id: string;
  readonly what: string;
  readonly value: number | undefined;
  readonly must: number;
  readonly goal: number;
  readonly better: 'less' | 'more';
}

/** All tables. `titles` says how everybody is called. */
export function report(measured: Measured, titles: ReadonlyMap<Who, string>): string {
  const { whole, calm, manyStreams, fewStreams, translated, held, heldStreams } = measured;
  const rows = (rounds: Rounds, cells: (who: Who) => readonly string[]) =>
    [...rounds.keys()].map((who) => [titles.get(who) ?? who, ...cells(who)]);
  const parts = [
    heading('Whole answers: 2 KB request, 1 KB answer, 64 connections, the server on one core'),
    table(
      ['', 'CPU µs/request', '× bare', 'Portkey / it', 'requests/s', '× bare', 'p50 µs', 'p99 µs', 'failed'],
      rows(whole, (who) => [
        number(typical(whole, who, cpu), 1),
        number(ratio(whole, who, 'bare', cpu), 2),
        number(ratio(whole, 'portkey', who, cpu), 1),
        number(typical(whole, who, perSecond)),
        number(ratio(whole, who, 'bare', perSecond), 2),
        number(typical(whole, who, p50)),
        number(typical(whole, who, p99)),
        number(typical(whole, who, failed)),
      ]),
    ),
  ];
  if (calm !== undefined) {
    parts.push(
      heading('Latency added to a direct call, 200 requests/s, the server on both cores'),
      table(
        ['', 'p50 µs', 'p99 µs', 'added p50 µs', '× bare', 'Portkey / it', 'added p99 µs', 'CPU µs/request'],
        rows(calm, (who) => [
          number(typical(calm, who, p50)),
          number(typical(calm, who, p99)),
          ...(who === 'direct'
            ? ['', '', '', '']
            : [
                number(added(calm, who, p50)),
                number(addedRatio(calm, who, 'bare', p50), 2),
                number(addedRatio(calm, 'portkey', who, p50), 1),
                number(added(calm, who, p99)),
              ]),
          number(typical(calm, who, cpu)),
        ]),
      ),
    );
  }
  if (manyStreams !== undefined) {
    parts.push(
      heading('200 streams, 20,000 events/s, the server on one core'),
      table(
        ['', 'CPU µs/event', '× bare', 'Portkey / it', 'event delay p99 µs', 'failed'],
        rows(manyStreams, (who) => [
          number(typical(manyStreams, who, cpuPerEvent), 1),
          number(ratio(manyStreams, who, 'bare', cpuPerEvent), 2),
          number(ratio(manyStreams, 'portkey', who, cpuPerEvent), 1),
          number(typical(manyStreams, who, eventDelay)),
          number(typical(manyStreams, who, failed)),
        ]),
      ),
    );
  }
  if (fewStreams !== undefined) {
    parts.push(
      heading('32 streams that begin in the same instant, 3,200 events/s'),
      table(
        ['', 'first byte p50 µs', 'added µs', '× bare', 'Portkey / it', 'event delay p99 µs', 'CPU µs/event'],
        rows(fewStreams, (who) => [
          number(typical(fewStreams, who, firstByte)),
          ...(who === 'direct'
            ? ['', '', '']
            : [
                number(added(fewStreams, who, firstByte)),
                number(addedRatio(fewStreams, who, 'bare', firstByte), 2),
                number(addedRatio(fewStreams, 'portkey', who, firstByte), 1),
              ]),
          number(typical(fewStreams, who, eventDelay)),
          number(typical(fewStreams, who, cpuPerEvent), 1),
        ]),
      ),
    );
  }
  if (translated !== undefined) {
    parts.push(
      heading('Translated: 200 streams, 20,000 events/s, the server on one core'),
      table(
        ['', 'CPU µs/event', '× bytes', 'failed'],
        [...translated.keys()].map((pair) => [
          pair.title,
          number(typical(translated, pair, cpuPerEvent), 1),
          number(ratio(translated, pair, BYTES, cpuPerEvent), 2),
          number(typical(translated, pair, failed)),
        ]),
      ),
    );
  }
  if (held !== undefined) {
    parts.push(
      heading(`${heldStreams} streams held`),
      table(
        ['', 'KiB per stream', 'Portkey / it', 'MiB before', 'MiB with them', 'failed'],
        rows(held, (who) => [
          number(typical(held, who, perStream), 1),
          number(ratio(held, 'portkey', who, perStream), 1),
          number(typical(held, who, (sample) => sample.memoryBefore && sample.memoryBefore / 1_024)),
          number(typical(held, who, (sample) => sample.memoryDuring && sample.memoryDuring / 1_024)),
          number(typical(held, who, failed)),
        ]),
      ),
    );
  }
  parts.push(heading('Targets'), targetTable(goals(measured)));
  return `${parts.join('\n')}\n`;
}

const NONE: Rounds = new Map();

function goals(measured: Measured): readonly Goal[] {
  const { whole, calm = NONE, manyStreams = NONE, fewStreams = NONE, translated = new Map(), held = NONE } = measured;
  const bareCpu = ratio(whole, 'turnpike', 'bare', cpu);
  return [
    { id: 'T1', what: 'CPU per request, × bare', value: bareCpu, must: 0.8, goal: 0.65, better: 'less' },
    {
      id: 'T1',
      what: 'CPU per request, Portkey / ours',
      value: ratio(whole, 'portkey', 'turnpike', cpu),
      must: 15,
      goal: 20,
      better: 'more',
    },
    {
      id: 'T2',
      what: 'requests per second, × bare',
      value: ratio(whole, 'turnpike', 'bare', perSecond),
      must: 1.25,
      goal: 1.6,
      better: 'more',
    },
    {
      id: 'T2',
      what: 'requests per second, ours / Portkey',
      value: ratio(whole, 'turnpike', 'portkey', perSecond),
      must: 15,
      goal: 20,
      better: 'more',
    },
    {
      id: 'T3',
      what: 'CPU per request with every answer on disk before it leaves, × bare',
      value: bareCpu,
      must: 0.85,
      goal: 0.72,
      better: 'less',
    },
    {
      id: 'T4',
      what: 'added p50 at 200 requests/s, × bare',
      value: addedRatio(calm, 'turnpike', 'bare', p50),
      must: 1.1,
      goal: 0.9,
      better: 'less',
    },
    {
      id: 'T4',
      what: 'added p50 at 200 requests/s, Portkey / ours',
      value: addedRatio(calm, 'portkey', 'turnpike', p50),
      must: 6,
      goal: 7,
      better: 'more',
    },
    {
      id: 'T5',
      what: 'CPU per event at 20,000 events/s, × bare',
      value: ratio(manyStreams, 'turnpike', 'bare', cpuPerEvent),
      must: 0.95,
      goal: 0.8,
      better: 'less',
    },
    {
      id: 'T5',
      what: 'CPU per event at 3,200 events/s, Portkey / ours',
      value: ratio(fewStreams, 'portkey', 'turnpike', cpuPerEvent),
      must: 3,
      goal: 3.5,
      better: 'more',
    },
    {
      id: 'T6',
      what: 'added time to the first byte of 32 streams, × bare',
      value: addedRatio(fewStreams, 'turnpike', 'bare', firstByte),
      must: 1,
      goal: 0.75,
      better: 'less',
    },
    {
      id: 'T6',
      what: 'added time to the first byte of 32 streams, Portkey / ours',
      value: addedRatio(fewStreams, 'portkey', 'turnpike', firstByte),
      must: 50,
      goal: 80,
      better: 'more',
    },
    {
      id: 'T7',
      what: 'memory per held stream, KiB',
      value: typical(held, 'turnpike', perStream),
      must: 40,
      goal: 30,
      better: 'less',
    },
    {
      id: 'T7',
      what: 'memory per held stream, Portkey / ours',
      value: ratio(held, 'portkey', 'turnpike', perStream),
      must: 3,
      goal: 4,
      better: 'more',
    },
    ...TRANSLATED.map((pair) => ({
      id: 'T10',
      what: `CPU per event, translated (${pair.title}), × bytes`,
      value: ratio(translated, pair, BYTES, cpuPerEvent),
      must: 3,
      goal: 2,
      better: 'less' as const,
    })),
  ];
}

function targetTable(all: readonly Goal[]): string {
  const rows = all.map((goal) => [
    goal.id,
    goal.what,
    number(goal.value, 2),
    bound(goal, goal.must),
    bound(goal, goal.goal),
    verdict(goal),
  ]);
  return table(['', 'measure', 'here', 'must', 'goal', ''], rows);
}

function bound({ better }: Goal, limit: number): string {
  return `${better === 'less' ? '≤' : '≥'} ${limit}`;
}

function verdict({ value, must, goal, better }: Goal): string {
  if (value === undefined) return 'not measured';
  const reaches = (limit: number): boolean => (better === 'less' ? value <= limit : value >= limit);
  if (reaches(goal)) return 'goal reached';
  if (reaches(must)) return 'reached';
  const times = better === 'less' ? value / must : must / value;
  return `missed by ${number((times - 1) * 100)} %`;
}

function heading(text: string): string {
  return `\n## ${text}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, i) =>
    Math.max(...[cell, ...rows.map((row) => row[i] ?? '')].map((text) => text.length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n');
}

function number(value: number | undefined, digits = 0): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
