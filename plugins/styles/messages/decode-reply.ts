/** Decodes a vendor's whole reply. */

import type { Json, JsonObject, Losses, Origin } from '../../../core/plugin.ts';
import { type Block, isObject, type Opaque, type Reply, textOf } from '../../../core/translation/index.ts';
import { decodeCitations } from './citations.ts';
import { decodeFinish } from './finish.ts';
import { omitFromBlock, omitFromMessage } from './members.ts';
import { toUsage } from './usage.ts';

/** Decodes a reply; undefined if it has no content. Malformed members are ignored. */
export function decodeReply(body: JsonObject, from: Origin, losses: Losses): Reply | undefined {
  const { content, usage, id, model } = body;
  if (!Array.isArray(content)) return undefined;
  omitFromMessage(body, losses);
  const objects = (content as readonly Json[]).filter(isObject);
  const blocks = objects.flatMap((block) => decodeAnswerBlock(block, from.channel, losses));
  for (const block of objects) omitFromBlock(block, losses);
  const serviceTier = tierOf(usage);
  return {
    id: textOf(id),
    model: textOf(model),
    blocks,
    finish: decodeFinish(
      body,
      blocks.some(({ type }) => type === 'toolCall'),
    ),
    usage: toUsage(usage),
    ...(serviceTier !== undefined && { serviceTier }),
  };
}

function decodeAnswerBlock(block: JsonObject, channel: string, losses: Losses): readonly Block[] {
  switch (block.type) {
    case 'text': {
      const text = textOf(block.text);
      const raw: readonly Json[] = Array.isArray(block.citations) ? block.citations : [];
      const citations = decodeCitations(raw, text.length, losses);
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
  return isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
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
