/** Health of the processes and their machine: now, and every ten seconds of the last hour. */
import { availableParallelism, loadavg } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Lag, Sample, Vitals } from '../../contracts/running.ts';
import type { Clock } from '../../runtime/clock.ts';
import { machineMemory } from '../../workers/memory.ts';

/** Figures that only core knows. */
export interface Gauges {
  /** Running requests. */
  inFlight(): number;
  /** Requests that began since the start of the process. */
  begun(): number;
  /** Lists that wait to be written. */
  waiting(): number;
}

/** The figures that every process reports. */
export type ProcessVitals = Pick<Vitals, 'startedMs' | 'uptimeMs' | 'node' | 'platform' | 'memory' | 'cpu' | 'lag'>;

/** The report of one process since the last query. */
export interface Look extends Omit<Sample, 'atMs' | 'lag'> {
  readonly lag: Lag;
}

/** Monitors this process; in the leading process, also all others. */
export interface Watch {
  /** Starts monitoring. The event loop delay is unknown before. */
  start(): void;
  stop(): void;
  now(): ProcessVitals;
  history(): readonly Sample[];
  /** Requests that began within the last five minutes; those of the other processes as last reported. */
  calls(): number;
  /** Of this process only, for the leading one. */
  look(): Look;
}

const SAMPLE_MS = 10_000;
const SAMPLES = 360;
/** Samples of the last minute. */
const MINUTE = 6;
const FIVE_MINUTES = 30;
/** Interval of measuring the event loop: a longer one misses short delays, a shorter one wakes an idle gateway. */
const RESOLUTION_MS = 50;

/** A monitor of this process. `others`: queries the processes that it leads; undefined: another process leads. */
export function createWatch(clock: Clock, gauges: Gauges, others: (() => Promise<readonly Look[]>) | undefined): Watch {
  const startedMs = clock.now();
  const startedMono = clock.mono();
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  /** Newest last. */
  const lags: Lag[] = [];
  const samples: Sample[] = [];
  let sampledMono = startedMono;
  let sampledCalls = 0;
  let cpu = process.cpuUsage();
  let cancel: (() => void) | undefined;

  function look(): Look {
    const lag = lagOf(delays);
    delays.reset();
    const { rss, heapUsed } = memoryNow();
    const used = process.cpuUsage(cpu);
    const passedMs = clock.mono() - sampledMono;
    cpu = process.cpuUsage();
    sampledMono = clock.mono();
    const calls = gauges.begun() - sampledCalls;
    sampledCalls += calls;
    return {
      rss,
      heapUsed,
      cpu: hundredths((used.user + used.system) / 1_000 / passedMs),
      lag,
      inFlight: gauges.inFlight(),
      waiting: gauges.waiting(),
      calls,
    };
  }

  /** The report of this process is synchronous, those of the others arrive a moment later. */
  function sample(): void {
    const atMs = clock.now();
    const own = look();
    keep(lags, own.lag, MINUTE);
    keep(samples, { atMs, ...own, lag: own.lag.p99 }, SAMPLES);
    void others?.().then((looks) => {
      if (looks.length === 0) return;
      const all = together([own, ...looks]);
      const [at, lagAt] = [samples.findIndex((one) => one.atMs === atMs), lags.indexOf(own.lag)];
      if (at >= 0) samples[at] = { atMs, ...all, lag: all.lag.p99 };
      if (lagAt >= 0) lags[lagAt] = all.lag;
    });
  }

  return {
    start() {
      delays.enable();
      if (others !== undefined) cancel = clock.every(SAMPLE_MS, sample);
    },
    stop() {
      cancel?.();
      delays.disable();
    },
    now() {
      const { rss, heapUsed, heapTotal, external } = memoryNow();
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
    calls() {
      const sampled = samples.slice(-FIVE_MINUTES).reduce((sum, { calls }) => sum + calls, 0);
      return sampled + gauges.begun() - sampledCalls;
    },
    look,
  };
}

function together(looks: readonly Look[]): Look {
  const sum = (of: (look: Look) => number): number => looks.reduce((all, look) => all + of(look), 0);
  return {
    rss: sum(({ rss }) => rss),
    heapUsed: sum(({ heapUsed }) => heapUsed),
    cpu: hundredths(sum(({ cpu }) => cpu)),
    lag: worst(looks.map(({ lag }) => lag)),
    inFlight: sum(({ inFlight }) => inFlight),
    waiting: sum(({ waiting }) => waiting),
    calls: sum(({ calls }) => calls),
  };
}

function worst(lags: readonly Lag[]): Lag {
  const most = (of: (lag: Lag) => number): number => Math.max(...lags.map(of));
  return {
    mean: most(({ mean }) => mean),
    p50: most(({ p50 }) => p50),
    p99: most(({ p99 }) => p99),
    max: most(({ max }) => max),
  };
}

/** The figures of all processes: those of the first, plus memory and CPU time of the others. */
export function sumOfVitals(
  own: ProcessVitals,
  others: readonly Pick<ProcessVitals, 'memory' | 'cpu'>[],
): ProcessVitals {
  const [memory, cpu] = [{ ...own.memory }, { ...own.cpu }];
  for (const other of others) {
    for (const name of ['rss', 'heapUsed', 'heapTotal', 'heapLimit', 'external'] as const)
      memory[name] += other.memory[name];
    for (const name of ['userMs', 'systemMs'] as const) cpu[name] += other.cpu[name];
  }
  return { ...own, memory, cpu };
}

/** Appends, and drops the oldest beyond the limit. */
function keep<T>(list: T[], item: T, most: number): void {
  list.push(item);
  if (list.length > most) list.shift();
}

/** Measures the time between two ticks, which is longer than the interval by the delay. */
function lagOf(delays: ReturnType<typeof monitorEventLoopDelay>): Lag {
  const late = (nanoseconds: number): number => hundredths(Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS));
  // No tick yet: the clock of a test runs faster than the loop.
  if (delays.max === 0) return { mean: 0, p50: 0, p99: 0, max: 0 };
  return {
    mean: late(delays.mean),
    p50: late(delays.percentile(50)),
    p99: late(delays.percentile(99)),
    max: late(delays.max),
  };
}

/** Several samples combined: the median of medians, the maximum of the rest. */
function lagOfAll(lags: readonly Lag[]): Lag {
  const middle = lags.map(({ p50 }) => p50).sort((a, b) => a - b)[lags.length >> 1]!;
  return {
    mean: hundredths(lags.reduce((sum, { mean }) => sum + mean, 0) / lags.length),
    p50: middle,
    p99: Math.max(...lags.map(({ p99 }) => p99)),
    max: Math.max(...lags.map(({ max }) => max)),
  };
}

let lastMemory: NodeJS.MemoryUsage = { rss: 0, heapUsed: 0, heapTotal: 0, external: 0, arrayBuffers: 0 };

/** It reads a file, which fails if the process can open no more: then the last figures. */
function memoryNow(): NodeJS.MemoryUsage {
  try {
    lastMemory = process.memoryUsage();
  } catch {
    // The figures are not worth more than the process.
  }
  return lastMemory;
}

function hundredths(value: number): number {
  return Number.isFinite(value) ? Math.round(value * 100) / 100 : 0;
}
