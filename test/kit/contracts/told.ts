/** Reads back from a request what a vendor is told of the conversation so far, in whatever shape. */

import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { SpeechName } from '../speech.ts';

/** The conversation as the vendor hears it. */
export interface Told {
  /** Instructions and words of the user's. */
  readonly asked: string;
  /** Words of the assistant's. */
  readonly said: string;
  readonly calls: readonly { readonly id: string | undefined; readonly name: string; readonly input: Json }[];
  readonly results: readonly { readonly id: string | undefined; readonly text: string }[];
  /** What the vendor once sealed or signed, and hears again. */
  readonly opaque: readonly string[];
}

type List = readonly JsonObject[];
type Mutable = { -readonly [K in keyof Told]: Told[K] extends readonly (infer E)[] ? E[] : Told[K] };

export function toldTo(style: SpeechName, body: JsonObject): Told {
  const told: Mutable = { asked: '', said: '', calls: [], results: [], opaque: [] };
  READERS[style](body, told);
  return told;
}

const READERS: Readonly<Record<SpeechName, (body: JsonObject, told: Mutable) => void>> = {
  chat(body, told) {
    for (const { role, content, tool_calls: calls = [], tool_call_id: id } of body.messages as List) {
      if (role === 'tool') told.results.push({ id: String(id), text: textOf(content) });
      else if (role === 'assistant') told.said += textOf(content);
      else told.asked += textOf(content);
      for (const call of calls as List) {
        const { name, arguments: json, input } = (call.function ?? call.custom) as JsonObject;
        told.calls.push({
          id: String(call.id),
          name: String(name),
          input: input ?? (JSON.parse(String(json)) as Json),
        });
      }
    }
  },
  responses(body, told) {
    told.asked += textOf(body.instructions);
    if (typeof body.input === 'string') told.asked += body.input;
    for (const item of typeof body.input === 'string' ? [] : (body.input as List)) {
      if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
        told.results.push({ id: String(item.call_id), text: textOf(item.output) });
      } else if (item.type === 'function_call') {
        const input = JSON.parse(String(item.arguments)) as Json;
        told.calls.push({ id: String(item.call_id), name: String(item.name), input });
      } else if (item.type === 'custom_tool_call') {
        told.calls.push({ id: String(item.call_id), name: String(item.name), input: item.input! });
      } else if (item.type === 'reasoning') {
        if (typeof item.encrypted_content === 'string') told.opaque.push(item.encrypted_content);
      } else if (item.role === 'assistant') told.said += textOf(item.content);
      else told.asked += textOf(item.content);
    }
  },
  messages(body, told) {
    told.asked += textOf(body.system);
    for (const { role, content } of body.messages as List) {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as List);
      for (const block of blocks) {
        if (block.type === 'tool_result') {
          told.results.push({ id: String(block.tool_use_id), text: textOf(block.content) });
        } else if (block.type === 'tool_use') {
          told.calls.push({ id: String(block.id), name: String(block.name), input: block.input! });
        } else if (block.type === 'thinking') told.opaque.push(String(block.signature));
        else if (role === 'assistant') told.said += textOf([block]);
        else told.asked += textOf([block]);
      }
    }
  },
  gemini(body, told) {
    told.asked += textOf((body.systemInstruction as JsonObject | undefined)?.parts);
    for (const { role, parts } of body.contents as List) {
      for (const part of parts as List) {
        const call = part.functionCall as JsonObject | undefined;
        const result = part.functionResponse as JsonObject | undefined;
        if (typeof part.thoughtSignature === 'string') told.opaque.push(part.thoughtSignature);
        if (call !== undefined) {
          told.calls.push({ id: call.id as string | undefined, name: String(call.name), input: call.args ?? {} });
        } else if (result !== undefined) {
          const values = Object.values(result.response as JsonObject);
          told.results.push({ id: result.id as string | undefined, text: values.map(String).join() });
        } else if (role === 'model') told.said += textOf([part]);
        else told.asked += textOf([part]);
      }
    }
  },
};

/** Text, or the texts of parts. */
function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as List).map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}
