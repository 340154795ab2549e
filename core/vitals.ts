/** How the processes and their machine are doing: now, and every ten seconds of the last hour. */
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from './clock.ts';
import type { Lag, Sample, Vitals } from './contracts/running.ts';

/** What core itself knows of it. */
export interface Gauges {
  /** Exchanges that run. */
  inFlight(): number;
  /** Exchanges that have begun since the process did. */
  begun(): number;
  /** Lists that wait to be written. */
  waiting(): number;
}

/** The part of the vitals that any process has. */
export type ProcessVitals = Pick<Vitals, 'startedMs' | 'uptimeMs' | 'node' | 'platform' | 'memory' | 'cpu' | 'lag'>;

/** What one process says of the time since it was asked last. */
export interface Look extends Omit<Sample, 'atMs' | 'lag'> {
  readonly lag: Lag;
}

/** Looks after a process, and tells how it does; where it leads, all others are looked after along with it. */
export interface Watch {
  /** Begins to look. Nothing is known of the event loop before. */
  start(): void;
  stop(): void;
  now(): ProcessVitals;
  history(): readonly Sample[];
  /** Exchanges that began within the last five minutes; of the others, as they said last. */
  calls(): number;
  /** Of this process alone, for the one that leads. */
  look(): Look;
}

const SAMPLE_MS = 10_000;
const SAMPLES = 360;
/** Samples that make up the last minute. */
const MINUTE = 6;
const FIVE_MINUTES = 30;
/** How often the loop is asked. Rarer than that would miss short stops; more often, an idle gateway would do little else than wake up. */
const RESOLUTION_MS = 50;

/** A watch over this process. `others`: what those say that it leads; undefined: it is led itself, and takes no samples. */
export function createWatch(clock: Clock, gauges: Gauges, others: (() => Promise<readonly Look[]>) | undefined): Watch {
  const startedMs = clock.now();
  const startedMono = clock.mono();
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  /** The newest last. */
  const lags: Lag[] = [];
  const samples: Sample[] = [];
  let sampledMono = startedMono;
  let sampledCalls = 0;
  let cpu = process.cpuUsage();
  let cancel: (() => void) | undefined;

  function look(): Look {
    const lag = lagOf(delays);
    delays.reset();
    const { rss, heapUsed } = process.memoryUsage();
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

  /** What this process says is there at once, what the others say a moment later. */
  function sample(): void {
    const atMs = clock.now();
    const own = look();
    keep(lags, own.lag, MINUTE);
    keep(samples, { atMs, ...own, lag: own.lag.p99 }, SAMPLES);
    others?.().then((looks) => {
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

/** The vitals of all processes: those of the first, and what the others add to its memory and its processor time. */
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
