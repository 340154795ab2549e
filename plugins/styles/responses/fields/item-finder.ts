/** Finds the items of a stream by the members of its events, in constant time. */

/** The known members of an item; its type may be reported later. */
export interface Findable {
  /** Empty until it is known. */
  readonly type: string;
  readonly id: string;
  readonly index: number | undefined;
  /** True if no more events follow. */
  readonly done: boolean;
}

/** Finds the latest of several matching items. An event without a type matches items of any type. */
export interface ItemFinder<I extends Findable> {
  add(item: I): void;
  /** Sets the type of an item. */
  typed(item: I): void;
  byId(id: string, type: string): I | undefined;
  byIndex(index: number | undefined, type: string): I | undefined;
  /** Finds an open item. `placeless`: without an index; `nameless`: without an id. */
  underWay(type: string, which?: Lack): I | undefined;
}

type Lack = 'placeless' | 'nameless';

/** The key for items of any type. */
const ANY = '*';

/** Creates a finder for one stream. */
export function createItemFinder<I extends Findable>(): ItemFinder<I> {
  const orders = new Map<I, number>();
  const places = new Map<string, I>();
  const open = new Map<string, I[]>();

  function enter(item: I, type: string): void {
    if (item.id !== '') places.set(`${type} id ${item.id}`, item);
    if (item.index !== undefined) places.set(`${type} index ${item.index}`, item);
    list(type).push(item);
    if (item.index === undefined) list(type, 'placeless').push(item);
    if (item.id === '') list(type, 'nameless').push(item);
  }

  function list(type: string, which: Lack | 'all' = 'all'): I[] {
    const key = `${which} ${type}`;
    const items = open.get(key) ?? [];
    if (items.length === 0) open.set(key, items);
    return items;
  }

  /** Searches items of the type, and those of unknown type. */
  function latest(type: string, find: (type: string) => I | undefined): I | undefined {
    if (type === '') return find(ANY);
    const own = find(type);
    const unknown = find('');
    if (unknown === undefined || unknown.type !== '' || unknown.done) return own;
    return own === undefined || orders.get(unknown)! > orders.get(own)! ? unknown : own;
  }

  /** Items that are done, or have got a type, are removed from these lists. */
  function lastOpen(items: I[], isUnknown: boolean): I | undefined {
    let item = items.at(-1);
    while (item !== undefined && (item.done || (isUnknown && item.type !== ''))) {
      items.pop();
      item = items.at(-1);
    }
    return item;
  }

  return {
    add(item) {
      orders.set(item, orders.size);
      enter(item, ANY);
      enter(item, item.type);
    },
    typed: (item) => enter(item, item.type),
    byId: (id, type) => (id === '' ? undefined : latest(type, (key) => places.get(`${key} id ${id}`))),
    byIndex: (index, type) =>
      index === undefined ? undefined : latest(type, (key) => places.get(`${key} index ${index}`)),
    underWay: (type, which) => latest(type, (key) => lastOpen(list(key, which), key === '')),
  };
}
