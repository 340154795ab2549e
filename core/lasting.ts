/** What outlives a reload of the configuration, by name and version. */
import type { Lasting } from './contracts/host.ts';

/** All that a process keeps over reloads. */
export class LastingStates {
  readonly #states = new Map<string, { readonly version: number; readonly value: unknown }>();

  /** The state of this name: made the first time; of another version, migrated if it can be, otherwise made new. */
  get<T>({ name, version, make, migrate }: Lasting<T>): T {
    const kept = this.#states.get(name);
    if (kept?.version === version) return kept.value as T;
    const value = kept === undefined || migrate === undefined ? make() : migrate(kept.value, kept.version);
    this.#states.set(name, { version, value });
    return value;
  }
}
