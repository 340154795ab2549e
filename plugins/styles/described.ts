/** JSON Schema shared by the OpenAPI descriptions of the styles: members of requests and replies. */
import { type Schema, schema } from '../../core/plugin.ts';

/** An object with these members; others are allowed. */
export function objectOf(properties: Readonly<Record<string, object>>, required: readonly string[] = []): Schema {
  return schema({ type: 'object', properties, ...(required.length > 0 && { required }) });
}

/** The same member, which may also be null: null counts as omitted. */
export function optional(member: Readonly<Record<string, unknown>>): object {
  const { type, enum: words } = member;
  return {
    ...member,
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(words) && { enum: [...words, null] }),
  };
}

export const model = {
  description: 'The public name of a model, as GET /v1/models lists it.',
  type: 'string',
  minLength: 1,
  maxLength: 256,
} as const;
export const text = { type: 'string' } as const;
export const integer = { type: 'integer' } as const;
export const flag = { type: 'boolean' } as const;

/** A number from 0 to this maximum. */
export const upTo = (maximum: number): object => optional({ type: 'number', minimum: 0, maximum });
/** A whole number from this minimum. */
export const integerFrom = (minimum: number, maximum?: number): object =>
  optional({ type: 'integer', minimum, ...(maximum !== undefined && { maximum }) });

export const stream = optional({ description: 'Streams the answer as events.', ...flag });
export const streamOptions = optional({ type: 'object', properties: { include_usage: flag } });

/** The usage of chat and completions. */
export const tokenUsage = objectOf({ prompt_tokens: integer, completion_tokens: integer, total_tokens: integer });

export const EVENTS = 'text/event-stream';

/** Members of requests that continue a text or a conversation in the format of chat. */
export const sampled = {
  model,
  temperature: upTo(2),
  top_p: upTo(1),
  n: integerFrom(1, 128),
  stream,
  stream_options: streamOptions,
};
