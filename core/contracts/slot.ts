/** State that a plugin keeps with one request: a slot on the request itself, collected with it. */
import type { Entrant } from './caller.ts';
import type { Exchange } from './exchange.ts';

/** A slot for a `T` on every request: an index into the request's list, which costs almost nothing. */
export interface Slot<T> {
  /** Undefined if nothing was set. */
  get(x: Exchange | Entrant): T | undefined;
  set(x: Exchange | Entrant, value: T): void;
}

/** A request with its state; undefined if nothing is kept. */
interface Slotted {
  slots: unknown[] | undefined;
}

/** The slots by name; shared by all copies of this module, because plugins may bring their own. */
const PLACES = Symbol.for('turnpike.slots');
const shared = globalThis as { [PLACES]?: Map<string, number> };
const places = shared[PLACES] ?? new Map<string, number>();
shared[PLACES] = places;

/** Creates one. `name` starts with the plugin's name: `quota.taking`. Two slots with one name are the same slot. */
export function slot<T>(name: string): Slot<T> {
  const place = places.get(name) ?? places.size;
  places.set(name, place);
  return {
    get: (x) => (x as unknown as Slotted).slots?.[place] as T | undefined,
    set(x, value) {
      const slotted = x as unknown as Slotted;
      slotted.slots ??= [];
      slotted.slots[place] = value;
    },
  };
}
