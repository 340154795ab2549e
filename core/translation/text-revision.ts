/** Revises the texts of an answer as they grow, wherever they are: words, reasoning, arguments of tools, transcripts, citations. */
import type { ContentPart, Revision } from '../contracts/content.ts';
import type { BlockStart, Citation, Part } from '../contracts/conversation.ts';
import type { Json } from '../contracts/json.ts';
import { isObject } from './fields.ts';
import { mapBlocks, mapCitation, mapInput, type TextMap } from './texts.ts';

/** One text that grows. */
export interface TextFlow {
  /** The next piece; returns what can be sent by now, and holds the rest back. */
  push(text: string): string;
  /** The text has ended; returns the rest of it. */
  end(): string;
  /** The place in the text as it is sent of a place in the text as it came, both in UTF-16 units. */
  moved(offset: number): number;
}

/** Where a text has become longer or shorter, in UTF-16 units of the text as it came. */
export class Shifts {
  readonly #edits: { readonly start: number; readonly end: number; readonly by: number }[] = [];

  /** From `start` to `end`, so many units have been put in the place of what came. */
  add(start: number, end: number, length: number): void {
    this.#edits.push({ start, end, by: length - (end - start) });
  }

  /** The place of an offset in the text as it is sent; of one inside of what was replaced, the beginning of that. */
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

/** What becomes of texts. Either may throw, to refuse the answer. */
export interface TextReviser {
  /** Begins a text that grows. */
  flow(): TextFlow;
  /** A text that is complete. */
  map: TextMap;
}

/**
 * A revision of every text in an answer. The input of a tool call is held back until it is complete, so that it can be read as JSON;
 * log probabilities are left out, for they tell the text as it came.
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
          return open.get(part.key)?.say(part.text) ?? [];
        case 'citation':
          open.get(part.key)?.behind.push(part);
          return [];
        case 'opaque':
          return open.get(part.key)?.seal(part) ?? [];
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

/** A block that grows. */
interface OpenBlock {
  begin(): readonly ContentPart[];
  grow(text: string): readonly ContentPart[];
  /** The transcript of audio. */
  say(text: string): readonly ContentPart[];
  seal(part: OpaquePart): readonly ContentPart[];
  /** What is sent when its text is complete: only then are its offsets known. */
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

/** It begins with the first words that are sent: until then the answer has not begun. */
function openText(key: number, block: BlockStart, reviser: TextReviser): OpenBlock {
  let flow = reviser.flow();
  let isBegun = false;
  const behind: OpenBlock['behind'] = [];
  function begun(...parts: readonly ContentPart[]): readonly ContentPart[] {
    if (isBegun) return parts;
    isBegun = true;
    return [{ type: 'blockStart', key, block }, ...parts];
  }
  function said(text: string): readonly ContentPart[] {
    return text === '' ? NOTHING : begun({ type: 'delta', key, text });
  }
  return {
    behind,
    begin: () => NOTHING,
    grow: (text) => said(flow.push(text)),
    say: () => NOTHING,
    // It is a signature of the text before it.
    seal(part) {
      const rest = flow.end();
      flow = reviser.flow();
      return [...said(rest), ...begun(part)];
    },
    end() {
      const rest = said(flow.end());
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
    say: () => NOTHING,
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

/** What is said aloud cannot be revised; its transcript can. */
function openAudio(key: number, block: BlockStart, reviser: TextReviser): OpenBlock {
  const flow = reviser.flow();
  const said = (text: string): readonly ContentPart[] => (text === '' ? NOTHING : [{ type: 'transcript', key, text }]);
  return {
    behind: [],
    begin: () => [{ type: 'blockStart', key, block }],
    grow: (text) => [{ type: 'delta', key, text }],
    say: (text) => said(flow.push(text)),
    seal: () => NOTHING,
    end: () => said(flow.end()),
  };
}

/** A block that comes whole. */
function openWhole(key: number, block: BlockStart, { map }: TextReviser): OpenBlock {
  return {
    behind: [],
    begin: () => [{ type: 'blockStart', key, block: mapBlocks([block], map)[0]! }],
    grow: () => NOTHING,
    say: () => NOTHING,
    seal: () => NOTHING,
    end: () => NOTHING,
  };
}

function cited(part: CitationPart, flow: TextFlow, map: TextMap): CitationPart {
  const citation = mapCitation(part.citation, map);
  return { ...part, citation: moved(citation, (offset) => flow.moved(offset)) };
}

/** The same statement of a text whose length has changed. */
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
