/** The state of the gateway: running calls, health and configuration, over all its processes. Provided by core. */

import { service } from './definitions.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { Account, KeyRecord } from './identity.ts';

/** `waiting`: no upstream attempt yet; `asking`: a vendor was called; `answering`: the client has received bytes. */
export type RunningPhase = 'waiting' | 'asking' | 'answering';

/** A running request. */
export interface RunningExchange {
  readonly id: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  /** Its duration so far, in milliseconds. */
  readonly ms: number;
  /** Undefined until authentication. */
  readonly holder:
    | { readonly account: Pick<Account, 'id' | 'name'>; readonly key: Pick<KeyRecord, 'id' | 'name'> }
    | undefined;
  readonly ip: string;
  /** Empty on passthrough routes. */
  readonly style: string;
  /** The requested public name; empty until it was read, and on passthrough routes. */
  readonly model: string;
  readonly stream: boolean;
  /** The channel of the latest attempt; undefined: none yet. */
  readonly channel: string | undefined;
  readonly attempts: number;
  readonly phase: RunningPhase;
  readonly outputTokens: number;
  /** The name of its gateway; undefined if the store is not shared. */
  readonly gateway: string | undefined;
}

/**
 * The health of the gateway and its machine: the sum of its processes, for `lag` the maximum. Sizes in bytes. If
 * several gateways share the store, `inFlight` is the sum of all that answer, and `gateways` lists them; everything
 * else describes this one.
 */
export interface Vitals {
  readonly version: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  readonly uptimeMs: number;
  readonly node: string;
  /** `linux x64`. */
  readonly platform: string;
  readonly memory: {
    readonly rss: number;
    readonly heapUsed: number;
    readonly heapTotal: number;
    /** The limit of the heaps. */
    readonly heapLimit: number;
    readonly external: number;
    /** The memory of the machine, or of the container if it has less. */
    readonly machine: number;
  };
  readonly cpu: {
    /** Milliseconds since the start of the processes. */
    readonly userMs: number;
    readonly systemMs: number;
    readonly cores: number;
    /** Load average over 1, 5 and 15 minutes; zeros if the system has none. */
    readonly load: readonly number[];
  };
  /** Event loop delay in milliseconds over the last minute; undefined for the first ten seconds. */
  readonly lag: Lag | undefined;
  readonly inFlight: number;
  /** The number of the running configuration, starting at 1, and when it was loaded, in unix milliseconds. */
  readonly configuration: {
    readonly generation: number;
    readonly loadedMs: number;
    /** Other gateways on the same store with a different gateway.yaml: `HOST:PORT` of each. */
    readonly differing: readonly string[];
  };
  /** Retention settings (`keep`) of the sections of gateway.yaml: `{log: '90d'}`. */
  readonly keeps: Readonly<Record<string, string>>;
  readonly store: {
    /** The file name without its folder. */
    readonly name: string;
    /** The version of its schema: the number of migrations that core and the plugins have run. */
    readonly schema: number;
    /** Lists that wait to be written. */
    readonly waiting: number;
    /** False if it cannot be written now. */
    readonly writable: boolean;
    /** Its disk is nearly full: what calls do not need (stored responses) is not written. */
    readonly scarce: boolean;
    /** Undefined if the driver does not report it. */
    readonly room:
      | { readonly file: number; readonly log: number; readonly free: number; readonly disk: number }
      | undefined;
  };
  /** The last backup, scheduled or by `turnpike backup`; undefined: none. */
  readonly backup: Backup | undefined;
  /** Scheduled backups; undefined: none are configured. */
  readonly backups: BackupSchedule | undefined;
  /** This gateway first, then the others on the store, in order of their names. */
  readonly gateways: readonly GatewayState[];
}

/** One of the gateways that share a store. */
export interface GatewayState {
  /** `HOST:PORT` */
  readonly name: string;
  readonly version: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  /** Undefined: it did not answer within a second. */
  readonly report: GatewayReport | undefined;
}

/** The report of a gateway about itself: the sum of its processes, for `lag` the maximum. Sizes in bytes. */
export interface GatewayReport {
  /** As `/readyz` reports it. */
  readonly readiness: Readiness;
  /** The digest of its gateway.yaml. */
  readonly configuration: string;
  readonly memory: Pick<Vitals['memory'], 'rss' | 'heapUsed' | 'heapLimit' | 'machine'>;
  readonly lag: Lag | undefined;
  readonly inFlight: number;
  /** Calls that began within the last five minutes. */
  readonly calls: number;
  readonly store: Pick<Vitals['store'], 'waiting' | 'writable'>;
  /** The rate-limit counters; undefined: none. */
  readonly counters:
    | {
        /** `memory` or `valkey`. */
        readonly driver: string;
        /** For a shared driver: whether it can be reached now. Undefined: each gateway counts on its own. */
        readonly shared: boolean | undefined;
      }
    | undefined;
}

/** Whether a gateway accepts calls. `busy`: not now, because the store is behind or cannot be written. */
export type Readiness = 'starting' | 'ready' | 'busy' | 'draining';

/** Event loop delay in milliseconds. */
export interface Lag {
  readonly mean: number;
  readonly p50: number;
  /** The worst ten seconds. */
  readonly p99: number;
  readonly max: number;
}

/** A backup. */
export interface Backup {
  /** Start time, unix milliseconds. */
  readonly atMs: number;
  /** The file name without its folder. */
  readonly name: string;
  /** Undefined if the file could not be examined. */
  readonly bytes: number | undefined;
  readonly tookMs: number;
}

/** A scheduled backup. */
export interface BackupRun extends Backup {
  /** Why it failed, or its proof; undefined: it was restored, migrated and reconciled. `name` is empty if nothing was stored. */
  readonly reason: string | undefined;
  /** What the proof found; undefined: it failed, or a version that did not record it made the backup. */
  readonly proof: BackupProof | undefined;
}

/** The result of a proof that succeeded. */
export interface BackupProof {
  /** The invariants that hold. */
  readonly invariants: number;
  /** Migrations that ran, because an older version had made the copy. */
  readonly migrations: number;
}

/** Scheduled backups, as the store had them within the last minute. */
export interface BackupSchedule {
  readonly everyMs: number;
  /** The folder, or `bucket/prefix`. */
  readonly to: string;
  /** Which backups are kept: the newest, and the newest of each of so many days and weeks. */
  readonly keep: { readonly last: number; readonly daily: number; readonly weekly: number };
  readonly encrypted: boolean;
  /** One is running in this process. */
  readonly running: boolean;
  /** The last that was proven; undefined: none. */
  readonly proven: BackupRun | undefined;
  /** The last failure since; undefined: none. */
  readonly failed: BackupRun | undefined;
  /** The latest, at most 20, newest first: proven and failed. */
  readonly runs: readonly BackupRun[];
}

/** A sample of the last hour; one every ten seconds. */
export interface Sample {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly rss: number;
  readonly heapUsed: number;
  /** CPU time since the previous sample per elapsed time: 1 is one core. */
  readonly cpu: number;
  /** p99 since the previous sample, in milliseconds. */
  readonly lag: number;
  readonly inFlight: number;
  /** Lists that wait to be written. */
  readonly waiting: number;
  /** Calls that began since the previous sample. */
  readonly calls: number;
}

/** A remark about a place in gateway.yaml. */
export interface Remark {
  /** Starting at 1. */
  readonly line: number;
  readonly column: number;
  /** `channels[0].vendor`; empty for the file itself. */
  readonly path: string;
  readonly message: string;
}

/** The result of checking a configuration. */
export interface Verdict {
  /** Errors; empty if the configuration is valid. */
  readonly problems: readonly Remark[];
  /** Warnings. */
  readonly warnings: readonly Remark[];
  /** The output of `turnpike check`; empty if there are errors. */
  readonly report: readonly string[];
}

/** The running gateway.yaml, and the file on disk. Secrets are masked: `•••• 3fa91c`, the same for the same secret. */
export interface Configuration {
  /** Without its folder. */
  readonly name: string;
  readonly generation: number;
  readonly running: { readonly text: string; readonly loadedMs: number };
  readonly disk: {
    readonly text: string;
    /** It differs from the running one. */
    readonly changed: boolean;
    /** Unix milliseconds; undefined if the file cannot be read. */
    readonly modifiedMs: number | undefined;
  };
  /** The check of the file on disk; its positions are those of the masked text. */
  readonly verdict: Verdict;
}

/** Filter for running requests. */
export interface InFlightQuery {
  readonly accountId?: number;
  readonly limit: number;
}

/** Running requests, and their number. */
export interface InFlight {
  readonly total: number;
  readonly items: readonly RunningExchange[];
}

/** Available once the gateway serves. It survives reloads. */
export interface Running {
  /** The running requests of all gateways on the store, newest first; of one account, or (undefined) of all. */
  inFlight(query: InFlightQuery): Promise<InFlight>;
  /** With `gateway`, the other gateways on the store are not queried: `inFlight` and `gateways` are of this one only. */
  vitals(of?: 'store' | 'gateway'): Promise<Vitals>;
  /**
   * Whether the store's disk has room for this many more bytes of optional data, which calls do not need. False long
   * before the disk is full, so that necessary data can still be written.
   */
  hasRoom(bytes: number): boolean;
  /** The samples of the last hour, oldest first. */
  history(): readonly Sample[];
  /** Whether a proxy is trusted, and the address of an untrusted one that forwards requests; undefined: none does. */
  proxy(): { readonly trusted: boolean; readonly untrusted: string | undefined };
  /** Scheduled backups, without a query: for metrics. Undefined: none are configured. */
  backups(): BackupSchedule | undefined;
  /**
   * Makes a scheduled backup now, or waits for the running one; `backups().running` is true at once. Rejects if it or
   * its proof failed, which is recorded and logged, and if none are configured.
   */
  backUp(): Promise<BackupRun>;
  /**
   * Examines what `turnpike doctor` does, as far as a running gateway can be examined; without secrets. Each plugin has
   * 20 seconds. While an examination runs, others wait for its result.
   */
  examine(): Promise<readonly Diagnosis[]>;
  configuration(): Promise<Configuration>;
  /**
   * Checks a draft of gateway.yaml; nothing is written, started or loaded. Masks represent the secrets of the file on
   * disk. A draft cannot read files or environment variables that the file on disk does not refer to.
   */
  check(text: string): Promise<Verdict>;
  /** The JSON Schema of gateway.yaml with the loaded plugins. */
  schema(): object;
  /** Reloads the file, as SIGHUP does. Returns the errors; empty on success. */
  reload(): Promise<readonly Remark[]>;
}
/** The service `Running`. */
export const Running = service<Running>('running');
