/** Encodes a whole reply for a client. */
import type { Answering, JsonObject } from '../../../../core/plugin.ts';
import { type Block, isObject, packOpaque, type Reply, UNSEALED } from '../../../../core/translation/index.ts';
import { encodeCitation } from '../fields/citations.ts';
import { encodeFinish, omitEnd } from '../fields/finish.ts';
import { usageBody } from '../fields/usage.ts';
import { toInput } from '../vendor/encode-blocks.ts';

/** Encodes a reply. */
export function encodeReply({ blocks, finish, usage, serviceTier }: Reply, as: Answering): JsonObject {
  const content = blocks.flatMap((block, i) => encodeAnswerBlock(block, i, as));
  const refused = blocks.flatMap((block) => (block.type === 'refusal' ? [block.text] : []));
  omitEnd(finish, as.warnings);
  const { id, type, role, model } = messageHead(as);
  const { stop_reason, stop_sequence, stop_details } = encodeFinish(finish, {
    calls: content.some((block) => block.type === 'tool_use'),
    refusal: refused.length > 0 ? refused.join('') : undefined,
  });
  return {
    id,
    type,
    role,
    model,
    // Clients expect a text or a call; reasoning alone is not enough.
    content: content.some((block) => block.type !== 'thinking') ? content : [...content, { type: 'text', text: '' }],
    stop_reason,
    stop_sequence,
    stop_details,
    usage: usageBody(usage, tierFor(serviceTier)),
  };
}

/** The start of every reply. */
export function messageHead({ id, model }: Answering): Readonly<Record<'id' | 'type' | 'role' | 'model', string>> {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model };
}

/** The service tier, by this style's name; undefined if it has none. */
export function tierFor(serviceTier: string | undefined): string | undefined {
  if (serviceTier === 'default') return 'standard';
  return serviceTier === 'priority' || serviceTier === 'batch' ? serviceTier : undefined;
}

/** The id of a call; clients and vendors require one, and one vendor sends none. */
export function callId(id: string, place: number, as: Answering): string {
  return id === '' ? `toolu_${as.id}_${place}` : id;
}

function encodeAnswerBlock(block: Block, place: number, as: Answering): readonly JsonObject[] {
  const { warnings } = as;
  switch (block.type) {
    case 'text': {
      const citations = (block.citations ?? []).flatMap((citation) => encodeCitation(citation, warnings) ?? []);
      if (block.logprobs !== undefined) warnings.omit('logprobs');
      if (block.text === '') {
        if (citations.length > 0) warnings.omit('citations');
        return [];
      }
      return [{ type: 'text', text: block.text, ...(citations.length > 0 && { citations }) }];
    }
    case 'refusal':
      return block.text === '' ? [] : [{ type: 'text', text: block.text }];
    case 'thinking':
      if (block.text === '' && block.opaque === undefined) return [];
      return [thought(block.text, packOpaque(block.opaque ?? UNSEALED))];
    case 'toolCall': {
      const { name, namespace, kind, input, opaque } = block;
      if (namespace !== undefined) warnings.omit('namespace');
      const id = callId(block.id, place, as);
      const call = { type: 'tool_use', id, name, input: toInput(kind, input) };
      return opaque === undefined ? [call] : [thought('', packOpaque({ ...opaque, id })), call];
    }
    case 'foreign':
      if (block.style === 'messages' && isObject(block.raw)) return [block.raw];
      warnings.omit(block.what);
      return [];
    default:
      warnings.omit(block.type);
      return [];
  }
}

/** A thinking block; clients send its signature back unchanged. */
export function thought(thinking: string, signature: string): JsonObject {
  return { type: 'thinking', thinking, signature };
}
