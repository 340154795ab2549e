/** The members of a vendor's response that are read, and those that mean nothing to a client; any other is reported in a warning. */
import type { JsonObject, Warnings } from '../../../../core/plugin.ts';
import { member, objectsIn, omitRest, textOf } from '../../../../core/translation/index.ts';

/** Members of the response. Most of them repeat the request. */
const RESPONSE: ReadonlySet<string> = new Set([
  ...[
    'id',
    'object',
    'created_at',
    'completed_at',
    'model',
    'status',
    'output',
    'usage',
    'error',
    'incomplete_details',
  ],
  ...['background', 'billing', 'context_management', 'conversation', 'frequency_penalty', 'include', 'instructions'],
  ...['max_output_tokens', 'max_tool_calls', 'metadata', 'parallel_tool_calls', 'presence_penalty', 'prompt'],
  ...['previous_response_id', 'prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention', 'reasoning'],
  ...['safety_identifier', 'service_tier', 'store', 'stream', 'temperature', 'text', 'tool_choice', 'tools'],
  ...['top_logprobs', 'top_p', 'truncation', 'user'],
  // The same texts again, as some libraries add them.
  'output_text',
]);

/** Members of items by type; items of any other type are lost or kept as a whole. */
const ITEMS: Readonly<Record<string, ReadonlySet<string>>> = {
  message: new Set(['id', 'type', 'status', 'role', 'content']),
  reasoning: new Set(['id', 'type', 'status', 'summary', 'content', 'encrypted_content']),
  function_call: new Set(['id', 'type', 'status', 'call_id', 'name', 'namespace', 'arguments', 'caller']),
  custom_tool_call: new Set(['id', 'type', 'status', 'call_id', 'name', 'namespace', 'input', 'caller']),
};
const PARTS: ReadonlySet<string> = new Set(['type', 'text', 'refusal', 'annotations', 'logprobs']);
const READ_PARTS: ReadonlySet<string> = new Set([
  ...['output_text', 'text', 'refusal', 'summary_text', 'reasoning_text'],
]);
const PICTURE: ReadonlySet<string> = new Set(['id', 'type', 'status', 'result', 'output_format']);

/** Reports the unread members of a response. */
export function omitFromResponse(response: JsonObject, warnings: Warnings): void {
  omitRest(response, RESPONSE, warnings);
}

/** Reports the unread members of a whole item. */
export function omitFromItem(item: JsonObject, warnings: Warnings): void {
  const type = textOf(member(item, 'type'));
  if (type === 'image_generation_call' && textOf(member(item, 'result')) !== '') {
    omitRest(item, PICTURE, { omit: (name) => warnings.omit(`${type}.${name}`) });
    return;
  }
  if (!Object.hasOwn(ITEMS, type)) return;
  omitRest(item, ITEMS[type]!, warnings);
  // In every other style, the model itself calls a tool by default.
  const caller = member(item, 'caller');
  if (caller !== undefined && textOf(member(caller, 'type')) !== 'direct') warnings.omit('caller');
  for (const part of [...objectsIn(item, 'content'), ...objectsIn(item, 'summary')]) {
    if (READ_PARTS.has(textOf(member(part, 'type')))) omitRest(part, PARTS, warnings);
  }
}
