/** The cost of a start on an existing database. */
import { setTimeout } from 'node:timers/promises';
import { CORE, residentKib } from './machine.ts';
import { median } from './rounds.ts';
import { oneModel, prepareTurnpike } from './turnpike.ts';

/** Medians. */
export interface Starts {
  /** Seconds from the command to the line `ready`. */
  readonly readyS: number;
  /** Megabytes of memory two seconds later. */
  readonly idleMb: number;
}

/** The port of a vendor that is never called. */
const DISCARD = 9;
const IDLE_MS = 2_000;

/** Starts it this often; undefined if the system does not report the memory of a process. */
export async function measureStarts(rounds: number): Promise<Starts | undefined> {
  const seconds: number[] = [];
  const megabytes: number[] = [];
  const turnpike = await prepareTurnpike(oneModel(DISCARD));
  await (await turnpike.start()).process.stop();
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const server = await turnpike.start({ cores: CORE.both });
    seconds.push((performance.now() - began) / 1_000);
    await setTimeout(IDLE_MS);
    const kib = residentKib(server.pid);
    await server.process.stop();
    if (kib === undefined) return undefined;
    megabytes.push(kib / 1_024);
  }
  return { readyS: median(seconds)!, idleMb: median(megabytes)! };
}
