/** Who listens to the answers of which style, and how a conversation goes on behind tools. Pure. */
import type { Hearer, ToolCall } from './answer.ts';
import { hearChat } from './hear-chat.ts';
import { hearMessages } from './hear-messages.ts';
import { hearResponses } from './hear-responses.ts';
import { hearTask } from './hear-tasks.ts';
import type { Style, Way } from './prompt.ts';
import type { Json } from './typed-json.ts';

/** Somebody who listens to an answer of that kind. */
export function hearerOf(way: Way): Hearer {
  if (way === 'chat') return hearChat();
  if (way === 'responses') return hearResponses();
  return way === 'messages' ? hearMessages() : hearTask();
}

/** What the tools gave, as the style tells it; in the order of the calls. */
export function resultsOf(style: Style, calls: readonly ToolCall[], given: readonly string[]): readonly Json[] {
  const results = calls.map(({ id }, at) => ({ id, text: given[at] ?? '' }));
  if (style === 'chat') return results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
  if (style === 'responses') {
    return results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }));
  }
  return [
    {
      role: 'user',
      content: results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })),
    },
  ];
}
