/** What is normal of a machine, and what is not: every figure gets a mood. */

import type * as api from '../../api/operations.ts';
import type { VitalsSample } from '../../api/operations.ts';
import type { Mood } from '../../parts/values.tsx';

/** How the process and its machine are doing. */
export type Vitals = api.Vitals;
/** One of the gateways on the database. */
export type Gateway = Vitals['gateways'][number];
/** A moment of the last hour. */
export type Sample = VitalsSample;

const MB = 1_000_000;
/** Samples that make up a minute. */
const MINUTE = 6;
/** A backup older than this is to be made anew, in seconds. */
const BACKUP_S = 7 * 86_400;

/** Below the first it is normal, from the second on something has to be done. */
function within(value: number, watch: number, act: number): Mood {
  return value < watch ? 'good' : value < act ? 'warn' : 'bad';
}

/** Of what the machine or container has. */
export function memoryMood({ memory: { rss, machine } }: Vitals): Mood {
  return within(rss / machine, 0.7, 0.9);
}

/** Of what the heap may grow to. */
export function heapMood({ memory }: Vitals): Mood {
  return within(memory.heap_used / memory.heap_limit, 0.7, 0.9);
}

/** Of the last minute. */
export function lagMood({ lag }: Vitals): Mood {
  return lag === null ? 'idle' : within(lag.p99_ms, 50, 200);
}

/** Cores that the process used over the last minute; undefined before ten seconds have passed. */
export function coresUsed(history: readonly Sample[]): number | undefined {
  const last = history.slice(-MINUTE);
  return last.length === 0 ? undefined : last.reduce((sum, { cpu }) => sum + cpu, 0) / last.length;
}

/** Calls run on one core. */
export function cpuMood(cores: number | undefined): Mood {
  return cores === undefined ? 'idle' : within(cores, 0.7, 0.95);
}

/** By the five minutes: one alone says little. */
export function loadMood({ cpu: { load, cores } }: Vitals): Mood {
  const [, five = 0] = load;
  return five <= cores ? 'good' : within(five / cores, 1, 2);
}

/** What load balancers make of it; one that does not answer takes no calls, for all that is known. */
export function gatewayMood({ report }: Gateway): Mood {
  if (report === null) return 'bad';
  return ({ ready: 'good', busy: 'warn', starting: 'idle', draining: 'info' } as const)[report.readiness];
}

/** By what is not in the file yet. */
export function sizeMood({ store }: Vitals): Mood {
  return store.log_bytes === null ? 'idle' : within(store.log_bytes, 64 * MB, 512 * MB);
}

/** By what is left: a tenth of a small disk is little, and half a gigabyte of any is. */
export function diskMood({ store: { disk_free: free, disk_total: total } }: Vitals): Mood {
  if (free === null || total === null) return 'idle';
  if (free < 500 * MB) return 'bad';
  return within(1 - free / total, 0.9, 0.97);
}

/** From 10,000 on calls are refused. */
export function writingMood({ store: { writable, waiting } }: Vitals): Mood {
  return writable ? within(waiting, 500, 5_000) : 'bad';
}

/** `nowS`: unix seconds. */
export function backupMood({ backup }: Vitals, nowS: number): Mood {
  return backup === null || nowS - backup.at > BACKUP_S ? 'warn' : 'good';
}
