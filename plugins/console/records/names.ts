/** Names for the numbers of an answer: each is looked up once, however often it comes. */
import { Accounts, type Person } from '../../../core/contracts/accounts.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import type { Host } from '../../../core/plugin.ts';

/** Of one request. */
export interface Names {
  person(id: number): Promise<Person | undefined>;
  /** The name of a key, of one that was revoked, too; empty where there never was one. */
  key(id: number): Promise<string>;
}

/** Knows nobody yet. */
export function createNames(host: Host): Names {
  const accounts = host.use(Accounts);
  const keys = host.use(Keys);
  const people = new Map<number, Promise<Person | undefined>>();
  const keyNames = new Map<number, Promise<string>>();
  return {
    person: (id) => remembered(people, id, () => accounts.person(id)),
    key: (id) => remembered(keyNames, id, async () => (await keys.nameOf(id)) ?? ''),
  };
}

function remembered<T>(known: Map<number, Promise<T>>, id: number, look: () => Promise<T>): Promise<T> {
  const before = known.get(id);
  if (before !== undefined) return before;
  const found = look();
  known.set(id, found);
  return found;
}
