/** The members of a chat vendor's answer that are read, and those that mean nothing to a client; any other is named as lost. */
import type { Json, JsonObject, Losses } from '../../../core/plugin.ts';
import { isObject, omitRest } from '../../../core/translation/index.ts';

/** Of the answer, or of one event. */
export const BODY: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier', 'system_fingerprint', 'request_id'],
  // Padding against eavesdroppers, and a wrapper around the usage.
  ...['obfuscation', 'x_groq'],
]);

/** Of the choice. */
export const CHOICE: ReadonlySet<string> = new Set([
  ...['index', 'message', 'delta', 'finish_reason', 'native_finish_reason', 'stop_reason', 'logprobs', 'usage'],
]);

/** Of its message, or of a piece of it. */
export const MESSAGE: ReadonlySet<string> = new Set([
  ...['role', 'content', 'refusal', 'reasoning_content', 'reasoning', 'reasoning_details'],
  ...['annotations', 'images', 'audio', 'tool_calls', 'function_call'],
]);

const CALL: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom', 'extra_content']);
const CALLED: ReadonlySet<string> = new Set(['name', 'arguments', 'input']);

/** Names what a call holds beside what is read, or a piece of one. */
export function omitFromCall(call: JsonObject, losses: Losses, told?: Set<string>): void {
  omitRest(call, CALL, losses, told);
  for (const called of [call.function, call.custom]) if (isObject(called)) omitRest(called, CALLED, losses, told);
}

const IMAGE: ReadonlySet<string> = new Set(['type', 'index', 'image_url']);

/** Names what an image holds beside its address. */
export function omitFromImage(image: Json, losses: Losses): void {
  if (isObject(image)) omitRest(image, IMAGE, losses);
}

const LOGPROBS: ReadonlySet<string> = new Set(['content']);

/** Names log probabilities in another shape than that of a list with an entry for each token of the text. */
export function omitFromLogprobs(logprobs: Json | undefined, losses: Losses): void {
  if (!isObject(logprobs)) return;
  omitRest(logprobs, LOGPROBS, { omit: (name) => losses.omit(`logprobs.${name}`) });
}

/** Of a part of a content that is a list. */
export const PART: ReadonlySet<string> = new Set(['type', 'text', 'thinking', 'index', 'closed']);
