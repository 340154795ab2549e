/** How much memory a process may use, and how much of that for the bodies of running requests. */
import { totalmem } from 'node:os';
import type { Budget, Listen } from '../config/core-sections.ts';

/** The share of the memory that all processes together use for bodies at most: each is kept with what is read from it. */
const BODIES_SHARE = 1 / 3;

/** Bytes. A container may have less memory than its machine; without a limit, the number is larger than any machine's. */
export function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** The part of a configured budget that a machine with this memory has for each of its processes. One body of the maximum size always fits. */
export function withinMemory(budget: Budget, largest: number, processes: number, memory = machineMemory()): Budget {
  const total = Math.max(largest, Math.floor((memory * BODIES_SHARE) / processes));
  if (budget.total <= total) return budget;
  return { total, perAccount: Math.max(largest, Math.floor((budget.perAccount * total) / budget.total)) };
}

/** The same for this machine. */
export function memoryForBodies({ body, workers }: Listen): Budget {
  return withinMemory(body.inFlight.memory, body.jsonBytes, workers);
}
