/** Resolves ids to names for a response; each id is looked up once. */
import { Accounts, type Person } from '../../../../core/contracts/accounts.ts';
import { Keys } from '../../../../core/contracts/keys.ts';
import type { Host } from '../../../../core/plugin.ts';

/** Creates an empty one. */
export function createNames(host: Host) {
  const accounts = host.use(Accounts);
  const keys = host.use(Keys);
  const people = new Map<number, Promise<Person | undefined>>();
  const keyNames = new Map<number, Promise<string>>();
  return {
    person: (id: number): Promise<Person | undefined> => remembered(people, id, () => accounts.person(id)),
    /** The name of a key, deleted ones included; empty if there never was such a key. */
    key: (id: number): Promise<string> => remembered(keyNames, id, async () => (await keys.nameOf(id)) ?? ''),
  };
}

/** The names for one request. */
export type Names = ReturnType<typeof createNames>;

function remembered<T>(cache: Map<number, Promise<T>>, id: number, look: () => Promise<T>): Promise<T> {
  const before = cache.get(id);
  if (before !== undefined) return before;
  const name = look();
  cache.set(id, name);
  return name;
}
