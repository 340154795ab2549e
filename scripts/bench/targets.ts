/** The targets, the recorded values, and which have become worse. */
import { readFileSync, writeFileSync } from 'node:fs';
import { script } from './folder.ts';
import { GROWN, muchOf } from './growth.ts';
import type { Measured } from './measurements.ts';
import { BYTES, TRANSLATED } from './pairs.ts';
import { cpu, cpuPerEvent, firstByte, lastFirstByte, p50, perSecond, perStream } from './picks.ts';
import { addedRatio, type Rounds, ratio, typical } from './rounds.ts';

/** A ratio or a size, and its limit. */
export interface Target {
  /** Its name in the recorded values. */
  readonly name: string;
  readonly what: string;
  /** Undefined if not measured. */
  readonly value: number | undefined;
  readonly must: number;
  readonly goal: number;
  readonly better: 'less' | 'more';
  /** It is the same on every machine and under any load, so that it can be compared with the recorded value anywhere. */
  readonly isSteady?: boolean;
}

/** The best value of each target so far, by name. */
export type Recorded = Readonly<Record<string, number>>;

const NONE: Rounds = new Map();

export function targetsOf(measured: Measured): readonly Target[] {
  const { whole, calm, manyStreams, fewStreams, restarted, translated, held } = measured;
  const { few, starts, blocks, growth, storage, workers, postgres, usedMb, efforts } = measured;
  const less = (name: string, what: string, value: number | undefined, must: number, goal: number): Target => ({
    name,
    what,
    value,
    must,
    goal,
    better: 'less',
  });
  return [
    less(
      'cpu',
      'CPU per call, answers on disk before they leave, × bare',
      ratio(whole, 'turnpike', 'bare', cpu),
      1,
      0.75,
    ),
    less('cpu-1', 'the same over one connection, × bare', ratio(few.get(1) ?? NONE, 'turnpike', 'bare', cpu), 2.5, 1.5),
    less('cpu-8', 'the same over 8 connections, × bare', ratio(few.get(8) ?? NONE, 'turnpike', 'bare', cpu), 1.8, 1.2),
    {
      name: 'cpu-portkey',
      what: 'calls per CPU second, ours / Portkey',
      value: ratio(whole, 'portkey', 'turnpike', cpu),
      must: 14,
      goal: 20,
      better: 'more',
    },
    less('cpu-nginx', 'CPU per call, ours / nginx', ratio(whole, 'turnpike', 'nginx', cpu), 3.2, 2),
    less('calm', 'added p50 at 200 calls/s, × bare', addedRatio(calm, 'turnpike', 'bare', p50), 2.4, 1.5),
    less(
      'first-byte',
      'added time to the first byte of 32 streams, × bare',
      addedRatio(fewStreams, 'turnpike', 'bare', firstByte),
      0.9,
      0.7,
    ),
    less(
      'restarted-p50',
      'first byte of 64 streams that are restarted as they end, p50, × bare',
      ratio(restarted, 'turnpike', 'bare', firstByte),
      1.8,
      1.2,
    ),
    less('restarted-p99', 'the same, p99, × bare', ratio(restarted, 'turnpike', 'bare', lastFirstByte), 2, 1.3),
    less('event', 'CPU per stream event, × bare', ratio(manyStreams, 'turnpike', 'bare', cpuPerEvent), 0.8, 0.63),
    less('held', 'memory per held stream, KiB', typical(held, 'turnpike', perStream), 34, 28),
    less('idle', 'idle memory, MB', starts?.idleMb, 110, 90),
    less('ready', 'command to ready on an existing database, s', starts?.readyS, 0.4, 0.25),
    ...TRANSLATED.map((pair) =>
      less(
        `translated-whole-${pair.client}-${pair.vendor}`,
        `CPU per call, translated (${pair.title}), × same style`,
        ratio(translated.whole, pair, BYTES, cpu),
        1.6,
        1.4,
      ),
    ),
    ...TRANSLATED.map((pair) =>
      less(
        `translated-${pair.client}-${pair.vendor}`,
        `CPU per event, translated (${pair.title}), × bytes`,
        ratio(translated.streams, pair, BYTES, cpuPerEvent),
        3,
        2,
      ),
    ),
    ...[BYTES, TRANSLATED[0]!].map((pair) =>
      less(
        `block-${pair.client}-${pair.vendor}`,
        `longest block of the event loop, image of 10 MB (${pair.title}), ms`,
        blocks.requests.get(pair)?.typical,
        5,
        3,
      ),
    ),
    ...GROWN.map((grown) =>
      less(
        `growth-${grown}`,
        `CPU per call with ${muchOf(grown, growth.scale)}, × with one or none`,
        ratio(growth.rounds, grown, 'nothing', cpu),
        1.1,
        1.05,
      ),
    ),
    less('storage', 'database growth per call, bytes', storage.bytesPerCall, 260, 260),
    less('workers', 'CPU per call, two workers / one', workers && ratio(workers, 2, 1, cpu), 1.1, 1),
    {
      name: 'workers-pace',
      what: 'calls per second, two workers / one',
      value: workers && ratio(workers, 2, 1, perSecond),
      must: 1.8,
      goal: 1.95,
      better: 'more',
    },
    less(
      'postgres',
      'CPU of the gateway per call, PostgreSQL / SQLite',
      postgres && ratio(postgres, 1, 'sqlite', cpu),
      1.1,
      1.05,
    ),
    less('used', 'memory after 100,000 calls at 64 connections, MB', usedMb, 130, 100),
    less('system-calls', 'reads and writes of a call over one connection', efforts.bytes.systemCalls, 17, 12),
    ...[
      less('allocated', 'bytes allocated for a call over one connection', efforts.bytes.allocated, 48_000, 36_000),
      less(
        'allocated-translated',
        `the same, translated (${TRANSLATED[0]!.title})`,
        efforts.translated.allocated,
        84_000,
        64_000,
      ),
    ].map((target) => ({ ...target, isSteady: true })),
  ];
}

/** The value relative to the limit: above 1 it is worse. */
export function timesWorse({ value, better }: Target, limit: number): number {
  if (value === undefined) return 1;
  return better === 'less' ? value / limit : limit / value;
}

/** A larger difference to the recorded value than the variation between runs. */
const TOLERATED = 1.12;

/** The targets that have become worse. `steadyOnly`: only of those that any machine can compare. */
export function regressions(targets: readonly Target[], recorded: Recorded, steadyOnly = false): readonly Target[] {
  return targets.filter((target) => {
    const best = recorded[target.name];
    return best !== undefined && (target.isSteady || !steadyOnly) && timesWorse(target, best) > TOLERATED;
  });
}

const FILE = script('./recorded.json');

export function readRecorded(): Recorded {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Recorded;
}

/** Keeps the better value of each. */
export function record(targets: readonly Target[], recorded: Recorded): void {
  const best: Record<string, number> = { ...recorded };
  for (const target of targets) {
    const { name, value } = target;
    const before = best[name];
    if (value !== undefined && (before === undefined || timesWorse(target, before) < 1))
      best[name] = Number(value.toFixed(3));
  }
  writeFileSync(FILE, `${JSON.stringify(best, null, 2)}\n`);
}
