/** The items that a response was made from, as a list that is read page by page. */
import { isObject, type Json, type JsonObject, refuse } from '../../../core/plugin.ts';
import type { Said } from './turns.ts';

const MAX_LIMIT = 100;

/** Everything said before the answer of the last turn, oldest first. */
export function inputItems(chain: readonly Said[]): readonly JsonObject[] {
  return chain.flatMap(({ id, input, response }, at) => {
    const { output } = JSON.parse(response) as JsonObject;
    const items = JSON.parse(input) as readonly Json[];
    const answered = at < chain.length - 1 && Array.isArray(output) ? (output as readonly Json[]) : [];
    return [...items, ...answered].filter(isObject).map((item, i) => complete(item, `item_${bare(id)}_${i}`));
  });
}

/** What clients may leave out and readers expect: an id, the kind of a message, its text as a part. */
function complete(item: JsonObject, id: string): JsonObject {
  const named = { ...item, id: typeof item.id === 'string' ? item.id : id };
  if ((item.type ?? 'message') !== 'message') return named;
  const type = item.role === 'assistant' ? 'output_text' : 'input_text';
  const content = typeof item.content === 'string' ? [{ type, text: item.content }] : (item.content ?? []);
  return { status: 'completed', ...named, type: 'message', content };
}

/** An id without its kind: `resp_1` and `item_1` belong together. */
function bare(id: string): string {
  return id.replace(/^[a-z]+_/, '');
}

/** One page: `limit`, `order` and `after` as the query says; newest first where it says nothing. */
export function pageOf(items: readonly JsonObject[], query: URLSearchParams): JsonObject {
  const limit = Number(query.get('limit') ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    wrong('limit', `must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') wrong('order', 'must be asc or desc');
  const ordered = order === 'asc' ? items : items.toReversed();
  const after = query.get('after');
  const from = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) wrong('after', 'must be the id of an item of this list');
  const data = ordered.slice(from, from + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  };
}

function wrong(param: string, should: string): never {
  refuse(400, 'invalid_request_error', `\`${param}\` ${should}.`, { param });
}
