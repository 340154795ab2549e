/** Pages of lists, as tools of this family ask for them: `p` from 1, `page_size` up to 100. */
import { type Schema, schema } from '../../core/plugin.ts';
import { integer } from './schemas.ts';

/** What a query may say about the page. */
export interface PageSearch {
  readonly p: number;
  readonly page_size?: number;
  readonly ps?: number;
  readonly size?: number;
}

const USUAL = 10;
const MOST = 100;

/** The schema of a page's size. */
export function pageSize(usual: number, most: number) {
  return { description: `How many on a page: ${usual}, at most ${most}.`, ...integer };
}

/** The size that is asked for. Clients send zero, and more than there may be: they get the default, and the most. */
export function sizeOf(wanted: number | undefined, usual: number, most: number): number {
  return Math.min(wanted !== undefined && wanted > 0 ? wanted : usual, most);
}

/** The members of a `search` schema that are about the page. */
export const pageProperties = {
  p: { description: 'The page, from 1.', type: 'integer', default: 1 },
  page_size: pageSize(USUAL, MOST),
  ps: { description: 'The same as page_size.', type: 'integer' },
  size: { description: 'The same as page_size.', type: 'integer' },
} as const;

/** A search for a page and more. */
export function pageSearch<T extends PageSearch>(properties: Readonly<Record<string, object>> = {}) {
  return schema<T>({ type: 'object', properties: { ...pageProperties, ...properties } });
}

/** Beyond it a page is not looked for: there are better filters than the millionth page. */
const FARTHEST = 10_000_000;

/** Which rows to read. */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
  readonly offset: number;
}

/** The page a search asks for. */
export function pageOf({ p, page_size, ps, size }: PageSearch): Page {
  const wanted = [page_size, ps, size].find((each) => each !== undefined && each > 0);
  const rows = sizeOf(wanted, USUAL, MOST);
  const page = Math.min(Math.max(p, 1), Math.floor(FARTHEST / rows));
  return { page, pageSize: rows, offset: (page - 1) * rows };
}

/** A page of a list, as it is answered. */
export function pageAnswer<T>({ page, pageSize }: Page, total: number, items: readonly T[]) {
  return { page, page_size: pageSize, total, items };
}

/** Its schema, with a name if its items have one: `KeyPage`. */
export function pageSchema(items: object & { readonly title?: string }): Schema {
  return {
    ...(items.title !== undefined && { title: `${items.title}Page` }),
    type: 'object',
    required: ['page', 'page_size', 'total', 'items'],
    properties: { page: integer, page_size: integer, total: integer, items: { type: 'array', items } },
  };
}
