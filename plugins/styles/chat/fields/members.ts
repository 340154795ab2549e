/** The members of a chat vendor's reply that are read, and those that mean nothing to a client; any other is reported in a warning. */
import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import { isObject, omitRest } from '../../../../core/translation/index.ts';

/** Members of the reply, or of one event. */
export const BODY: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier', 'system_fingerprint', 'request_id'],
  // Padding against traffic analysis, and a wrapper around the usage.
  ...['obfuscation', 'x_groq'],
]);

/** Members of a choice. */
export const CHOICE: ReadonlySet<string> = new Set([
  ...['index', 'message', 'delta', 'finish_reason', 'native_finish_reason', 'stop_reason', 'logprobs', 'usage'],
]);

/** Members of its message, or of a delta. */
export const MESSAGE: ReadonlySet<string> = new Set([
  ...['role', 'content', 'refusal', 'reasoning_content', 'reasoning', 'reasoning_details'],
  ...['annotations', 'images', 'audio', 'tool_calls', 'function_call'],
]);

const CALL: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom', 'extra_content']);
const CALLED: ReadonlySet<string> = new Set(['name', 'arguments', 'input']);

/** Reports the unread members of a call, or of a piece of one. */
export function omitFromCall(call: JsonObject, warnings: Warnings, reported?: Set<string>): void {
  omitRest(call, CALL, warnings, reported);
  for (const called of [call.function, call.custom]) if (isObject(called)) omitRest(called, CALLED, warnings, reported);
}

const IMAGE: ReadonlySet<string> = new Set(['type', 'index', 'image_url']);

/** Reports the members of an image other than its URL. */
export function omitFromImage(image: Json, warnings: Warnings): void {
  if (isObject(image)) omitRest(image, IMAGE, warnings);
}

const LOGPROBS: ReadonlySet<string> = new Set(['content']);

/** Reports log probabilities that are not a list with an entry per token. */
export function omitFromLogprobs(logprobs: Json | undefined, warnings: Warnings): void {
  if (!isObject(logprobs)) return;
  omitRest(logprobs, LOGPROBS, { omit: (name) => warnings.omit(`logprobs.${name}`) });
}

/** Reports the unread members of a content part. */
export const PART: ReadonlySet<string> = new Set(['type', 'text', 'thinking', 'index', 'closed']);
