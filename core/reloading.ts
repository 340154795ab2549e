/** Detects changes of gateway.yaml, and settings that cannot change while the gateway runs. */
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

/** How often gateway.yaml is read. */
const LOOK_MS = 1_000;

/**
 * Reports that the file has changed and is stable: two reads are equal. Polling instead of watching works behind
 * symbolic links whose target changes, on network file systems, and if the system has no watches left.
 */
export function watchFile({ file, text }: ConfigFile, clock: Clock, changed: () => void): () => void {
  let taken: string | undefined = text;
  let seen: string | undefined = text;
  let looking = false;
  const utf8 = new TextDecoder();
  return clock.every(LOOK_MS, async () => {
    if (looking) return;
    looking = true;
    const now = await readFile(file).then(
      (bytes) => utf8.decode(bytes),
      () => undefined,
    );
    looking = false;
    if (now === seen && now !== taken) {
      taken = now;
      changed();
    }
    seen = now;
  });
}
