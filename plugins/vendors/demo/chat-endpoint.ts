/** The demo vendor's `/chat/completions`. */
import type { JsonObject } from '../../../core/plugin.ts';
import { complete } from './chat.ts';
import type { Answerer } from './endpoint.ts';
import { chatBody, chatEvents } from './wire.ts';

/** Answers with the demo model's reply, streamed or not. */
export const answerChat: Answerer = ({ body }, { id, created }) => {
  const head = { id: `chatcmpl-${id}`, created, model: String(body.model) };
  const completion = complete(body);
  if (body.stream === true) {
    const events = chatEvents(head, completion, asksUsage(body));
    return { status: 200, type: 'text/event-stream; charset=utf-8', body: events };
  }
  return { status: 200, type: 'application/json', body: JSON.stringify(chatBody(head, completion)) };
};

function asksUsage(body: JsonObject): boolean {
  return (body.stream_options as JsonObject | null | undefined)?.include_usage === true;
}
