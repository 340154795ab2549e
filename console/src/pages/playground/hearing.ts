/** Selects the decoder of an API, and appends tool results to a conversation. Pure. */
import type { Decoder, ToolCall } from './answer.ts';
import { chatDecoder } from './hear-chat.ts';
import { messagesDecoder } from './hear-messages.ts';
import { responsesDecoder } from './hear-responses.ts';
import { taskDecoder } from './hear-tasks.ts';
import type { Endpoint, Style } from './prompt.ts';
import type { Json } from './typed-json.ts';

/** The decoder for an API or task. */
export function decoderFor(endpoint: Endpoint): Decoder {
  if (endpoint === 'chat') return chatDecoder();
  if (endpoint === 'responses') return responsesDecoder();
  return endpoint === 'messages' ? messagesDecoder() : taskDecoder();
}

/** The tool results in the format of the API, in the order of the calls. */
export function resultsOf(style: Style, calls: readonly ToolCall[], outputs: readonly string[]): readonly Json[] {
  const results = calls.map(({ id }, at) => ({ id, text: outputs[at] ?? '' }));
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
