/** The items of the sections of gateway.yaml that have forms, and the edits that add, change, rename and remove them. */
import {
  type Edit,
  editsBetween,
  fromOf,
  isSame,
  itemsOf,
  type Members,
  membersOf,
  offersOf,
  textOf,
  type Value,
} from './settings.ts';

/** The sections with lists; `aliases` are the models that stand for another. */
export const SECTIONS = ['channels', 'models', 'aliases', 'prices', 'plans', 'passthrough'] as const;
/** One of them. */
export type SectionName = (typeof SECTIONS)[number];

/** The member that names the items of a list. */
const NAMED_BY: Readonly<Partial<Record<SectionName, string>>> = { channels: 'name', passthrough: 'prefix' };

/** An item. */
export interface Row {
  /** Its name; `prefix` of a passthrough route. */
  readonly id: string;
  readonly path: readonly (string | number)[];
  readonly value: Value;
}

/** The section in the file: aliases are among the models. */
export function fileSectionOf(section: SectionName): string {
  return section === 'aliases' ? 'models' : section;
}

/** The member of an item that is its name; undefined if its key is. */
export function namedBy(section: SectionName): string | undefined {
  return NAMED_BY[section];
}

/** The items of a section in the order of the file. */
export function rowsOf(settings: Members, section: SectionName): readonly Row[] {
  const name = fileSectionOf(section);
  const named = namedBy(section);
  if (named !== undefined)
    return itemsOf(settings[name]).map((value, at) => ({
      id: textOf(membersOf(value)[named]),
      path: [name, at],
      value,
    }));
  const rows = Object.entries(membersOf(settings[name])).map(([id, value]) => ({ id, path: [name, id], value }));
  if (name !== 'models') return rows;
  return rows.filter(({ value }) => (membersOf(value).alias !== undefined) === (section === 'aliases'));
}

/** The edits that add an item. */
export function addEdits(settings: Members, section: SectionName, id: string, value: Value): readonly Edit[] {
  const name = fileSectionOf(section);
  if (namedBy(section) === undefined) return [{ path: [name, id], value }];
  const items = settings[name];
  return Array.isArray(items) ? [{ path: [name, items.length], value }] : [{ path: [name], value: [value] }];
}

/** The edits that change an item, and rename it if `id` is another name. What refers to its old name then refers to the new one. */
export function changeEdits(
  settings: Members,
  section: SectionName,
  row: Row,
  id: string,
  value: Value,
): readonly Edit[] {
  const edits = editsBetween(row.path, row.value, value);
  if (id === row.id) return edits;
  return [
    ...edits,
    ...(namedBy(section) === undefined ? [{ path: [...row.path], rename: id } as const] : []),
    ...referenceEdits(settings, section, row.id, id),
  ];
}

/** The edits that remove an item, and from models the channel that is removed; models that it alone serves are removed, too. */
export function removeEdits(settings: Members, section: SectionName, row: Row): readonly Edit[] {
  const edits: readonly Edit[] = [{ path: [...row.path], remove: true }];
  if (section === 'aliases' || section === 'plans' || section === 'prices' || section === 'passthrough') return edits;
  return [...referenceEdits(settings, section, row.id, undefined), ...edits];
}

/** The models that have no channel without this one, and those that have another. */
export function servedBy(
  settings: Members,
  channel: string,
): { readonly alone: readonly string[]; readonly shared: readonly string[] } {
  const alone: string[] = [];
  const shared: string[] = [];
  for (const [name, model] of Object.entries(membersOf(settings.models))) {
    const offers = offersOf(membersOf(model).from);
    if (!offers.some(([of]) => of === channel)) continue;
    (offers.every(([of]) => of === channel) ? alone : shared).push(name);
  }
  return { alone, shared };
}

/** Renames (`to`) or removes (undefined) a channel or a model in everything that refers to it. */
function referenceEdits(
  settings: Members,
  section: SectionName,
  name: string,
  to: string | undefined,
): readonly Edit[] {
  if (section === 'channels') return channelEdits(settings, name, to);
  if (section !== 'models') return [];
  const edits: Edit[] = [];
  for (const [id, value] of Object.entries(membersOf(settings.models))) {
    const model = membersOf(value);
    if (id === name) continue;
    if (model.alias === name)
      edits.push(
        to === undefined ? { path: ['models', id], remove: true } : { path: ['models', id, 'alias'], value: to },
      );
    edits.push(...listEdits(['models', id, 'fallback'], model.fallback, name, to));
  }
  if (Object.hasOwn(membersOf(settings.prices), name))
    edits.push(to === undefined ? { path: ['prices', name], remove: true } : { path: ['prices', name], rename: to });
  return edits;
}

function channelEdits(settings: Members, name: string, to: string | undefined): readonly Edit[] {
  const edits: Edit[] = [];
  for (const [id, value] of Object.entries(membersOf(settings.models))) {
    const { from } = membersOf(value);
    const offers = offersOf(from);
    const after = offers.flatMap(([channel, upstream]) =>
      channel !== name ? [[channel, upstream] as const] : to === undefined ? [] : [[to, upstream] as const],
    );
    if (isSame(fromOf(offers), fromOf(after))) continue;
    edits.push(
      after.length > 0
        ? { path: ['models', id, 'from'], value: fromOf(after) }
        : { path: ['models', id], remove: true },
    );
  }
  const routes = [...itemsOf(settings.passthrough).entries()].filter(
    ([, route]) => textOf(membersOf(route).channel) === name,
  );
  // From the last, so that the positions of the others stay.
  for (const [at] of routes.reverse())
    edits.push(
      to === undefined
        ? { path: ['passthrough', at], remove: true }
        : { path: ['passthrough', at, 'channel'], value: to },
    );
  return edits;
}

function listEdits(
  path: readonly (string | number)[],
  list: Value | undefined,
  name: string,
  to: string | undefined,
): readonly Edit[] {
  const items = itemsOf(list);
  if (!items.includes(name)) return [];
  const after = items.flatMap((item) => (item === name ? (to === undefined ? [] : [to]) : [item]));
  return after.length === 0 ? [{ path: [...path], remove: true }] : [{ path: [...path], value: after }];
}
