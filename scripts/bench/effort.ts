/**
 * What a call takes apart from time: bytes allocated on the heap of the main thread, and reading and writing system calls of the process, over one
 * connection, where no turn has two calls. The bytes are the same on every machine and under any load, so that they can be compared with the recorded
 * ones wherever the bench runs. The system calls are not: where others use the machine, the threads of a gateway wake each other more often.
 */
import { readFileSync } from 'node:fs';
import { script } from './folder.ts';
import { type Load, type LoadTools, polyglotVendor } from './load.ts';
import { askOf, TRANSLATED } from './pairs.ts';
import { everyStyle, type Models, oneModel, prepareTurnpike } from './turnpike.ts';
import { warmUp } from './warm.ts';

/** Of a whole answer. */
export interface Effort {
  /** Bytes. */
  readonly allocated: number;
  /** Reads and writes: of sockets and files, and those that wake threads. */
  readonly systemCalls: number;
}

/** Of calls in the vendor's style, and of translated ones (`TRANSLATED[0]`). */
export interface Efforts {
  readonly bytes: Effort;
  readonly translated: Effort;
}

const CALLS = 1_000;

export async function measureEfforts(tools: LoadTools): Promise<Efforts> {
  const vendor = await tools.vendor(1, 0);
  const bytes = await measureEffort(oneModel(vendor.port), tools);
  await vendor.process.stop();
  const polyglot = await polyglotVendor(1, 0);
  const ask = askOf(TRANSLATED[0]!, false);
  const translated = await measureEffort(everyStyle(polyglot.port), tools, { ask });
  await polyglot.process.stop();
  return { bytes, translated };
}

/** Counts on a server that is warm. */
async function measureEffort(models: Models, tools: LoadTools, load: Partial<Load> = {}): Promise<Effort> {
  const turnpike = await prepareTurnpike(models);
  const server = await turnpike.start({ flags: ['--import', script('./effort-probe.mjs')] });
  await warmUp(server, tools, load);
  const before = systemCalls(server.pid);
  server.process.signal('SIGUSR2');
  await server.process.says(/counting\n/);
  await tools.measure(server, { stream: false, connections: 1, requests: CALLS, ...load });
  server.process.signal('SIGUSR2');
  const [, bytes] = await server.process.says(/allocated (\d+) bytes/);
  const after = systemCalls(server.pid);
  await server.process.stop();
  return {
    allocated: Number(bytes) / CALLS,
    systemCalls: (after - before) / CALLS,
  };
}

/** Reads and writes of a process so far. */
function systemCalls(pid: number): number {
  const counts = readFileSync(`/proc/${pid}/io`, 'utf8').matchAll(/^sysc[rw]: (\d+)$/gm);
  return [...counts].reduce((all, [, count]) => all + Number(count), 0);
}
