/** Request bodies: one prompt in three APIs, and the bodies of other tasks. Pure. */
import type { Effort, Prompt, Style, Task, Turn } from './prompt.ts';
import { type Json, type JsonObject, schemaIn, type Tool, toolsIn } from './typed-json.ts';

/** The input of a body. */
export interface BodyInput {
  readonly model: string;
  readonly prompt: Prompt;
}

/** The Messages API requires a limit. */
export const USUAL_LIMIT = 4_096;

/** Token budgets for reasoning efforts, for APIs that count tokens. */
const BUDGETS: Readonly<Record<Exclude<Effort, ''>, number>> = { low: 2_048, medium: 8_192, high: 16_384 };
const LEAST_BUDGET = 1_024;

/** The body of a chat. Invalid tools and schemas are left out. */
export function bodyOf(style: Style, { model, prompt }: BodyInput): JsonObject {
  const turns = prompt.turns.filter(({ text, pictures }) => text.trim() !== '' || pictures.length > 0);
  const tools = toolsIn(prompt.tools).value ?? [];
  const schema = schemaIn(prompt.schema).value;
  return without({ model, ...MAKERS[style]({ prompt, turns, tools, schema }) });
}

interface Parts {
  readonly prompt: Prompt;
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly schema: JsonObject | undefined;
}

const MAKERS: Readonly<Record<Style, (parts: Parts) => JsonObject>> = {
  chat: ({ prompt, turns, tools, schema }) => ({
    messages: [
      ...(prompt.system.trim() === '' ? [] : [{ role: 'system', content: prompt.system }]),
      ...turns.map(({ role, text, pictures }) => ({
        role,
        content:
          pictures.length === 0
            ? text
            : [
                ...pictures.map(({ url }) => ({ type: 'image_url', image_url: { url } })),
                ...(text === '' ? [] : [{ type: 'text', text }]),
              ],
      })),
    ],
    max_completion_tokens: prompt.maxTokens ?? undefined,
    temperature: prompt.temperature ?? undefined,
    reasoning_effort: prompt.effort || undefined,
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({ name, description, parameters }) => ({
            type: 'function',
            function: without({ name, description, parameters }),
          })),
    response_format: schema && {
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: true },
    },
    stream: prompt.stream || undefined,
    stream_options: prompt.stream ? { include_usage: true } : undefined,
  }),

  responses: ({ prompt, turns, tools, schema }) => ({
    instructions: prompt.system.trim() === '' ? undefined : prompt.system,
    input: [
      ...turns.map(({ role, text, pictures }) => ({
        role,
        content:
          pictures.length === 0
            ? text
            : [
                ...pictures.map(({ url }) => ({ type: 'input_image', image_url: url })),
                ...(text === '' ? [] : [{ type: 'input_text', text }]),
              ],
      })),
    ],
    max_output_tokens: prompt.maxTokens ?? undefined,
    temperature: prompt.temperature ?? undefined,
    reasoning: prompt.effort === '' ? undefined : { effort: prompt.effort, summary: 'auto' },
    // The whole conversation is sent each time, including reasoning.
    include: prompt.effort === '' ? undefined : ['reasoning.encrypted_content'],
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({ name, description, parameters }) =>
            without({ type: 'function', name, description, parameters, strict: false }),
          ),
    text: schema && { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
    store: false,
    stream: prompt.stream || undefined,
  }),

  messages: ({ prompt, turns, tools, schema }) => ({
    ...thinkingOf(prompt),
    system: prompt.system.trim() === '' ? undefined : prompt.system,
    messages: [
      ...turns.map(({ role, text, pictures }) => ({
        role,
        content:
          pictures.length === 0
            ? text
            : [...pictures.map(({ url }) => imageOf(url)), ...(text === '' ? [] : [{ type: 'text', text }])],
      })),
    ],
    temperature: prompt.temperature ?? undefined,
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({ name, description, parameters }) =>
            without({ name, description, input_schema: { type: 'object', ...parameters } }),
          ),
    output_config: schema && { format: { type: 'json_schema', schema } },
    stream: prompt.stream || undefined,
  }),
};

/** The body with the tool calls and their results appended, in the format of the API. */
export function withToolResults(style: Style, body: JsonObject, more: readonly Json[]): JsonObject {
  const name = style === 'responses' ? 'input' : 'messages';
  const before = body[name];
  return { ...body, [name]: [...(Array.isArray(before) ? before : []), ...more] };
}

/** The token limit, and the part of it for reasoning. */
function thinkingOf({ effort, maxTokens }: Prompt): JsonObject {
  if (effort === '') return { max_tokens: maxTokens ?? USUAL_LIMIT };
  const wanted = BUDGETS[effort];
  const budget = Math.max(LEAST_BUDGET, Math.min(wanted, Math.floor((maxTokens ?? Number.POSITIVE_INFINITY) * 0.8)));
  return {
    max_tokens: maxTokens ?? wanted + USUAL_LIMIT,
    thinking: { type: 'enabled', budget_tokens: budget },
  };
}

function imageOf(url: string): JsonObject {
  const [, type = 'image/png', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return { type: 'image', source: { type: 'base64', media_type: type, data } };
}

/**
 * The body with alternative parameters, if the vendor refused the first ones as unsupported: models differ in the name of the limit
 * in Chat Completions, and in the reasoning parameters. Undefined: no alternative, or another error.
 */
export function alternativeBody(style: string, body: JsonObject, refusal: string): JsonObject | undefined {
  const { max_completion_tokens: limit, thinking, ...rest } = body;
  if (style === 'chat' && limit !== undefined && refusal.includes('max_completion_tokens')) {
    return { ...rest, max_tokens: limit };
  }
  if (style !== 'messages' || thinking === undefined || !/adaptive|output_config/.test(refusal)) return undefined;
  const budget = (thinking as { readonly budget_tokens?: number }).budget_tokens;
  if (budget === undefined) return undefined;
  const effort = budget >= BUDGETS.high ? 'high' : budget >= BUDGETS.medium ? 'medium' : 'low';
  const config = rest.output_config as JsonObject | undefined;
  return { ...rest, thinking: { type: 'adaptive', display: 'summarized' }, output_config: { ...config, effort } };
}

/** The body of a task other than chat; for a transcription, the form fields other than the file. */
export function taskBodyOf(task: Task, { model, prompt }: BodyInput): JsonObject {
  const { text, size, voice, format } = prompt;
  if (task === 'embeddings') {
    // Multiple lines are embedded separately, so that their vectors can be compared.
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return { model, input: lines.length > 1 ? lines : text };
  }
  if (task === 'images') return without({ model, prompt: text, size: size || undefined });
  if (task === 'speech') return { model, input: text, voice, response_format: format };
  return without({ model, prompt: text || undefined });
}

function without(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
