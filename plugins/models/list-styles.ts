/** The three shapes of a model list, and how the longer two are read page by page. */
import { invalidField } from '../../core/contracts/errors.ts';
import type { Json, JsonObject } from '../../core/plugin.ts';

/** A model as a list may show it. */
export interface Listed {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly owner: string;
  /** The context window and the longest answer in tokens; undefined where nobody knows. */
  readonly context: number | undefined;
  readonly maxOutput: number | undefined;
}

/** One of the shapes. */
export interface ListStyle {
  /** The list, or the page of it that the query asks for; refuses with 400 a query that asks for none. */
  list(models: readonly Listed[], query: URLSearchParams): Json;
  one(model: Listed): JsonObject;
}

/** `{object: 'list', data: […]}`, always whole. */
export const plainList: ListStyle = {
  list: (models) => ({ object: 'list', data: models.map(plainList.one) }),
  one: ({ id, created, owner }) => ({ id, object: 'model', created, owned_by: owner }),
};

/** `{data: […], has_more, first_id, last_id}`: pages lie before or behind the model that `before_id` or `after_id` names. */
export const messagesList: ListStyle = {
  list(models, query) {
    const size = wholeNumber(query, 'limit', { min: 1, max: 1_000 }) ?? 20;
    const after = query.get('after_id');
    const before = query.get('before_id');
    if (after !== null && before !== null) wrong('before_id', 'cannot stand beside `after_id`');
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

/** The largest page of the third style; who asks for more gets this much. */
const LARGEST_PAGE = 1_000;

/** `{models: […], nextPageToken}`: a page begins behind the model that `pageToken` stands for. */
export const geminiList: ListStyle = {
  list(models, query) {
    // There 0 means what nothing said means.
    const size = Math.min(wholeNumber(query, 'pageSize', { min: 0 }) || 50, LARGEST_PAGE);
    const token = query.get('pageToken') ?? '';
    const start = token === '' ? 0 : placeOf(models, readToken(token), 'pageToken') + 1;
    const page = models.slice(start, start + size);
    const last = page.at(-1);
    return {
      models: page.map(geminiList.one),
      ...(last !== undefined && start + size < models.length && { nextPageToken: tokenOf(last) }),
    };
  },
  one: ({ id, context, maxOutput }) => ({
    name: `models/${id}`,
    version: '001',
    displayName: id,
    description: '',
    // A number that is not known is 0 in this style.
    inputTokenLimit: context ?? 0,
    outputTokenLimit: maxOutput ?? 0,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  }),
};

/** A name rather than a number: pages stay where they are when models come and go. */
function tokenOf({ id }: Listed): string {
  return Buffer.from(id).toString('base64url');
}
function readToken(token: string): string {
  return Buffer.from(token, 'base64url').toString();
}

function placeOf(models: readonly Listed[], id: string, field: string): number {
  const place = models.findIndex((model) => model.id === id);
  return place === -1 ? wrong(field, 'does not name a place in this list') : place;
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
