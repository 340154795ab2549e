/** Revises the texts of an answer while they grow: content, reasoning, tool arguments, transcripts, citations. */

import { isObject } from '../../bytes/fields.ts';
import type { ContentPart, Revision } from '../../contracts/formats/content.ts';
import type { BlockStart, Citation, Part } from '../../contracts/formats/conversation.ts';
import type { Json } from '../../contracts/formats/json.ts';
import { mapBlocks, mapCitation, mapInput, type TextMap } from './texts.ts';

/** One text that grows. */
export interface TextFlow {
  /** The next piece; returns what can be sent now, and holds the rest back. */
  push(text: string): string;
  /** The text has ended; returns the rest of it. */
  end(): string;
  /** Maps a position in the original text to the sent text, both in UTF-16 units. */
  moved(offset: number): number;
}

/** Where the length of a text changed, in UTF-16 units of the original. */
export class Shifts {
  readonly #edits: { readonly start: number; readonly end: number; readonly by: number }[] = [];

  /** The original from `start` to `end` was replaced by this many units. */
  add(start: number, end: number, length: number): void {
    this.#edits.push({ start, end, by: length - (end - start) });
  }

  /** Maps an offset to the sent text; one inside a replaced part maps to its start. */
  moved(offset: number): number {
    let by = 0;
    for (const edit of this.#edits) {
      if (offset <= edit.start) break;
      if (offset < edit.end) return edit.start + by;
      by += edit.by;
    }
    return offset + by;
  }
}

/** The revision of texts. Either function may throw to refuse the answer. */
export interface TextReviser {
  /** Starts a growing text. */
  flow(): TextFlow;
  /** Revises a complete text. */
  map: TextMap;
}

/**
 * A revision of every text in an answer. The input of a tool call is held back until it is complete, so that it can be
 * parsed as JSON; log probabilities are removed, because they contain the original text.
 */
export function createTextRevision(reviser: TextReviser): Revision {
  const open = new Map<number, OpenBlock>();
  return {
    part(part) {
      switch (part.type) {
        case 'blockStart': {
          const block = openBlock(part.key, part.block, reviser);
          open.set(part.key, block);
          return block.begin();
        }
        case 'delta':
          return open.get(part.key)?.grow(part.text) ?? [];
        case 'transcript':
          return open.get(part.key)?.say?.(part.text) ?? [];
        case 'citation':
          open.get(part.key)?.behind.push(part);
          return [];
        case 'opaque':
          return open.get(part.key)?.seal?.(part) ?? [];
        case 'blockEnd': {
          const block = open.get(part.key);
          open.delete(part.key);
          return block === undefined ? [] : [...block.end(), part];
        }
        case 'finish': {
          const { explanation, stopSequence } = part.finish;
          const words = {
            ...(explanation !== undefined && { explanation: reviser.map(explanation) }),
            ...(stopSequence !== undefined && { stopSequence: reviser.map(stopSequence) }),
          };
          return [{ ...part, finish: { ...part.finish, ...words } }];
        }
        default:
          return [part];
      }
    },
    end() {
      const out = [...open].flatMap(([key, block]) => [...block.end(), { type: 'blockEnd' as const, key }]);
      open.clear();
      return out;
    },
  };
}

type CitationPart = Extract<Part, { readonly type: 'citation' }>;
type OpaquePart = Extract<Part, { readonly type: 'opaque' }>;

/** A growing block. */
interface OpenBlock {
  begin(): readonly ContentPart[];
  grow(text: string): readonly ContentPart[];
  /** The transcript of audio. */
  say?(text: string): readonly ContentPart[];
  seal?(part: OpaquePart): readonly ContentPart[];
  /** Citations, sent when the text is complete: only then are their offsets known. */
  readonly behind: (CitationPart | OpaquePart)[];
  /** Everything but its end. */
  end(): readonly ContentPart[];
}

function openBlock(key: number, block: BlockStart, reviser: TextReviser): OpenBlock {
  switch (block.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return openText(key, { ...block, text: '' }, reviser);
    case 'toolCall':
      return openCall(key, block, reviser);
    case 'audio':
      return openAudio(key, block, reviser);
    default:
      return openWhole(key, block, reviser);
  }
}

const NOTHING: readonly ContentPart[] = [];

/** The block starts with its first sent text: until then the answer has not begun. */
function openText(key: number, block: BlockStart, reviser: TextReviser): OpenBlock {
  let flow = reviser.flow();
  let isBegun = false;
  const behind: OpenBlock['behind'] = [];
  function begun(...parts: readonly ContentPart[]): readonly ContentPart[] {
    if (isBegun) return parts;
    isBegun = true;
    return [{ type: 'blockStart', key, block }, ...parts];
  }
  function partsFor(text: string): readonly ContentPart[] {
    return text === '' ? NOTHING : begun({ type: 'delta', key, text });
  }
  return {
    behind,
    begin: () => NOTHING,
    grow: (text) => partsFor(flow.push(text)),
    // A signature of the text before it.
    seal(part) {
      const rest = flow.end();
      flow = reviser.flow();
      return [...partsFor(rest), ...begun(part)];
    },
    end() {
      const rest = partsFor(flow.end());
      const last = behind.map((part) => (part.type === 'citation' ? cited(part, flow, reviser.map) : part));
      return [...rest, ...begun(...last)];
    },
  };
}

function openCall(
  key: number,
  block: Extract<BlockStart, { readonly type: 'toolCall' }>,
  reviser: TextReviser,
): OpenBlock {
  let { input } = block;
  const behind: OpenBlock['behind'] = [];
  return {
    behind,
    begin: () => [{ type: 'blockStart', key, block: { ...block, input: '' } }],
    grow(text) {
      input += text;
      return NOTHING;
    },
    seal(part) {
      behind.push(part);
      return NOTHING;
    },
    end() {
      const text = mapInput(block.kind, input, reviser.map);
      return [...(text === '' ? NOTHING : [{ type: 'delta', key, text } as const]), ...behind];
    },
  };
}

/** Audio cannot be revised; its transcript can. */
function openAudio(key: number, block: BlockStart, reviser: TextReviser): OpenBlock {
  const flow = reviser.flow();
  const partsFor = (text: string): readonly ContentPart[] =>
    text === '' ? NOTHING : [{ type: 'transcript', key, text }];
  return {
    behind: [],
    begin: () => [{ type: 'blockStart', key, block }],
    grow: (text) => [{ type: 'delta', key, text }],
    say: (text) => partsFor(flow.push(text)),
    end: () => partsFor(flow.end()),
  };
}

/** A complete block. */
function openWhole(key: number, block: BlockStart, { map }: TextReviser): OpenBlock {
  return {
    behind: [],
    begin: () => [{ type: 'blockStart', key, block: mapBlocks([block], map)[0]! }],
    grow: () => NOTHING,
    end: () => NOTHING,
  };
}

function cited(part: CitationPart, flow: TextFlow, map: TextMap): CitationPart {
  const citation = mapCitation(part.citation, map);
  return { ...part, citation: moved(citation, (offset) => flow.moved(offset)) };
}

/** The citation with offsets for a text whose length has changed. */
function moved({ start, end, raw, ...rest }: Citation, to: (offset: number) => number): Citation {
  return {
    ...rest,
    ...(start !== undefined && { start: to(start) }),
    ...(end !== undefined && { end: to(end) }),
    raw: movedRaw(raw, to),
  };
}

function movedRaw(raw: Json, to: (offset: number) => number): Json {
  if (!isObject(raw)) return raw;
  const { start_index: start, end_index: end } = raw;
  return {
    ...raw,
    ...(typeof start === 'number' && { start_index: to(start) }),
    ...(typeof end === 'number' && { end_index: to(end) }),
  };
}
