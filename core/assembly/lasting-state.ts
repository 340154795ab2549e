/** State that survives a reload of the configuration, by name and version. */
import type { Lasting } from '../contracts/host.ts';

/** The state that a process keeps over reloads. */
export class LastingStates {
  readonly #states = new Map<string, { readonly version: number; readonly value: unknown }>();

  /** The state of this name: created the first time; of another version, migrated if possible, or created again. */
  get<T>({ name, version, make, migrate }: Lasting<T>): T {
    const stored = this.#states.get(name);
    if (stored?.version === version) return stored.value as T;
    const value = stored === undefined || migrate === undefined ? make() : migrate(stored.value, stored.version);
    this.#states.set(name, { version, value });
    return value;
  }
}
