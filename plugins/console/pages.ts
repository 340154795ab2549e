/** Pagination of lists: `p` from 1, `page_size` up to 100. */
import type { Schema } from '../../core/plugin.ts';
import { integer, type Members, queryOf } from './schemas.ts';

const USUAL = 10;
const MOST = 100;

/** The schema of the page size. */
export function pageSize(usual: number, most: number) {
  return { description: `Items per page: ${usual} by default, at most ${most}.`, ...integer };
}

/** The page size of a query. Clients send 0 and sizes beyond the maximum: they get the default and the maximum. */
export function sizeOf(requested: number | undefined, usual: number, most: number): number {
  return Math.min(requested !== undefined && requested > 0 ? requested : usual, most);
}

/** The pagination members of a `search` schema. */
export const pageProperties = {
  p: { description: 'The page, from 1.', type: 'integer', default: 1 },
  page_size: pageSize(USUAL, MOST),
  ps: { description: 'The same as page_size.', type: 'integer' },
  size: { description: 'The same as page_size.', type: 'integer' },
} as const;

/** The pagination parameters of a query. */
export type PageSearch = Members<typeof pageProperties>;

/** A query with pagination parameters and more. */
export function pageSearch<const P extends object>(properties: P) {
  return queryOf({ ...pageProperties, ...properties });
}

/** The schema of a list's order: the names, each also with `-` in front for descending order. */
export function sortProperty<const N extends string>(names: readonly N[]) {
  return {
    description: `The order: ${names.map((name) => `\`${name}\``).join(', ')}; with \`-\` in front: descending. Default: newest first.`,
    enum: names.flatMap((name) => [name, `-${name}`] as const),
  } as const;
}

/** The order that a query requests, by the names of the service. */
export function sortOf<N extends string, By>(
  sort: N | `-${N}` | undefined,
  names: Readonly<Record<N, By>>,
): { readonly by: By; readonly descending: boolean } | undefined {
  if (sort === undefined) return undefined;
  return { by: names[sort.replace(/^-/, '') as N], descending: sort.startsWith('-') };
}

/** Pages beyond it are not read; filters are the better way to such rows. */
const FARTHEST = 10_000_000;

/** The rows of a page. */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
  readonly offset: number;
}

/** The page that a query requests. */
export function pageOf({ p, page_size, ps, size }: PageSearch): Page {
  const requested = [page_size, ps, size].find((each) => each !== undefined && each > 0);
  const rows = sizeOf(requested, USUAL, MOST);
  const page = Math.min(Math.max(p, 1), Math.floor(FARTHEST / rows));
  return { page, pageSize: rows, offset: (page - 1) * rows };
}

/** A page of a list in a response. */
export function pageAnswer<T>({ page, pageSize }: Page, total: number, items: readonly T[]) {
  return { page, page_size: pageSize, total, items };
}

/** The schema of a page; named if its items have a name: `KeyPage`. */
export function pageSchema(items: object & { readonly title?: string }): Schema {
  return {
    ...(items.title !== undefined && { title: `${items.title}Page` }),
    type: 'object',
    required: ['page', 'page_size', 'total', 'items'],
    properties: { page: integer, page_size: integer, total: integer, items: { type: 'array', items } },
  };
}
