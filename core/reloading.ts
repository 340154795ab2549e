/** Detects changes of gateway.yaml, and settings that cannot change while the gateway runs. */
import type { Plan } from './assembly.ts';
import type { Clock } from './clock.ts';
import type { ConfigSource } from './config/source.ts';

/** A change that needs a restart is reported as an error of the new file, not ignored. */
export function refuseRestart(running: Plan, next: Plan): void {
  // A section with errors is not compared.
  if (!next.file.readable) return;
  // The certificate can change; switching TLS on or off cannot.
  const same = (a: unknown, b: unknown): boolean =>
    typeof a === 'object' && typeof b === 'object' ? true : JSON.stringify(a) === JSON.stringify(b);
  const section = (plan: Plan, name: string) => (plan.values[name] ?? {}) as Record<string, unknown>;
  if (running.values.config !== next.values.config)
    next.file.problem(['config'], 'changing this needs a restart of the gateway');
  for (const [name, keys] of [
    ['store', ['driver', 'file', 'url', 'data', 'pool', 'statementTimeout']],
    ['listen', ['host', 'port', 'tls', 'workers']],
    ['upstream', ['client']],
  ] as const) {
    for (const key of keys) {
      if (!same(section(running, name)[key], section(next, name)[key])) {
        next.file.problem([name, key], 'changing this needs a restart of the gateway');
      }
    }
  }
}

/** How often gateway.yaml is read. */
const LOOK_MS = 1_000;

/** A watched source. */
export interface SourceWatch {
  /** The text of this revision was loaded: it is not reported. */
  took(revision: string): void;
  stop(): void;
}

/**
 * Reports that the configuration has changed and is stable: two reads are equal. Polling instead of watching works
 * behind symbolic links whose target changes, on network file systems, and if the system has no watches left.
 */
export function watchSource(source: ConfigSource, clock: Clock, revision: string, changed: () => void): SourceWatch {
  let taken: string | undefined = revision;
  let seen: string | undefined = revision;
  let looking = false;

  async function look(): Promise<void> {
    const now = await source.revision();
    if (now === seen && now !== taken) {
      taken = now;
      changed();
    }
    seen = now;
  }

  return {
    took(loaded) {
      taken = loaded;
    },
    stop: clock.every(LOOK_MS, () => {
      if (looking) return;
      looking = true;
      // A database that is away is looked at again.
      look().then(
        () => {
          looking = false;
        },
        () => {
          looking = false;
        },
      );
    }),
  };
}
