/** The tables of a bench, in Markdown: the cost of each variant, and Turnpike's distance to its targets. */
import { muchOf } from './growth.ts';
import type { Measured } from './measurements.ts';
import type { MeasuredNodes } from './nodes.ts';
import type { Outage } from './outages.ts';
import { BYTES } from './pairs.ts';
import type { MeasuredPeers } from './peers/measure.ts';
import {
  cpu,
  cpuPerEvent,
  eventDelay,
  failed,
  firstByte,
  lastFirstByte,
  p50,
  p99,
  perSecond,
  perStream,
} from './picks.ts';
import { added, addedRatio, type Pick, type Rounds, ratio, typical, type Who } from './rounds.ts';
import type { StoreCase, StoreSample } from './stores.ts';
import { type Recorded, type Target, timesWorse } from './targets.ts';
import type { VariantName } from './variants.ts';

/** All tables. `titles`: the names of the variants. */
export function report(
  measured: Measured,
  titles: ReadonlyMap<Who, string>,
  targets: readonly Target[],
  recorded: Recorded,
): string {
  const { whole, few, calm, manyStreams, fewStreams, restarted, translated, held, heldStreams } = measured;
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
  for (const [connections, rounds] of few) {
    const over = connections === 1 ? 'one connection' : `${connections} connections`;
    parts.push(
      heading(`The same over ${over}`),
      table(
        ['', 'CPU µs/request', '× bare', 'p50 µs', 'p99 µs', 'failed'],
        rows(rounds, (who) => [
          number(typical(rounds, who, cpu), 1),
          number(ratio(rounds, who, 'bare', cpu), 2),
          number(typical(rounds, who, p50)),
          number(typical(rounds, who, p99)),
          number(typical(rounds, who, failed)),
        ]),
      ),
    );
  }
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
  parts.push(
    heading('64 streams of 100 events, one each 20 ms, restarted as they end; the server on one core'),
    table(
      ['', 'first byte p50 µs', '× bare', 'p99 µs', '× bare', 'CPU µs/event', 'failed'],
      rows(restarted, (who) => [
        number(typical(restarted, who, firstByte)),
        number(ratio(restarted, who, 'bare', firstByte), 2),
        number(typical(restarted, who, lastFirstByte)),
        number(ratio(restarted, who, 'bare', lastFirstByte), 2),
        number(typical(restarted, who, cpuPerEvent), 1),
        number(typical(restarted, who, failed)),
      ]),
    ),
  );
  const { whole: answers, streams } = translated;
  parts.push(
    heading('Translated: whole answers, 64 connections; 200 streams, 20,000 events/s; the server on one core'),
    table(
      ['', 'CPU µs/request', '× same style', 'CPU µs/event', '× bytes', 'failed'],
      [...streams.keys()].map((pair) => [
        pair.title,
        number(typical(answers, pair, cpu), 1),
        number(ratio(answers, pair, BYTES, cpu), 2),
        number(typical(streams, pair, cpuPerEvent), 1),
        number(ratio(streams, pair, BYTES, cpuPerEvent), 2),
        number((typical(answers, pair, failed) ?? 0) + (typical(streams, pair, failed) ?? 0)),
      ]),
    ),
  );
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
  parts.push(...aloneTables(measured), heading('Targets'), targetTable(targets, recorded));
  return `${parts.join('\n')}\n`;
}

/** Measured for Turnpike only. */
function aloneTables({ starts, blocks, growth, storage, workers, postgres, usedMb }: Measured): readonly string[] {
  const parts: string[] = [];
  if (starts !== undefined) {
    const { readyS, idleMb } = starts;
    parts.push(
      heading('Start on an existing database'),
      `Ready after ${number(readyS, 2)} s, ${number(idleMb)} MB idle.`,
    );
  }
  parts.push(
    heading('Longest turn of the event loop during a request with an image of 10 MB'),
    table(
      ['', 'median ms', 'worst ms'],
      [
        ...[...blocks.requests].map(([{ title }, found]) => [title, number(found.typical, 1), number(found.worst, 1)]),
        ['no request', number(blocks.idle, 1), ''],
      ],
    ),
  );
  const { rounds, scale } = growth;
  parts.push(
    heading('The same calls as work grows'),
    table(
      ['', 'CPU µs/request', '× one of each', 'requests/s', 'failed'],
      [...rounds.keys()].map((grown) => [
        grown === 'nothing' ? '1 key, 1 model, empty database' : muchOf(grown, scale),
        number(typical(rounds, grown, cpu), 1),
        number(ratio(rounds, grown, 'nothing', cpu), 2),
        number(typical(rounds, grown, perSecond)),
        number(typical(rounds, grown, failed)),
      ]),
    ),
  );
  const { bytesPerCall, calls } = storage;
  parts.push(heading('Storage'), `${number(bytesPerCall)} bytes per call, over ${number(calls)} mixed calls.`);
  if (postgres !== undefined) {
    parts.push(
      heading(
        'One gateway on each store, 64 connections, on two cores, which it shares with the load and the database',
      ),
      table(
        ['', 'CPU µs/request', '× SQLite', 'requests/s', 'failed'],
        [...postgres.keys()].map((which) => [
          which === 'sqlite' ? 'SQLite' : 'PostgreSQL',
          number(typical(postgres, which, cpu), 1),
          number(ratio(postgres, which, 'sqlite', cpu), 2),
          number(typical(postgres, which, perSecond)),
          number(typical(postgres, which, failed)),
        ]),
      ),
    );
  }
  if (workers !== undefined) {
    parts.push(
      heading('Workers on two cores, which they share with the load'),
      table(
        ['', 'CPU µs/request', 'requests/s', 'failed'],
        [...workers.keys()].map((many) => [
          `${many}`,
          number(typical(workers, many, cpu), 1),
          number(typical(workers, many, perSecond)),
          number(typical(workers, many, failed)),
        ]),
      ),
    );
  }
  if (usedMb !== undefined) parts.push(heading('Memory after many calls'), `${number(usedMb)} MB.`);
  return parts;
}

/** The cost of the store. `bar`: maximum CPU per call on PostgreSQL relative to SQLite. */
export function storesReport(measured: Rounds<StoreCase, StoreSample>, bar = 1.3): string {
  const title = (which: StoreCase): string =>
    which === 'sqlite' ? 'SQLite' : `PostgreSQL, ${which} gateway${which === 1 ? '' : 's'}`;
  const all = (sample: StoreSample): number => sample.cpu + (sample.databaseCpu ?? 0);
  const relative = ratio(measured, 1, 'sqlite', ({ cpu }) => cpu);
  const verdict = relative === undefined || relative > bar ? 'missed' : 'reached';
  return [
    heading('Stores: whole answers of one account, 64 connections; latency at 200 requests/s'),
    table(
      [
        '',
        'CPU µs/call',
        '× SQLite',
        'database CPU µs/call',
        'both, × one gateway',
        'calls/commit',
        'calls/s',
        'p50 µs',
        'p99 µs',
        'failed',
      ],
      [...measured.keys()].map((which) => [
        title(which),
        number(
          typical(measured, which, ({ cpu }) => cpu),
          1,
        ),
        number(
          ratio(measured, which, 'sqlite', ({ cpu }) => cpu),
          2,
        ),
        number(
          typical(measured, which, ({ databaseCpu }) => databaseCpu),
          1,
        ),
        which === 'sqlite' ? '' : number(ratio(measured, which, 1, all), 2),
        number(
          typical(measured, which, ({ perCommit }) => perCommit),
          1,
        ),
        number(typical(measured, which, ({ perSecond }) => perSecond)),
        number(typical(measured, which, ({ p50 }) => p50)),
        number(typical(measured, which, ({ p99 }) => p99)),
        number(typical(measured, which, ({ failed }) => failed)),
      ]),
    ),
    `One gateway on PostgreSQL takes ${number(relative, 2)} × the CPU of one on SQLite; at most ${bar} was to be: ${verdict}.\n`,
  ].join('\n');
}

/** What outages of other services cost. */
export function outagesReport(measured: Rounds<Outage>): string {
  const titles: Readonly<Record<Outage, string>> = {
    off: 'nothing is sent',
    up: 'receivers answer',
    refused: 'receivers refuse connections',
    hanging: 'receivers never answer',
  };
  return [
    heading(
      'Outages of the collector, the webhooks, the object store and the mail server: whole answers, 64 connections',
    ),
    table(
      ['', 'CPU µs/call', '× nothing sent', '× receivers answer', 'calls/s, × receivers answer', 'p99 µs', 'failed'],
      [...measured.keys()].map((outage) => [
        titles[outage],
        number(typical(measured, outage, cpu), 1),
        number(ratio(measured, outage, 'off', cpu), 2),
        number(ratio(measured, outage, 'up', cpu), 2),
        number(ratio(measured, outage, 'up', perSecond), 2),
        number(typical(measured, outage, p99)),
        number(typical(measured, outage, failed)),
      ]),
    ),
  ].join('\n');
}

/** The cost of a call on each version of Node, relative to the bare proxy on the same version. */
export function nodesReport({ versions, whole, one, streams, idleMb }: MeasuredNodes): string {
  const rows = versions.map((version) => {
    const ours = `turnpike ${version}` as const;
    const bare = `bare ${version}` as const;
    const failures = [whole, one, streams].map((rounds) => typical(rounds, ours, failed) ?? 0);
    return [
      version,
      number(typical(whole, ours, cpu), 1),
      number(ratio(whole, ours, bare, cpu), 2),
      number(typical(one, ours, cpu), 1),
      number(ratio(one, ours, bare, cpu), 2),
      number(typical(streams, ours, cpuPerEvent), 1),
      number(ratio(streams, ours, bare, cpuPerEvent), 2),
      number(idleMb.get(version)),
      number(failures.reduce((sum, failure) => sum + failure, 0)),
    ];
  });
  return [
    heading('Versions of Node: Turnpike on one core, × the bare proxy on the same version'),
    table(
      [
        'Node',
        'CPU µs/call, 64 connections',
        '× bare',
        'CPU µs/call, one connection',
        '× bare',
        'CPU µs/event, 200 streams',
        '× bare',
        'MB idle',
        'failed',
      ],
      rows,
    ),
    '',
  ].join('\n');
}

/** The cost of a call in other gateways, and what each does for it. */
export function peersReport({ entrants, whole, one, streams }: MeasuredPeers): string {
  const rows = (cells: (who: VariantName) => readonly string[]) =>
    entrants.map(({ variant }) => [variant.title, ...cells(variant.name)]);
  const memory: Pick = (sample) => sample.memoryBefore && sample.memoryBefore / 1_024;
  // Turnpike relative to the peer; the row of Turnpike itself would be 1.
  const ours = (rounds: Rounds<VariantName>, who: VariantName, pick: Pick, digits = 3): string =>
    who === 'turnpike' ? '' : number(ratio(rounds, 'turnpike', who, pick), digits);
  return [
    heading('Other gateways: 2 KB request, 1 KB answer, the server on one core'),
    table(
      [
        '',
        'CPU µs/call, 64 connections',
        '× bare',
        'ours / it',
        'calls/s',
        '× bare',
        'ours / it',
        'CPU µs/call, one connection',
        '× bare',
        'ours / it',
        'failed',
      ],
      rows((who) => [
        number(typical(whole, who, cpu), 1),
        number(ratio(whole, who, 'bare', cpu), 2),
        ours(whole, who, cpu),
        number(typical(whole, who, perSecond)),
        number(ratio(whole, who, 'bare', perSecond), 3),
        ours(whole, who, perSecond, 2),
        number(typical(one, who, cpu), 1),
        number(ratio(one, who, 'bare', cpu), 2),
        ours(one, who, cpu),
        number((typical(whole, who, failed) ?? 0) + (typical(one, who, failed) ?? 0)),
      ]),
    ),
    heading('32 streams that begin in the same instant, 100 events each, one per 20 ms'),
    table(
      [
        '',
        'first byte p50 µs',
        '× bare',
        'ours / it',
        'CPU µs/event',
        '× bare',
        'ours / it',
        'MB',
        '× bare',
        'ours / it',
        'failed',
      ],
      rows((who) => [
        number(typical(streams, who, firstByte)),
        number(ratio(streams, who, 'bare', firstByte), 2),
        ours(streams, who, firstByte),
        number(typical(streams, who, cpuPerEvent), 1),
        number(ratio(streams, who, 'bare', cpuPerEvent), 2),
        ours(streams, who, cpuPerEvent),
        number(typical(streams, who, memory)),
        number(ratio(streams, who, 'bare', memory), 2),
        ours(streams, who, memory, 2),
        number(typical(streams, who, failed)),
      ]),
    ),
    heading('What they do in this measurement'),
    ...entrants.map(
      ({ variant, does, lacks }) =>
        `- **${variant.title}**: ${does}.${lacks === undefined ? '' : ` Not here: ${lacks}`}`,
    ),
    '',
  ].join('\n');
}

function targetTable(all: readonly Target[], recorded: Recorded): string {
  const rows = all.map((target) => [
    target.what,
    number(target.value, 2),
    number(recorded[target.name], 2),
    bound(target, target.must),
    bound(target, target.goal),
    verdict(target),
  ]);
  return table(['', 'here', 'recorded', 'must', 'goal', ''], rows);
}

function bound({ better }: Target, limit: number): string {
  return `${better === 'less' ? '≤' : '≥'} ${limit}`;
}

function verdict(target: Target): string {
  const { value, must, goal } = target;
  if (value === undefined) return 'not measured';
  if (timesWorse(target, goal) <= 1) return 'goal reached';
  if (timesWorse(target, must) <= 1) return 'reached';
  return `missed by ${number((timesWorse(target, must) - 1) * 100)} %`;
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
