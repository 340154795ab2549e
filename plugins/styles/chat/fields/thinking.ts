/**
 * Reasoning in chat messages: as text (`reasoning_content`, `reasoning`), and with some servers as `reasoning_details`,
 * a list of texts, signatures and encrypted blocks.
 */
import type { Origin } from '../../../../core/contracts/formats/style.ts';
import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import type { Opaque, Quirks, ThinkingBlock } from '../../../../core/translation/index.ts';
import { CARRIER, isMadeBy, isObject, packOpaque, parsed, unpackOpaque } from '../../../../core/translation/index.ts';

/** The members of a message that hold reasoning. */
export interface Thoughts {
  readonly text: string;
  readonly details: readonly Json[];
}

const NO_THOUGHTS: readonly ThinkingBlock[] = [];

/** Separates two reasoning blocks that are merged to one text. */
export const GAP = '\n\n';

/**
 * Decodes the reasoning of one message. `channel`: the vendor's channel; undefined for a client's message. Data that
 * another Turnpike gateway sealed can be opened by that gateway only.
 */
export function readThinking({ text, details }: Thoughts, channel: string | undefined): readonly ThinkingBlock[] {
  if (text === '' && details.length === 0) return NO_THOUGHTS;
  if (channel === undefined && details.some(isCarried)) return unpacked(text || detailsText(details), details);
  const blocks: ThinkingBlock[] = [];
  for (const detail of details) {
    if (!isObject(detail)) continue;
    const visible = detailText(detail);
    const opaque = detailOpaque(detail, channel);
    const last = blocks.at(-1);
    // The encrypted block of a summary follows it immediately.
    if (visible === '' && opaque !== undefined && last !== undefined && last.opaque === undefined) {
      blocks[blocks.length - 1] = { ...last, opaque };
    } else if (visible !== '' || opaque !== undefined) {
      blocks.push({ type: 'thinking', text: visible, ...(opaque !== undefined && { opaque }) });
    }
  }
  if (text === '' || blocks.some((block) => block.text !== '')) return blocks;
  const [first, ...others] = blocks;
  return [{ type: 'thinking', text, ...(first?.opaque !== undefined && { opaque: first.opaque }) }, ...others];
}

/** The text of one detail. */
export function detailText(detail: JsonObject): string {
  const text = detail.text ?? detail.summary;
  return typeof text === 'string' ? text : '';
}

/** The opaque part of a detail: all of it except the text, so that the vendor gets it back unchanged. */
export function detailOpaque(detail: JsonObject, channel: string | undefined): Opaque | undefined {
  const sealed = detail.type === 'reasoning.encrypted' ? detail.data : detail.signature;
  if (typeof sealed !== 'string' || sealed === '') return undefined;
  const { text: _, summary: __, ...value } = detail;
  return {
    style: 'chat',
    ...(channel !== undefined && { channel }),
    kind: detail.type === 'reasoning.encrypted' ? 'encrypted' : 'signature',
    // The pieces of a stream have their members in another order than a whole reply.
    value: JSON.stringify(Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))),
  };
}

/**
 * Gemini models require `extra_content` with a call when it is sent back. It comes from a vendor whose chat endpoint
 * puts it there, or from a client, which may have got it from the vendor's own style.
 */
export function thoughtSignature(extra: Json | undefined, channel: string | undefined): Opaque | undefined {
  const google = isObject(extra) ? extra.google : undefined;
  const value = isObject(google) ? google.thought_signature : undefined;
  if (typeof value !== 'string' || value === '') return undefined;
  return channel === undefined
    ? { style: 'gemini', kind: 'thought', value }
    : { style: 'chat', channel, kind: 'thought', value };
}

/** The same for a message; empty if the call has none. */
export function extraContent(opaque: Opaque | undefined): JsonObject {
  if (opaque?.style !== 'gemini' && opaque?.kind !== 'thought') return {};
  return { extra_content: { google: { thought_signature: opaque.value } } };
}

/** Reasoning as a content part: a text, or text parts. */
export function thinkingText(thinking: Json): string {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return '';
  return thinking.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

// ---- for vendors

/** The members for a message that is sent back to a vendor. */
export function writeThinking(
  blocks: readonly ThinkingBlock[],
  { echo, echo_filler: filler, field }: Quirks['reasoning'],
  hasCalls: boolean,
  warnings: Warnings,
): JsonObject {
  if (echo === 'never' || echo === 'none' || (echo === 'tool_turns' && !hasCalls)) {
    if (blocks.length > 0) warnings.drop('messages.reasoning', 'hint');
    return {};
  }
  if (field === 'reasoning_details') {
    const details = blocks.flatMap(detailsOf);
    return details.length === 0 ? {} : { reasoning_details: details };
  }
  const texts = blocks.map(({ text }) => text).filter((text) => text !== '');
  return { [field]: texts.length === 0 ? filler : texts.join(GAP) };
}

function detailsOf({ text, opaque }: ThinkingBlock): readonly JsonObject[] {
  const detail = opaque?.style === 'chat' ? parsed(opaque.value) : undefined;
  if (!isObject(detail)) return text === '' ? [] : [{ type: 'reasoning.text', text }];
  if (detail.type !== 'reasoning.encrypted') return [{ ...detail, text }];
  return text === '' ? [detail] : [{ type: 'reasoning.summary', summary: text }, detail];
}

// ---- for clients

/**
 * Packs sealed reasoning for a client that may send it back, with the range of the reasoning text that it belongs to: a
 * signature is only valid with its text.
 */
export function carriedDetail(opaque: Opaque, index: number, start: number, end: number): JsonObject {
  return { type: 'reasoning.encrypted', data: packOpaque(opaque), index, start_index: start, end_index: end };
}

/**
 * Adapts a message for a vendor of the client's own style: unpacks what the gateway sealed for this vendor, and removes
 * what only other vendors can read.
 */
export function unsealed(message: Json, by: Origin): Json {
  if (!isObject(message) || !Array.isArray(message.reasoning_details)) return message;
  const { reasoning_details: details, ...rest } = message;
  if (!details.some(isCarried)) return message;
  const text = message.reasoning_content ?? message.reasoning;
  const thoughts = readThinking({ text: typeof text === 'string' ? text : '', details }, undefined);
  const own = [
    ...details.filter((detail: Json) => !isCarried(detail)),
    ...thoughts.filter(({ opaque }) => opaque?.style === 'chat' && isMadeBy(opaque, by)).flatMap(detailsOf),
  ];
  return own.length === 0 ? rest : { ...rest, reasoning_details: own };
}

function isCarried(detail: Json): boolean {
  return isObject(detail) && typeof detail.data === 'string' && detail.data.startsWith(CARRIER);
}

/** Vendors that get details only have the text in them, too. */
function detailsText(details: readonly Json[]): string {
  return details.map((detail) => (isObject(detail) ? detailText(detail) : '')).join('');
}

/** Separates our own details from the text next to them. */
function unpacked(text: string, details: readonly Json[]): readonly ThinkingBlock[] {
  const blocks: ThinkingBlock[] = [];
  let read = 0;
  const plain = (end: number): void => {
    const between = text.slice(read, end).replace(/^\n\n|\n\n$/g, '');
    if (between !== '') blocks.push({ type: 'thinking', text: between });
    read = end;
  };
  for (const detail of details) {
    const opaque = isObject(detail) && typeof detail.data === 'string' ? unpackOpaque(detail.data) : undefined;
    if (opaque === undefined || !isObject(detail)) continue;
    const { start_index: start, end_index: end } = detail;
    if (typeof start === 'number' && typeof end === 'number' && start >= read && end >= start && end <= text.length) {
      plain(start);
      blocks.push({ type: 'thinking', text: text.slice(start, end), opaque });
      read = end;
    } else if (opaque.kind !== 'signature') {
      blocks.push({ type: 'thinking', text: '', opaque });
    }
  }
  plain(text.length);
  return blocks;
}
