/** When a gateway takes gateway.yaml over while it runs, and what it cannot take over. */
import { readFile } from 'node:fs/promises';
import type { Plan } from './assembly.ts';
import type { Clock } from './clock.ts';
import type { ConfigFile } from './config/file.ts';

/** What a running gateway cannot change is an error of the new file, not a silence. */
export function refuseRestart(running: Plan, next: Plan): void {
  // What cannot be read says nothing of it.
  if (!next.file.readable) return;
  // Which certificate it shows can change; whether it shows one cannot.
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

/** How often gateway.yaml is looked at. */
const LOOK_MS = 1_000;

/**
 * Tells when the file says something else than it did, and has come to rest: two looks see the same. It is read, not watched:
 * that works behind symbolic links whose target changes, on file systems of other machines, and where the system has no watch
 * left to give.
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
