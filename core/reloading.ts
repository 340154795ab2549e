/** Detects changes of gateway.yaml and of the files that it names, and settings that cannot change while the gateway runs. */
import { readFile } from 'node:fs/promises';
import type { Plan } from './assembly.ts';
import type { Clock } from './clock.ts';
import type { ConfigFile } from './config/file.ts';

/** A change that needs a restart is reported as an error of the new file, not ignored. */
export function refuseRestart(running: Plan, next: Plan): void {
  // A section with errors is not compared.
  if (!next.file.readable) return;
  // The certificate can change; switching TLS on or off cannot.
  const same = (a: unknown, b: unknown): boolean =>
    typeof a === 'object' && typeof b === 'object' ? true : JSON.stringify(a) === JSON.stringify(b);
  const section = (plan: Plan, name: string) => (plan.values[name] ?? {}) as Record<string, unknown>;
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

/** How often the files are read. */
const LOOK_MS = 1_000;

/**
 * Reports that a file of the running configuration (gateway.yaml, `.env`, or one with a secret) has changed, and all are stable: two reads are equal.
 * Polling instead of watching works behind symbolic links whose target changes, on network file systems, and if the system has no watches left.
 */
export function watchFiles(running: () => Pick<ConfigFile, 'sources'>, clock: Clock, changed: () => void): () => void {
  let { sources } = running();
  let taken = contentOf(sources.values());
  let seen = taken;
  let looking = false;
  return clock.every(LOOK_MS, async () => {
    if (looking) return;
    looking = true;
    if (sources !== running().sources) {
      ({ sources } = running());
      taken = seen = contentOf(sources.values());
    }
    const looked = sources;
    const now = contentOf(await Promise.all([...looked.keys()].map(read)));
    looking = false;
    // A reload has replaced the files since the look began.
    if (looked !== running().sources) return;
    if (now === seen && now !== taken) {
      taken = now;
      changed();
    }
    seen = now;
  });
}

function contentOf(texts: Iterable<string | undefined>): string {
  return JSON.stringify([...texts].map((text) => text ?? null));
}

/** Undefined if it cannot be read. */
function read(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}
