/** Blocks of the common form as they are stored: texts, and the names of media. */
import type { StoredAnswer, StoredBlock } from '../../core/contracts/prompts.ts';
import type { Json, JsonBody } from '../../core/plugin.ts';
import type { AnswerCollector, Block, Citation, FileBlock, ImageBlock } from '../../core/translation/index.ts';

/** The length of a text in characters; larger than the string if a placeholder replaces large media. */
export type LengthOf = (text: string) => number;

/** Measures texts without placeholders for media. */
export const plainLength: LengthOf = (text) => text.length;

/** Measures texts in a decoded body. */
export function lengthsIn(body: JsonBody): LengthOf {
  const { bytesOf } = body.outline();
  if (bytesOf.size === 0) return plainLength;
  return (text) => {
    let { length } = text;
    for (const [name, bytes] of bytesOf) if (text.includes(name)) length += bytes.length - name.length;
    return length;
  };
}

/** The answer, or what came of it; undefined if nothing did. */
export function storedAnswer({ hasBegun, blocks, finish, missing }: AnswerCollector): StoredAnswer | undefined {
  if (!hasBegun) return undefined;
  const stored = blocks.flatMap((block) => collectedBlocks(block, missing.get(block) ?? 0));
  return { blocks: stored, ...(finish !== undefined && { finish: finish.reason }) };
}

function collectedBlocks(block: Block, missing: number): readonly StoredBlock[] {
  if (block.type === 'audio') return storedBlocks(block, () => missing);
  const stored = storedBlocks(block, plainLength);
  if (missing > 0) return stored.map((each, i) => (i === 0 ? { ...each, cutBytes: missing } : each));
  const isEmpty = (block.type === 'text' || block.type === 'thinking') && block.text === '';
  return isEmpty ? stored.slice(1) : stored;
}

/** The stored form of a block; what belongs to its text comes first. */
export function storedBlocks(block: Block, lengthOf: LengthOf): readonly StoredBlock[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }, ...citationsOf(block.citations)];
    case 'refusal':
      return [{ type: 'refusal', text: block.text }];
    case 'thinking':
      return [{ type: 'reasoning', text: block.text }];
    case 'toolCall': {
      const { id, namespace, name, input } = block;
      return [{ type: 'tool_call', id, name: namespace === undefined ? name : `${namespace}.${name}`, text: input }];
    }
    case 'toolResult': {
      const { id, isError, content } = block;
      const result: StoredBlock = { type: 'tool_result', id, text: '', ...(isError === true && { isError }) };
      if (content.length === 0) return [result];
      return content
        .flatMap((inner) => storedBlocks(inner, lengthOf))
        .map((stored) => (stored.type === 'text' ? { ...stored, ...result, text: stored.text } : { ...stored, id }));
    }
    case 'image':
      return [mediaOf(block, lengthOf)];
    case 'file': {
      const stored = mediaOf(block, lengthOf);
      return block.context === undefined ? [stored] : [stored, { type: 'text', text: block.context }];
    }
    case 'audio': {
      const { data, format, id, transcript } = block;
      const type = `audio/${format}`;
      return [
        { type: 'media', text: type, ...(id === undefined ? {} : { name: id }), bytes: base64Bytes(data, lengthOf) },
        ...(transcript === undefined ? [] : [{ type: 'text' as const, text: transcript }]),
      ];
    }
    case 'foreign':
      return [{ type: 'data', name: block.what, text: jsonText(block.raw, lengthOf) }];
  }
}

/** The sources of a text; nothing if it has none. */
function citationsOf(citations: readonly Citation[] | undefined): readonly StoredBlock[] {
  if (citations === undefined || citations.length === 0) return [];
  return [{ type: 'data', name: 'citations', text: JSON.stringify(citations.map(({ raw }) => raw)) }];
}

function mediaOf(block: ImageBlock | FileBlock, lengthOf: LengthOf): StoredBlock {
  const { source } = block;
  const name = block.type === 'file' ? (block.name ?? block.title) : undefined;
  const named = name === undefined ? {} : { name };
  switch (source.kind) {
    case 'text':
      return { type: 'text', ...named, text: source.text };
    case 'base64':
      return { type: 'media', ...named, text: source.mediaType, bytes: base64Bytes(source.data, lengthOf) };
    case 'url':
      return { type: 'media', ...named, text: source.url };
    case 'id':
      return { type: 'media', ...named, text: source.id };
  }
}

/** The number of bytes that a base64 text encodes. */
function base64Bytes(data: string, lengthOf: LengthOf): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.floor(((lengthOf(data) - padding) * 3) / 4);
}

/** Characters from which on a string without any space is media, or sealed by a vendor. */
const LONG = 1_000;

/** JSON in which such strings are named by their length. */
export function jsonText(value: Json, lengthOf: LengthOf): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'string') return member;
    const length = lengthOf(member);
    return length >= LONG && !/\s/.test(member) ? `[${length} characters]` : member;
  });
}
