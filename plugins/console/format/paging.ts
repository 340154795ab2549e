/** Pagination of lists: `p` from 1, `page_size` up to 100. Older clients send 0 for the first page and the default size. */
import type { Schema } from '../../../core/plugin.ts';
import { idNumber, integer, type Members, queryOf } from './schemas.ts';

const USUAL = 10;
const MOST = 100;
/** Rows and pages beyond it are not read; filters are the better way to such rows. */
const FARTHEST = 10_000_000;

/** The schema of the page size; 0 is the default, as older clients send it. */
export function pageSize(usual: number, most: number) {
  const description = `Items per page: ${usual} by default (0, too), at most ${most}.`;
  return { description, ...integer, minimum: 0, maximum: most } as const;
}

/** The page size of a query. */
export function sizeOf(requested: number | undefined, usual: number): number {
  return requested !== undefined && requested > 0 ? requested : usual;
}

const alias = {
  ...pageSize(USUAL, MOST),
  description: 'The same as page_size, for older clients.',
  deprecated: true,
} as const;

/** The pagination members of a `search` schema. */
export const pageProperties = {
  p: {
    description: 'The page, from 1; 0 is the first, too.',
    type: 'integer',
    minimum: 0,
    maximum: FARTHEST,
    default: 1,
  },
  page_size: pageSize(USUAL, MOST),
  ps: alias,
  size: alias,
} as const;

/** The pagination parameters of a query. */
export type PageSearch = Members<typeof pageProperties>;

/** A query with pagination parameters and more. */
export function pageSearch<const P extends object>(properties: P) {
  return queryOf({ ...pageProperties, ...properties });
}

/** The cursor of a list that is newest first: offsets move when items are created between two pages. */
export const cursorProperties = {
  before_id: {
    ...idNumber,
    description:
      'Only items with a smaller id: with the id of the last item it returns the next page, which new items do not move; use it instead of `p`, and without another order. `total` is then the number of these items.',
  },
} as const;

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

/** The rows of a page. */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
  readonly offset: number;
}

/** The page that a query requests. */
export function pageOf({ p, page_size, ps, size }: PageSearch): Page {
  const requested = [page_size, ps, size].find((each) => each !== undefined && each > 0);
  const rows = sizeOf(requested, USUAL);
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
    properties: {
      page: { ...integer, description: 'The page, from 1.' },
      page_size: { ...integer, description: 'The maximum number of items of a page.' },
      total: { ...integer, description: 'The number of items of all pages.' },
      items: { type: 'array', items },
    },
  };
}
