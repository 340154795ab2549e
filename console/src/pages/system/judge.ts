/** Thresholds: rates each figure as normal, warning or critical. */
import type * as api from '../../api/operations.ts';
import type { VitalsSample } from '../../api/operations.ts';
import type { Tone } from '../../parts/values.tsx';

/** The health of the process and its machine. */
export type Vitals = api.Vitals;
/** A gateway on the database. */
export type Gateway = Vitals['gateways'][number];
/** Scheduled backups. */
export type Schedule = NonNullable<Vitals['backups']>;
/** A sample of the last hour. */
export type Sample = VitalsSample;

const MB = 1_000_000;
/** Samples per minute. */
const MINUTE = 6;
/** The maximum age of a backup in seconds. */
const BACKUP_S = 7 * 86_400;

/** Normal below the first threshold; critical from the second on. */
function within(value: number, watch: number, act: number): Tone {
  return value < watch ? 'good' : value < act ? 'warn' : 'bad';
}

/** By the memory of the machine or container. */
export function memoryTone({ memory: { rss, machine } }: Vitals): Tone {
  return within(rss / machine, 0.7, 0.9);
}

/** By the heap limit. */
export function heapTone({ memory }: Vitals): Tone {
  return within(memory.heap_used / memory.heap_limit, 0.7, 0.9);
}

/** By the last minute. */
export function lagTone({ lag }: Vitals): Tone {
  return lag === null ? 'idle' : within(lag.p99_ms, 50, 200);
}

/** CPU cores used over the last minute; undefined in the first ten seconds. */
export function coresUsed(history: readonly Sample[]): number | undefined {
  const last = history.slice(-MINUTE);
  return last.length === 0 ? undefined : last.reduce((sum, { cpu }) => sum + cpu, 0) / last.length;
}

/** Calls run on one core. */
export function cpuTone(cores: number | undefined): Tone {
  return cores === undefined ? 'idle' : within(cores, 0.7, 0.95);
}

/** By the five-minute average, because the one-minute average fluctuates. */
export function loadTone({ cpu: { load, cores } }: Vitals): Tone {
  const [, five = 0] = load;
  return five <= cores ? 'good' : within(five / cores, 1, 2);
}

/** As a load balancer rates it; a silent gateway counts as down. */
export function gatewayTone({ report }: Gateway): Tone {
  if (report === null) return 'bad';
  return ({ ready: 'good', busy: 'warn', starting: 'idle', draining: 'info' } as const)[report.readiness];
}

/** By the size of the WAL. */
export function sizeTone({ store }: Vitals): Tone {
  return store.log_bytes === null ? 'idle' : within(store.log_bytes, 64 * MB, 512 * MB);
}

/** Critical below 500 MB, because that is little on any disk; otherwise by the used share. */
export function diskTone({ store: { disk_free: free, disk_total: total } }: Vitals): Tone {
  if (free === null || total === null) return 'idle';
  if (free < 500 * MB) return 'bad';
  return within(1 - free / total, 0.9, 0.97);
}

/** From 10,000 on, calls are refused. */
export function writingTone({ store: { writable, waiting } }: Vitals): Tone {
  return writable ? within(waiting, 500, 5_000) : 'bad';
}

/** `nowS`: unix seconds. */
export function backupTone({ backup }: Vitals, nowS: number): Tone {
  return backup === null || nowS - backup.at > BACKUP_S ? 'warn' : 'good';
}

/** Critical after a failure, or if two intervals passed without a proven backup. `nowS`: unix seconds. */
export function scheduleTone({ every, proven, failed }: Schedule, nowS: number): 'good' | 'warn' | 'bad' {
  if (failed !== null) return 'bad';
  if (proven === null) return 'warn';
  return nowS - proven.at > 2 * every ? 'bad' : 'good';
}
