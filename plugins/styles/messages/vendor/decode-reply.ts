/** Decodes a vendor's whole reply. Members that mean something to a client and are not read are reported in a warning. */

import type { Json, JsonObject, Origin, Warnings } from '../../../../core/plugin.ts';
import {
  type Block,
  exactJson,
  exactText,
  isObject,
  type Opaque,
  omitRest,
  type Reply,
  textOf,
} from '../../../../core/translation/index.ts';
import { decodeCitations } from '../fields/citations.ts';
import { decodeFinish } from '../fields/finish.ts';
import { billed, toUsage } from '../fields/usage.ts';

/** Decodes a reply; undefined if it has no content. Malformed members are ignored. */
export function decodeReply(body: JsonObject, from: Origin, warnings: Warnings): Reply | undefined {
  const { content, usage, id, model } = body;
  if (!Array.isArray(content)) return undefined;
  omitFromMessage(body, warnings);
  const objects = (content as readonly Json[]).filter(isObject);
  const blocks = objects.flatMap((block) => decodeAnswerBlock(block, from.channel, warnings));
  for (const block of objects) omitFromBlock(block, warnings);
  const serviceTier = tierOf(usage);
  return {
    id: textOf(id),
    model: textOf(model),
    blocks,
    finish: decodeFinish(
      body,
      blocks.some(({ type }) => type === 'toolCall'),
    ),
    usage: billed(toUsage(usage), body.stop_reason, objects.length),
    ...(serviceTier !== undefined && { serviceTier }),
  };
}

function decodeAnswerBlock(block: JsonObject, channel: string, warnings: Warnings): readonly Block[] {
  switch (block.type) {
    case 'text': {
      const text = textOf(block.text);
      const raw: readonly Json[] = Array.isArray(block.citations) ? block.citations : [];
      const citations = decodeCitations(raw, text.length, warnings);
      return text === '' ? [] : [{ type: 'text', text, ...(citations.length > 0 && { citations }) }];
    }
    case 'thinking': {
      const opaque = sealOf(block.signature, 'signature', channel);
      return [{ type: 'thinking', text: textOf(block.thinking), ...(opaque !== undefined && { opaque }) }];
    }
    case 'redacted_thinking': {
      const opaque = sealOf(block.data, 'redacted', channel);
      return opaque === undefined ? [] : [{ type: 'thinking', text: '', opaque }];
    }
    case 'tool_use':
      return [
        { type: 'toolCall', id: textOf(block.id), name: textOf(block.name), kind: 'function', input: inputOf(block) },
      ];
    default:
      return [{ type: 'foreign', style: 'messages', what: textOf(block.type) || 'block', raw: block }];
  }
}

/** The arguments of a call as text; empty if there are none. */
export function inputOf({ input }: JsonObject): string {
  if (typeof input === 'string') return input;
  return isObject(input) ? (exactText(input) ?? (Object.keys(input).length > 0 ? exactJson(input) : '')) : '';
}

/** Opaque data that the vendor requires back. */
export function sealOf(value: Json | undefined, kind: Opaque['kind'], channel: string): Opaque | undefined {
  return typeof value === 'string' && value !== '' ? { style: 'messages', channel, kind, value } : undefined;
}

/** The service tier of the reply, by its name in other styles. */
export function tierOf(usage: Json | undefined): string | undefined {
  const tier = isObject(usage) ? usage.service_tier : undefined;
  if (typeof tier !== 'string') return undefined;
  return tier === 'standard' ? 'default' : tier;
}

const MESSAGE: ReadonlySet<string> = new Set([
  ...['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'stop_details', 'usage'],
  // Their content is checked below.
  'delta',
]);
const STOP_DETAILS: ReadonlySet<string> = new Set(['type', 'explanation']);

/** Members of blocks by type; blocks of any other type are lost or kept as a whole. */
const BLOCKS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text', 'citations']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
  tool_use: new Set(['type', 'id', 'name', 'input', 'caller']),
};

/** Reports the unread members of a message, or of an event with part of it. */
export function omitFromMessage(message: JsonObject, warnings: Warnings): void {
  omitRest(message, MESSAGE, warnings);
  const { stop_details: details } = message;
  if (isObject(details)) omitRest(details, STOP_DETAILS, { omit: (name) => warnings.omit(`stop_details.${name}`) });
}

/** Reports the unread members of a whole block. */
export function omitFromBlock(block: JsonObject, warnings: Warnings): void {
  const type = String(block.type);
  if (!Object.hasOwn(BLOCKS, type)) return;
  omitRest(block, BLOCKS[type]!, warnings);
  if (isForeignCaller(block.caller)) warnings.omit('caller');
}

/** In every other style, the model itself calls a tool by default. */
function isForeignCaller(caller: Json | undefined): boolean {
  return isObject(caller) && (caller.type !== 'direct' || Object.keys(caller).length > 1);
}
