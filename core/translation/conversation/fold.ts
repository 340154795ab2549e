/** Converts between streams and whole answers: the parts of an answer, and the answer of its parts. */

import type {
  Block,
  BlockStart,
  Citation,
  Finish,
  Part,
  Reply,
  TextBlock,
} from '../../contracts/formats/conversation.ts';
import type { Json } from '../../contracts/formats/json.ts';
import type { Usage } from '../../contracts/formats/usage.ts';

/** An incomplete block. It grows in place: an answer may have very many parts. */
type Growing = Mutable<Exclude<Block, TextBlock>> | GrowingText;
type GrowingText = Mutable<Omit<TextBlock, 'citations' | 'logprobs'>> & { citations?: Citation[]; logprobs?: Json[] };
type Mutable<B> = B extends Block ? { -readonly [K in keyof B]: B[K] } : never;

/** The whole answer; undefined if the stream was truncated. */
export function foldParts(parts: Iterable<Part>): Reply | undefined {
  const fold = new Fold();
  for (const part of parts) fold.add(part);
  return fold.reply();
}

/** An answer that grows by its parts. */
export class Fold {
  /** Its id, its model and its service tier; empty until they are known. */
  facts: Omit<Extract<Part, { readonly type: 'start' }>, 'type'> = { id: '', model: '' };
  /** Its blocks, complete or not. */
  readonly blocks: Block[] = [];
  /** Undefined until it is complete. */
  finish: Finish | undefined;
  #usage: Usage | undefined;
  readonly #open = new Map<number, Growing>();

  add(part: Part): void {
    if (part.type === 'start') {
      const { type: _, ...facts } = part;
      this.facts = facts;
    } else if (part.type === 'usage') {
      this.#usage = part.usage;
    } else if (part.type === 'finish') {
      this.finish = part.finish;
    } else if (part.type === 'blockStart') {
      const block = begun(part.block);
      this.blocks.push(block);
      this.#open.set(part.key, block);
    } else if ('key' in part) {
      const block = this.#open.get(part.key);
      if (block !== undefined) grow(block, part);
    }
  }

  /** The block with this key. */
  block(key: number): Block | undefined {
    return this.#open.get(key);
  }

  /** The whole answer; undefined if it is not complete. */
  reply(): Reply | undefined {
    const { facts, blocks, finish } = this;
    return finish && { ...facts, blocks, finish, usage: this.#usage };
  }
}

function begun(block: BlockStart): Growing {
  if (block.type !== 'text') return { ...block };
  const { citations, logprobs, ...rest } = block;
  return { ...rest, ...(citations && { citations: [...citations] }), ...(logprobs && { logprobs: [...logprobs] }) };
}

/** Adds one part to a block; ignored if it does not match the type of the block. */
function grow(block: Growing, part: Part): void {
  if (part.type === 'delta') {
    switch (block.type) {
      case 'text':
        block.text += part.text;
        if (part.logprobs === undefined) break;
        block.logprobs ??= [];
        for (const entry of part.logprobs) block.logprobs.push(entry);
        break;
      case 'refusal':
      case 'thinking':
        block.text += part.text;
        break;
      case 'toolCall':
        block.input += part.text;
        break;
      case 'audio':
        block.data += part.text;
        break;
    }
  } else if (part.type === 'citation' && block.type === 'text') {
    block.citations ??= [];
    block.citations.push(part.citation);
  } else if (part.type === 'opaque' && (block.type === 'thinking' || block.type === 'toolCall')) {
    block.opaque = part.opaque;
  } else if (part.type === 'transcript' && block.type === 'audio') {
    block.transcript = (block.transcript ?? '') + part.text;
  }
}

/** The parts of a whole answer, one delta for each block. `foldParts` restores the answer. */
export function partsOf({ blocks, finish, usage, ...begin }: Reply): Part[] {
  return [
    { type: 'start', ...begin },
    ...blocks.flatMap((block, key): Part[] => [
      { type: 'blockStart', key, block: beginningOf(block) },
      ...growthOf(block, key),
      { type: 'blockEnd', key },
    ]),
    ...(usage === undefined ? [] : [{ type: 'usage' as const, usage }]),
    { type: 'finish', finish },
  ];
}

function beginningOf(block: Block): BlockStart {
  switch (block.type) {
    case 'text': {
      const { citations, logprobs: _, ...rest } = block;
      return { ...rest, ...(citations && { citations: [] }), text: '' };
    }
    case 'refusal':
      return { ...block, text: '' };
    case 'thinking': {
      const { opaque: _, ...rest } = block;
      return { ...rest, text: '' };
    }
    case 'toolCall': {
      const { opaque: _, ...rest } = block;
      return { ...rest, input: '' };
    }
    case 'audio': {
      const { transcript: _, ...rest } = block;
      return { ...rest, data: '' };
    }
    default:
      return block;
  }
}

function growthOf(block: Block, key: number): Part[] {
  const delta = (text: string): Part[] => (text === '' ? [] : [{ type: 'delta', key, text }]);
  switch (block.type) {
    case 'text': {
      const { text, logprobs, citations = [] } = block;
      return [
        ...(logprobs === undefined ? delta(text) : [{ type: 'delta' as const, key, text, logprobs }]),
        ...citations.map((citation): Part => ({ type: 'citation', key, citation })),
      ];
    }
    case 'refusal':
      return delta(block.text);
    case 'thinking':
    case 'toolCall': {
      const seal: Part[] = block.opaque === undefined ? [] : [{ type: 'opaque', key, opaque: block.opaque }];
      return [...delta(block.type === 'toolCall' ? block.input : block.text), ...seal];
    }
    case 'audio': {
      const { transcript } = block;
      return [
        ...delta(block.data),
        ...(transcript === undefined ? [] : [{ type: 'transcript' as const, key, text: transcript }]),
      ];
    }
    default:
      return [];
  }
}

/**
 * Characters of text, reasoning and tool arguments in a part, for a vendor that reports no usage. Audio counts as its
 * base64, because a delta does not tell the type of its block; vendors with audio output report usage.
 */
export function textLengthOf(part: Part): number {
  return part.type === 'delta' || part.type === 'transcript' ? part.text.length : 0;
}

/** The output for parts. */
export type PartSink = (part: Part) => void;
