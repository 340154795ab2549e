/** Tool results without the id of their call: some clients of this style drop it. */

import type { Json, JsonObject, Losses } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';

/**
 * The body with the ids of the preceding calls, in order, if as many results have no id as calls have no result.
 * Otherwise the assignment is ambiguous, and the missing field is refused when it is read.
 */
export function withResultIds(body: JsonObject, losses: Losses): JsonObject {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some((message) => blocksOf(message).some(isNameless))) return body;
  const named = messages.map((message: Json, i) => {
    const blocks = blocksOf(message);
    const nameless = blocks.filter(isNameless);
    const answered = new Set(blocks.map((block) => isObject(block) && block.tool_use_id));
    const waiting = blocksOf(messages[i - 1])
      .filter((block) => isObject(block) && block.type === 'tool_use' && !answered.has(block.id ?? null))
      .map((block) => (block as JsonObject).id ?? null);
    if (nameless.length === 0 || nameless.length !== waiting.length) return message;
    losses.change('messages.tool_results', 'hint');
    const content = blocks.map((block) =>
      isNameless(block) ? { ...(block as JsonObject), tool_use_id: waiting.shift() ?? null } : block,
    );
    return { ...(message as JsonObject), content };
  });
  return { ...body, messages: named };
}

function blocksOf(message: Json | undefined): readonly Json[] {
  return isObject(message) && Array.isArray(message.content) ? message.content : [];
}

function isNameless(block: Json): boolean {
  return isObject(block) && block.type === 'tool_result' && (block.tool_use_id ?? '') === '';
}
