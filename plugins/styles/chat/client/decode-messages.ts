/** Decodes the messages of a chat request, one turn for each. */

import type { Warnings } from '../../../../core/plugin.ts';
import type { Block, Fields, ToolCallBlock, ToolResultBlock, Turn } from '../../../../core/translation/index.ts';
import { jsonText } from '../../../../core/translation/index.ts';
import { readCache } from '../fields/cache.ts';
import { dropRest } from '../fields/leftovers.ts';
import { readThinking, thoughtSignature } from '../fields/thinking.ts';
import { decodeContent } from './decode-content.ts';

/** Decodes `messages`; refuses invalid ones with their path. */
export function decodeMessages(body: Fields, warnings: Warnings): readonly Turn[] {
  const calls = new Calls();
  return body.each('messages').map((message, i) => {
    const turn = readMessage(message, i, calls, warnings);
    for (const block of turn.blocks) if (block.type === 'toolCall') calls.add(block);
    dropRest(message, 'messages', warnings);
    return turn;
  });
}

/** The calls so far, to find the call and its kind for each result; for duplicate ids, the last. */
class Calls {
  #byId: Map<string, ToolCallBlock> | undefined;
  #byName: Map<string, ToolCallBlock> | undefined;

  add(call: ToolCallBlock): void {
    this.#byId ??= new Map();
    this.#byName ??= new Map();
    this.#byId.set(call.id, call);
    this.#byName.set(call.name, call);
  }

  byId(id: string): ToolCallBlock | undefined {
    return this.#byId?.get(id);
  }

  byName(name: string): ToolCallBlock | undefined {
    return this.#byName?.get(name);
  }
}

function readMessage(message: Fields, i: number, calls: Calls, warnings: Warnings): Turn {
  const role = message.text('role');
  switch (role) {
    case 'system':
    case 'developer':
    case 'user':
      if (message.get('content') === undefined) message.wrong('content', 'must be a string or an array of parts');
      return { role, blocks: decodeContent(message, warnings), ...nameOf(message) };
    case 'assistant':
      return { role, blocks: readAssistant(message, i, warnings), ...nameOf(message) };
    case 'tool': {
      const id = message.text('tool_call_id') ?? message.wrong('tool_call_id', 'must be a string');
      return { role: 'user', blocks: [readResult(message, id, calls.byId(id)?.kind ?? 'function', warnings)] };
    }
    case 'function': {
      const call = calls.byName(message.text('name') ?? '');
      if (call === undefined) return message.wrong('name', 'must be the name of a function that was called before');
      return { role: 'user', blocks: [readResult(message, call.id, 'function', warnings)] };
    }
    default:
      return message.wrong('role', 'must be system, developer, user, assistant or tool');
  }
}

function nameOf(message: Fields): { readonly name?: string } {
  const name = message.text('name');
  return name === undefined || name === '' ? {} : { name };
}

function readResult(message: Fields, id: string, kind: ToolResultBlock['kind'], warnings: Warnings): ToolResultBlock {
  const content = decodeContent(message, warnings);
  return { type: 'toolResult', id, kind, content, ...readCache(message, warnings) };
}

function readAssistant(message: Fields, i: number, warnings: Warnings): readonly Block[] {
  const text = message.text('reasoning_content') || message.text('reasoning') || '';
  message.get('reasoning');
  const thoughts = readThinking({ text, details: message.list('reasoning_details') ?? [] }, undefined);
  const refusal = message.text('refusal') ?? '';
  const audio = message.fields('audio');
  const spoken = audio?.text('id') ?? '';
  const transcript = audio?.text('transcript') ?? '';
  // The vendor identifies both by the id.
  for (const name of ['data', 'expires_at']) audio?.get(name);
  if (audio !== undefined) dropRest(audio, 'messages.audio', warnings);
  const older = message.fields('function_call');
  return [
    ...thoughts,
    ...decodeContent(message, warnings),
    ...(refusal === '' ? [] : [{ type: 'refusal', text: refusal } as const]),
    ...(spoken === '' && transcript === ''
      ? []
      : [{ type: 'audio', data: '', format: '', id: spoken, ...(transcript !== '' && { transcript }) } as const]),
    ...message.each('tool_calls').map((call) => readCall(call, warnings)),
    // A legacy call has no id, and a message has at most one: its index identifies it.
    ...(older === undefined || (older.text('name') ?? '') === ''
      ? []
      : [readFunctionCall(older, `call_message_${i}`, warnings)]),
  ];
}

function readCall(call: Fields, warnings: Warnings): ToolCallBlock {
  const id = call.text('id') ?? call.wrong('id', 'must be a string');
  // Some servers send both members and leave the unused one empty.
  const custom = call.text('type') === 'function' ? undefined : call.fields('custom');
  call.get('custom');
  const opaque = thoughtSignature(call.get('extra_content'), undefined);
  const block =
    custom === undefined
      ? readFunctionCall(call.fields('function') ?? call.wrong('function', 'must be an object'), id, warnings)
      : readCustomCall(custom, id, warnings);
  dropRest(call, 'messages.tool_calls', warnings);
  return opaque === undefined ? block : { ...block, opaque };
}

function readCustomCall(inner: Fields, id: string, warnings: Warnings): ToolCallBlock {
  const name = inner.text('name') ?? inner.wrong('name', 'must be a string');
  const input = inner.text('input') ?? '';
  dropRest(inner, 'messages.tool_calls', warnings);
  return { type: 'toolCall', id, kind: 'custom', name, input };
}

function readFunctionCall(inner: Fields, id: string, warnings: Warnings): ToolCallBlock {
  const name = inner.text('name') ?? inner.wrong('name', 'must be a string');
  const input = inner.get('arguments') ?? '';
  dropRest(inner, 'messages.tool_calls', warnings);
  return {
    type: 'toolCall',
    id,
    kind: 'function',
    name,
    input: typeof input === 'string' ? input : jsonText(input),
  };
}
