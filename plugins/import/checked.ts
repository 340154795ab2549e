/** Leaves what this gateway cannot have, by its name, before anything is written. */
import type { ForeignModel, Inventory, Note } from './inventory.ts';
import { marked } from './packed.ts';
import { unhurried } from './unhurried.ts';

/** Names that gateway.yaml refuses, and characters that no client could send. */
const UNUSABLE = /^(?:<<|__proto__|constructor|prototype)?$|\$\{|[\p{C}\p{Zl}\p{Zp}]/u;

/** The mark of keys that stay. */
const USABLE = 1;

/** The inventory without that, which is in its `left`. */
export async function checked(inventory: Inventory): Promise<Inventory> {
  const left: Note[] = [];
  const isUsable = (kind: 'model' | 'alias', name: string): boolean => {
    const usable = !UNUSABLE.test(name);
    if (!usable)
      left.push({
        kind: 'left',
        where: 'gateway.yaml',
        what: `${kind} ${name}`,
        why: 'gateway.yaml cannot have this name',
      });
    return usable;
  };
  const channels = new Set(inventory.channels.map(({ name }) => name));
  const models = [...inventory.models].flatMap(([name, model]) => {
    if (!isUsable('model', name)) return [];
    const from = model.from.filter(({ channel }) => channels.has(channel));
    if (from.length > 0) return [[name, { ...model, from }] as const];
    left.push({ kind: 'left', where: 'gateway.yaml', what: `model ${name}`, why: 'none of its channels is imported' });
    return [];
  });
  const aliases = [...inventory.aliases].filter(([alias, name]) => isUsable('alias', alias) && !UNUSABLE.test(name));
  const { keys } = inventory;
  const marks = new Uint8Array(keys.length);
  let place = 0;
  for await (const { name, expiresMs } of unhurried(keys)) {
    const isDated = expiresMs === undefined || expiresMs > 0;
    marks[place++] = isDated ? USABLE : 0;
    if (!isDated)
      left.push({ kind: 'left', where: 'gateway.yaml', what: `key ${name}`, why: 'its expiry is not a date' });
  }
  return {
    ...inventory,
    keys: marks.includes(0) ? marked(keys, marks, USABLE) : keys,
    models: new Map(models.map(([name, model]) => [name, withUsable(model)])),
    aliases: new Map(aliases),
    notes: [...inventory.notes, ...left],
  };
}

function withUsable({ fallback, ...model }: ForeignModel): ForeignModel {
  const usable = fallback?.filter((name) => !UNUSABLE.test(name)) ?? [];
  return { ...model, ...(usable.length > 0 && { fallback: usable }) };
}
