/** Streams put together by the clients' own libraries: the whole answer as an agent gets it, or the error that it throws. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { CodingClient } from '../clients/coding-clients.ts';

/** By the client's style. */
export const COLLECTORS: Readonly<Record<CodingClient['style'], (stream: string) => Promise<JsonObject>>> = {
  async messages(stream) {
    const client = new Anthropic({ apiKey: 'key', maxRetries: 0, fetch: answeredWith(stream) });
    return plain(await client.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage());
  },
  async responses(stream) {
    const client = new OpenAI({ apiKey: 'key', maxRetries: 0, fetch: answeredWith(stream) });
    return plain(await client.responses.stream({ model: 'm', input: '' }).finalResponse());
  },
  async chat(stream) {
    const client = new OpenAI({ apiKey: 'key', maxRetries: 0, fetch: answeredWith(stream) });
    return plain(await client.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion());
  },
};

function answeredWith(stream: string): typeof fetch {
  return async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
}

function plain(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
