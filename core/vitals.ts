/** How the process and its machine are doing: now, and every ten seconds of the last hour. */
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from './clock.ts';
import type { Lag, Sample, Vitals } from './contracts/running.ts';

/** What core itself knows of it. */
export interface Gauges {
  /** Exchanges that run. */
  inFlight(): number;
  /** Lists that wait to be written. */
  waiting(): number;
}

/** The part of the vitals that any process has. */
export type ProcessVitals = Pick<Vitals, 'startedMs' | 'uptimeMs' | 'node' | 'platform' | 'memory' | 'cpu' | 'lag'>;

/** Looks after a process, and tells how it does. */
export interface Watch {
  /** Begins to look. Nothing is known of the event loop before. */
  start(): void;
  stop(): void;
  now(): ProcessVitals;
  history(): readonly Sample[];
}

const SAMPLE_MS = 10_000;
const SAMPLES = 360;
/** Samples that make up the last minute. */
const MINUTE = 6;
/** How often the loop is asked. Rarer than that would miss short stops; more often, an idle gateway would do little else than wake up. */
const RESOLUTION_MS = 50;

/** A watch over this process. */
export function createWatch(clock: Clock, gauges: Gauges): Watch {
  const startedMs = clock.now();
  const startedMono = clock.mono();
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  /** The newest last. */
  const lags: Lag[] = [];
  const samples: Sample[] = [];
  let sampledMono = startedMono;
  let cpu = process.cpuUsage();
  let cancel: (() => void) | undefined;

  function sample(): void {
    const lag = lagOf(delays);
    delays.reset();
    keep(lags, lag, MINUTE);
    const { rss, heapUsed } = process.memoryUsage();
    const used = process.cpuUsage(cpu);
    const passedMs = clock.mono() - sampledMono;
    cpu = process.cpuUsage();
    sampledMono = clock.mono();
    keep(
      samples,
      {
        atMs: clock.now(),
        rss,
        heapUsed,
        cpu: hundredths((used.user + used.system) / 1_000 / passedMs),
        lag: lag.p99,
        inFlight: gauges.inFlight(),
        waiting: gauges.waiting(),
      },
      SAMPLES,
    );
  }

  return {
    start() {
      delays.enable();
      cancel = clock.every(SAMPLE_MS, sample);
    },
    stop() {
      cancel?.();
      delays.disable();
    },
    now() {
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      return {
        startedMs,
        uptimeMs: clock.mono() - startedMono,
        node: process.version,
        platform: `${process.platform} ${process.arch}`,
        memory: {
          rss,
          heapUsed,
          heapTotal,
          heapLimit: getHeapStatistics().heap_size_limit,
          external,
          machine: machineMemory(),
        },
        cpu: {
          userMs: Math.round(user / 1_000),
          systemMs: Math.round(system / 1_000),
          cores: availableParallelism(),
          load: loadavg().map(hundredths),
        },
        lag: lags.length === 0 ? undefined : lagOfAll(lags),
      };
    },
    history: () => [...samples],
  };
}

/** Adds to the end, and lets the first go where there are more than that. */
function keep<T>(list: T[], item: T, most: number): void {
  list.push(item);
  if (list.length > most) list.shift();
}

/** What is measured is the time between two looks, which is as long as it should be where nothing is late. */
function lagOf(delays: ReturnType<typeof monitorEventLoopDelay>): Lag {
  const late = (nanoseconds: number): number => hundredths(Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS));
  // There has been no look yet: the clock of a test runs faster than the loop.
  if (delays.max === 0) return { mean: 0, p50: 0, p99: 0, max: 0 };
  return {
    mean: late(delays.mean),
    p50: late(delays.percentile(50)),
    p99: late(delays.percentile(99)),
    max: late(delays.max),
  };
}

/** Of some tens of seconds together: the usual of what is usual, the worst of what is bad. */
function lagOfAll(lags: readonly Lag[]): Lag {
  const middle = lags.map(({ p50 }) => p50).sort((a, b) => a - b)[lags.length >> 1]!;
  return {
    mean: hundredths(lags.reduce((sum, { mean }) => sum + mean, 0) / lags.length),
    p50: middle,
    p99: Math.max(...lags.map(({ p99 }) => p99)),
    max: Math.max(...lags.map(({ max }) => max)),
  };
}

/** A container may have less than its machine; where there is no limit, the number is none that any machine has. */
function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function hundredths(value: number): number {
  return Number.isFinite(value) ? Math.round(value * 100) / 100 : 0;
}
