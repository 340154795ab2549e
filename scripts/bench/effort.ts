/**
 * What a call takes apart from time: bytes allocated on the heap of the main thread, and reading and writing system calls of the process. Over one
 * connection, where no turn has two calls, both are the same on every machine and under any load, so that they can be compared with the recorded ones
 * wherever the bench runs.
 */
import { readFileSync } from 'node:fs';
import { script } from './folder.ts';
import type { LoadTools } from './load.ts';
import { oneModel, prepareTurnpike } from './turnpike.ts';
import { warmUp } from './warm.ts';

/** Of a whole answer. */
export interface Effort {
  /** Bytes. */
  readonly allocated: number;
  /** Reads and writes: of sockets and files, and those that wake threads. */
  readonly systemCalls: number;
}

const CALLS = 1_000;

/** Counts on a server that is warm. */
export async function measureEffort(tools: LoadTools): Promise<Effort> {
  const vendor = await tools.vendor(1, 0);
  const turnpike = await prepareTurnpike(oneModel(vendor.port));
  const server = await turnpike.start({ flags: ['--import', script('./effort-probe.mjs')] });
  await warmUp(server, tools);
  const before = systemCalls(server.pid);
  server.process.signal('SIGUSR2');
  await server.process.says(/counting\n/);
  await tools.measure(server, { stream: false, connections: 1, requests: CALLS });
  server.process.signal('SIGUSR2');
  const [, bytes] = await server.process.says(/allocated (\d+) bytes/);
  const after = systemCalls(server.pid);
  await server.process.stop();
  await vendor.process.stop();
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
