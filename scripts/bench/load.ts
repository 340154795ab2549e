/** The mock vendor and the load generator: C programs, compiled at the start. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { FOLDER, script, write } from './folder.ts';
import { CORE, familyOf, has, onCore } from './machine.ts';
import { type Running, run, start } from './processes.ts';
import { chatRequest } from './requests.ts';
import type { Target } from './variants.ts';

/** The load to generate. */
export interface Load {
  readonly stream: boolean;
  readonly connections: number;
  readonly requests: number;
  /** Requests before measuring begins. */
  readonly warm?: number;
  /**
   * Requests per second, independent of answers; without it each connection sends its next request after its answer.
   */
  readonly perSecond?: number;
  /** Microseconds between the first requests of two connections. */
  readonly rampUs?: number;
  /** Also reads the server's memory this many seconds after the start. */
  readonly memoryAtS?: number;
  /** Default: a chat request. */
  readonly ask?: Ask;
  /** A file of API keys, one per line, used in turns. */
  readonly secrets?: string;
}

/** Another request than the default. */
export interface Ask {
  readonly path: string;
  /** `name: value` */
  readonly headers: readonly string[];
  /** The file with its body. */
  readonly body: string;
}

/** The measured values. Times in microseconds, memory in KiB; undefined: not measured. */
export interface Sample {
  readonly answered: number;
  /** Errors, statuses other than 200, truncated streams. */
  readonly failed: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpu: number | undefined;
  readonly firstByteP50: number | undefined;
  readonly firstByteP99: number | undefined;
  readonly cpuPerEvent: number | undefined;
  readonly eventDelayP99: number | undefined;
  readonly memoryBefore: number | undefined;
  readonly memoryDuring: number | undefined;
}

/** The vendor and the load generator. */
export interface LoadTools {
  /** The share of the calls that warm up: 1 unless figures matter less than time. */
  readonly warmth: number;
  /** A vendor whose streams have this many events at this interval. */
  vendor(events: number, gapMs: number): Promise<MockVendor>;
  measure(target: Target, load: Load): Promise<Sample>;
}

/** The output of `load.c`: a sample, and failures by kind. */
interface LoadOutput extends Omit<Sample, 'failed'> {
  readonly errors: number;
  readonly otherStatus: number;
  readonly unfinished: number;
  /** Unanswered at the end. */
  readonly late: number;
}

/** A vendor process. */
export interface MockVendor {
  readonly port: number;
  readonly process: Running;
}

/** Maximum duration of one load. */
const LONGEST_S = 60;

/** Whether this machine can compile and run them. */
export function canLoad(): boolean {
  return process.platform === 'linux' && has('cc');
}

/** Compiles them. `warmth` as in `LoadTools`. */
export async function loadTools(warmth = 1): Promise<LoadTools> {
  const bin = join(FOLDER, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of ['vendor', 'load']) await run(['cc', '-O2', '-o', join(bin, name), script(`./${name}.c`)]);
  const bodies = requestBodies();
  return {
    warmth,
    async vendor(events, gapMs) {
      const port = await freePort();
      const options = [`${port}`, `${events}`, `${gapMs * 1_000}`];
      const process = start(onCore(CORE.load, [join(bin, 'vendor'), ...options]));
      await process.says(/ready/);
      return { port, process };
    },
    async measure(target, load) {
      const options: Record<string, number | string | undefined> = {
        port: target.port,
        connections: load.connections,
        requests: load.requests,
        warm: load.warm,
        'per-second': load.perSecond,
        'ramp-us': load.rampUs,
        'memory-at-s': load.memoryAtS,
        secrets: load.secrets,
        path: load.ask?.path ?? target.path,
        body: load.ask?.body ?? bodies(load.stream),
        'longest-s': LONGEST_S,
        // Work of the server after the last answer belongs to its cost.
        'after-ms': 50,
      };
      const words = Object.entries(options).flatMap(([name, value]) =>
        value === undefined ? [] : [`--${name}`, `${value}`],
      );
      for (const pid of target.pid === undefined ? [] : familyOf(target.pid)) words.push('--pid', `${pid}`);
      for (const header of [...target.headers, ...(load.ask?.headers ?? [])]) words.push('--header', header);
      if (load.stream) words.push('--stream');
      const result = JSON.parse(await run(onCore(CORE.load, [join(bin, 'load'), ...words]))) as LoadOutput;
      return { ...result, failed: result.errors + result.otherStatus + result.unfinished + result.late };
    },
  };
}

/** A mock vendor in node; its streams use the style of the request. */
export async function polyglotVendor(events: number, gapMs: number): Promise<MockVendor> {
  const port = await freePort();
  const options = [`${port}`, `${events}`, `${gapMs}`];
  const running = start(onCore(CORE.load, [process.execPath, script('./mock-vendor.mjs'), ...options]));
  await running.says(/ready/);
  return { port, process: running };
}

/** Files with the request for a whole answer and for a stream. */
function requestBodies(): (stream: boolean) => string {
  const whole = write('whole.json', chatRequest(false));
  const stream = write('stream.json', chatRequest(true));
  return (isStream) => (isStream ? stream : whole);
}
