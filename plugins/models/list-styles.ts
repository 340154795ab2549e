/** The three formats of model lists, and the pagination of two of them. */
import { invalidField } from '../../core/contracts/errors.ts';
import type { Json, JsonObject } from '../../core/plugin.ts';

/** A model in a list. */
export interface Listed {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly owner: string;
  /** The context window and the maximum output in tokens; undefined if unknown. */
  readonly context: number | undefined;
  readonly maxOutput: number | undefined;
}

/** A format. */
export interface ListStyle {
  /** The list, or the requested page; refuses (400) invalid queries. */
  list(models: readonly Listed[], query: URLSearchParams): Json;
  one(model: Listed): JsonObject;
}

/** `{object: 'list', data: […]}`, never paginated. */
export const plainList: ListStyle = {
  list: (models) => ({ object: 'list', data: models.map(plainList.one) }),
  one: ({ id, created, owner }) => ({ id, object: 'model', created, owned_by: owner }),
};

/** `{data: […], has_more, first_id, last_id}`: `before_id` and `after_id` name the model next to the page. */
export const messagesList: ListStyle = {
  list(models, query) {
    const size = wholeNumber(query, 'limit', { min: 1, max: 1_000 }) ?? 20;
    const after = query.get('after_id');
    const before = query.get('before_id');
    if (after !== null && before !== null) wrong('before_id', 'cannot be combined with `after_id`');
    const end = before === null ? models.length : placeOf(models, before, 'before_id');
    const start = after === null ? 0 : placeOf(models, after, 'after_id') + 1;
    const page = before === null ? models.slice(start, start + size) : models.slice(Math.max(0, end - size), end);
    return {
      data: page.map(messagesList.one),
      has_more: page.length < end - start,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    };
  },
  one: ({ id, created, context, maxOutput }) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(created * 1_000).toISOString().replace('.000Z', 'Z'),
    max_input_tokens: context ?? null,
    max_tokens: maxOutput ?? null,
  }),
};

/** The maximum page size of the third format; larger sizes are reduced to it. */
const LARGEST_PAGE = 1_000;

/** `{models: […], nextPageToken}`: `pageToken` names the model before the page. */
export const geminiList: ListStyle = {
  list(models, query) {
    // In this format 0 means the default.
    const size = Math.min(wholeNumber(query, 'pageSize', { min: 0 }) || 50, LARGEST_PAGE);
    const token = query.get('pageToken') ?? '';
    const start = token === '' ? 0 : placeOf(models, Buffer.from(token, 'base64url').toString(), 'pageToken') + 1;
    const page = models.slice(start, start + size);
    const last = page.at(-1);
    return {
      models: page.map(geminiList.one),
      ...(last !== undefined &&
        start + size < models.length && { nextPageToken: Buffer.from(last.id).toString('base64url') }),
    };
  },
  one: ({ id, context, maxOutput }) => ({
    name: `models/${id}`,
    version: '001',
    displayName: id,
    description: '',
    // In this format 0 stands for an unknown number.
    inputTokenLimit: context ?? 0,
    outputTokenLimit: maxOutput ?? 0,
    // No method of this format is served.
    supportedGenerationMethods: [],
  }),
};

function placeOf(models: readonly Listed[], id: string, field: string): number {
  const place = models.findIndex((model) => model.id === id);
  return place === -1 ? wrong(field, 'is not a position in this list') : place;
}

function wholeNumber(
  query: URLSearchParams,
  field: string,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): number | undefined {
  const text = query.get(field);
  if (text === null) return undefined;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (number >= min && number <= max) return number;
  const range = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`;
  return wrong(field, `must be a whole number${range}`);
}

function wrong(field: string, should: string): never {
  throw invalidField(field, should);
}
