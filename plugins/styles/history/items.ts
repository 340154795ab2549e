/** The input items of a response, as a paginated list. */

import type { Json, JsonObject } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { wrong } from '../request-fields.ts';
import { type Direction, type ItemsFound, type ItemsWork, outputOf, textOf } from './work.ts';

const MAX_LIMIT = 100;

/** The parameters of a query. */
export interface PageQuery {
  readonly limit: number;
  readonly order: Direction;
  readonly after: string | null;
}

/** `limit`, `order` and `after`; newest first by default. */
export function readPageQuery(query: URLSearchParams): PageQuery {
  const limit = Number(query.get('limit') ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    wrong('limit', `must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') wrong('order', 'must be asc or desc');
  return { limit, order, after: query.get('after') };
}

/** The items of one turn that follow `after`, or all of them. */
export function itemsOf({ id, input, response, order, after, most }: ItemsWork): ItemsFound {
  const inputs = (JSON.parse(textOf(input)) as readonly Json[]).filter(isObject);
  const outputs = response === undefined ? [] : outputOf(response);
  const items = [...inputs, ...outputs].map((item, i) => complete(item, `item_${withoutPrefix(id)}_${i}`));
  if (order === 'desc') items.reverse();
  const at = after === null ? -1 : items.findIndex((item) => item.id === after);
  if (after !== null && at === -1) return { ids: [], bytes: new Uint8Array(), found: false, more: false };
  const page = items.slice(at + 1, at + 1 + most);
  return {
    ids: page.map((item) => item.id),
    bytes: Buffer.from(page.map((item) => JSON.stringify(item)).join(',')),
    found: at >= 0,
    more: at + 1 + most < items.length,
  };
}

/** Adds what clients may omit and readers expect: an id, the type `message`, text as a part. */
function complete(item: JsonObject, id: string): JsonObject & { readonly id: string } {
  const named = { ...item, id: typeof item.id === 'string' ? item.id : id };
  if ((item.type ?? 'message') !== 'message') return named;
  const type = item.role === 'assistant' ? 'output_text' : 'input_text';
  const content = typeof item.content === 'string' ? [{ type, text: item.content }] : (item.content ?? []);
  return { status: 'completed', ...named, type: 'message', content };
}

/** An id without its prefix: `resp_1` and `item_1` belong together. */
export function withoutPrefix(id: string): string {
  return id.replace(/^[a-z]+_/, '');
}

/** A page of items, collected turn by turn, as JSON that is not parsed again. */
export class Page {
  readonly ids: string[] = [];
  readonly #pieces: Uint8Array[] = [];

  add({ ids, bytes }: ItemsFound): void {
    if (ids.length === 0) return;
    if (this.#pieces.length > 0) this.#pieces.push(COMMA);
    this.#pieces.push(bytes);
    this.ids.push(...ids);
  }

  json(hasMore: boolean): Buffer {
    const first = JSON.stringify(this.ids[0] ?? null);
    const last = JSON.stringify(this.ids.at(-1) ?? null);
    const end = Buffer.from(`],"first_id":${first},"last_id":${last},"has_more":${hasMore}}`);
    return Buffer.concat([Buffer.from('{"object":"list","data":['), ...this.#pieces, end]);
  }
}

const COMMA = Buffer.from(',');

export function notInList(): never {
  wrong('after', 'must be the id of an item of this list');
}
