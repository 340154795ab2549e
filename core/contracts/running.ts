/** The gateway itself: what it is doing now, how it is doing, and what it was configured with, over all its processes. Provided by core. */
import { service } from '../definitions.ts';
import type { Account } from './accounts.ts';
import type { KeyRecord } from './keys.ts';

/** What an exchange waits for: `waiting`: no vendor was asked yet; `asking`: one was; `answering`: bytes of it have gone to the client. */
export type RunningPhase = 'waiting' | 'asking' | 'answering';

/** An exchange that has not ended. */
export interface RunningExchange {
  readonly id: string;
  /** Unix milliseconds. */
  readonly startedMs: number;
  /** How long it has run, in milliseconds. */
  readonly ms: number;
  /** Undefined until it is known who is calling. */
  readonly holder:
    | { readonly account: Pick<Account, 'id' | 'name'>; readonly key: Pick<KeyRecord, 'id' | 'name'> }
    | undefined;
  readonly ip: string;
  /** Empty for a passage. */
  readonly style: string;
  /** The public name that was asked for; empty until that was read, and for a passage. */
  readonly model: string;
  readonly stream: boolean;
  /** Which was asked last; undefined: none yet. */
  readonly channel: string | undefined;
  readonly attempts: number;
  readonly phase: RunningPhase;
  readonly outputTokens: number;
  /** The name of the gateway that it runs in; undefined if no other one shares the store. */
  readonly gateway: string | undefined;
}

/**
 * How the gateway and its machine are doing: the sum of its processes, of `lag` the worst. Sizes in bytes. Where several gateways share the
 * store, `inFlight` is the sum of all that answer, and `gateways` tells of each; everything else is of this one.
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
    /** The heaps cannot grow beyond it. */
    readonly heapLimit: number;
    readonly external: number;
    /** Of the machine, or of the container where that has less. */
    readonly machine: number;
  };
  readonly cpu: {
    /** Milliseconds since the processes began. */
    readonly userMs: number;
    readonly systemMs: number;
    readonly cores: number;
    /** Of the machine, over 1, 5 and 15 minutes; zeros where it does not say. */
    readonly load: readonly number[];
  };
  /** How late the event loop is, in milliseconds, over the last minute; undefined before ten seconds have passed. */
  readonly lag: Lag | undefined;
  readonly inFlight: number;
  /** Which configuration runs, counted from 1, and when it was taken, in unix milliseconds. */
  readonly configuration: {
    readonly generation: number;
    readonly loadedMs: number;
    /** Other gateways on the same store that run with another gateway.yaml: `HOST:PORT` of each. */
    readonly differing: readonly string[];
  };
  /** What sections of gateway.yaml say they keep (`keep`), by section: `{log: '90d'}`. */
  readonly keeps: Readonly<Record<string, string>>;
  readonly store: {
    /** The name of the file, without its folder. */
    readonly name: string;
    /** Lists that wait to be written. */
    readonly waiting: number;
    /** False where it cannot be written now. */
    readonly writable: boolean;
    /** Its disk is nearly full: what calls can do without (kept responses) is not written. */
    readonly scarce: boolean;
    /** Undefined where the driver does not say. */
    readonly room:
      | { readonly file: number; readonly log: number; readonly free: number; readonly disk: number }
      | undefined;
  };
  /** The last `turnpike backup`; undefined: there was none. */
  readonly backup: Backup | undefined;
  /** This gateway first, then those that share the store, in the order of their names. */
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

/** What a gateway says of itself: the sum of its processes, of `lag` the worst. Sizes in bytes. */
export interface GatewayReport {
  /** As `/readyz` says it. */
  readonly readiness: Readiness;
  /** The digest of the gateway.yaml that it runs with. */
  readonly configuration: string;
  readonly memory: Pick<Vitals['memory'], 'rss' | 'heapUsed' | 'heapLimit' | 'machine'>;
  readonly lag: Lag | undefined;
  readonly inFlight: number;
  /** Calls that began within the last five minutes. */
  readonly calls: number;
  readonly store: Pick<Vitals['store'], 'waiting' | 'writable'>;
  /** Where rate limits are counted; undefined: nowhere. */
  readonly counters:
    | {
        /** `memory` or `valkey`. */
        readonly driver: string;
        /** Of a driver that is shared: whether it can be reached now. Undefined: each gateway counts by itself. */
        readonly shared: boolean | undefined;
      }
    | undefined;
}

/** Whether a gateway takes calls: `busy`: not now, the store is behind or cannot be written. */
export type Readiness = 'starting' | 'ready' | 'busy' | 'draining';

/** How late the event loop is, in milliseconds. */
export interface Lag {
  readonly mean: number;
  readonly p50: number;
  /** In the worst ten seconds. */
  readonly p99: number;
  readonly max: number;
}

/** A backup that was made. */
export interface Backup {
  /** When it was begun, unix milliseconds. */
  readonly atMs: number;
  /** The name of its file, without the folder. */
  readonly name: string;
  /** Undefined where the file could not be looked at. */
  readonly bytes: number | undefined;
  readonly tookMs: number;
}

/** One moment of the last hour; there is one every ten seconds. */
export interface Sample {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly rss: number;
  readonly heapUsed: number;
  /** Processor time per time since the sample before: 1 is one core. */
  readonly cpu: number;
  /** p99 since the sample before, in milliseconds. */
  readonly lag: number;
  readonly inFlight: number;
  /** Lists that wait to be written. */
  readonly waiting: number;
  /** Calls that began since the sample before. */
  readonly calls: number;
}

/** A place of gateway.yaml and what is to be said of it. */
export interface Remark {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** `channels[0].vendor`; empty for the file itself. */
  readonly path: string;
  readonly message: string;
}

/** What there is to say of a configuration. */
export interface Verdict {
  /** What keeps it from being taken; none: it would be. */
  readonly problems: readonly Remark[];
  /** What works and is unwise. */
  readonly warnings: readonly Remark[];
  /** What `turnpike check` prints; empty where there are problems. */
  readonly report: readonly string[];
}

/** gateway.yaml as it runs, and as it lies on the disk. Secrets are masked: `•••• 3fa91c`, the same for the same secret. */
export interface Configuration {
  /** Without its folder. */
  readonly name: string;
  readonly generation: number;
  readonly running: { readonly text: string; readonly loadedMs: number };
  readonly disk: {
    readonly text: string;
    /** It says something else than what runs. */
    readonly changed: boolean;
    /** Unix milliseconds; undefined where it cannot be read. */
    readonly modifiedMs: number | undefined;
  };
  /** Of what lies on the disk; its places are those of the masked text. */
  readonly verdict: Verdict;
}

/** Which exchanges are asked for. */
export interface InFlightQuery {
  readonly accountId?: number;
  readonly limit: number;
}

/** Exchanges that run, and how many there are. */
export interface InFlight {
  readonly total: number;
  readonly items: readonly RunningExchange[];
}

/** What may be asked of it once the gateway serves. It survives reloads. */
export interface Running {
  /** The exchanges that run now in every gateway on the store, newest first, of one account or (undefined) of all; and how many there are. */
  inFlight(asked: InFlightQuery): Promise<InFlight>;
  vitals(): Promise<Vitals>;
  /**
   * Whether the store's disk has room for so many more bytes of something that calls can do without. It is refused long before the
   * disk is full: what calls need is written as long as possible.
   */
  hasRoom(bytes: number): boolean;
  /** The last hour, oldest first. */
  history(): readonly Sample[];
  /** Whether a proxy is trusted, and the address of one that is not but forwards requests; undefined: none does. */
  proxy(): { readonly trusted: boolean; readonly untrusted: string | undefined };
  configuration(): Promise<Configuration>;
  /**
   * Judges a text as if it stood in the file; nothing is written, started or taken over. What is masked stands for the secret where the
   * file has it. It is no way to learn of files or of the environment: only what the file itself refers to may it refer to.
   */
  check(text: string): Promise<Verdict>;
  /** The JSON Schema of gateway.yaml with the plugins that run. */
  schema(): object;
  /** Takes the file over, as SIGHUP does. What kept it from that; none: it runs. */
  reload(): Promise<readonly Remark[]>;
}
/** The service of that name. */
export const Running = service<Running>('running');
