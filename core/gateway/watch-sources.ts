/** Detects changes of what the configuration was read from, and settings that cannot change while the gateway runs. */
import type { Plan } from '../assembly/assemble.ts';
import type { ConfigFile } from '../config/file.ts';
import type { ConfigSource } from '../operations/config-editing/config-source.ts';
import type { Clock } from '../runtime/clock.ts';

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
  ] as const) {
    for (const key of keys) {
      if (!same(section(running, name)[key], section(next, name)[key])) {
        next.file.problem([name, key], 'changing this needs a restart of the gateway');
      }
    }
  }
}

/** How often the sources are read. */
const LOOK_MS = 1_000;

/**
 * Reports that a source of the running configuration (gateway.yaml, `.env`, a file with a secret, the text in the database) has changed, and all are
 * stable: two reads are equal. Polling instead of watching works behind symbolic links whose target changes, on network file systems, and if the
 * system has no watches left. Returns a function that ends it.
 */
export function watchSources(
  running: () => Pick<ConfigFile, 'sources'>,
  { look }: Pick<ConfigSource, 'look'>,
  clock: Clock,
  changed: () => void,
): () => void {
  let { sources } = running();
  let taken = contentOf(sources.values());
  let seen = taken;
  let looking = false;

  async function compare(): Promise<void> {
    if (sources !== running().sources) {
      ({ sources } = running());
      taken = seen = contentOf(sources.values());
    }
    const now = contentOf(await Promise.all([...sources.keys()].map(look)));
    // A reload has replaced the configuration meanwhile.
    if (sources !== running().sources) return;
    if (now === seen && now !== taken) {
      taken = now;
      changed();
    }
    seen = now;
  }

  return clock.every(LOOK_MS, async () => {
    if (looking) return;
    looking = true;
    // A database that is away is looked at again.
    await compare().catch(() => {});
    looking = false;
  });
}

/** Without byte order marks, which are no part of a text that was read. */
function contentOf(texts: Iterable<string | undefined>): string {
  return JSON.stringify([...texts].map((text) => text?.replace(/^\uFEFF/, '') ?? null));
}
