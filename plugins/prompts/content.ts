/** The stored content of a call: its newest messages and its answer, within a limit. */
import type { StoredAnswer, StoredBlock, StoredContent, StoredMessage } from '../../core/contracts/prompts.ts';
import type { Json } from '../../core/plugin.ts';
import type { Conversation, Tool } from '../../core/translation/index.ts';
import { jsonText, type LengthOf, storedBlocks } from './blocks.ts';

/** The request of a call, as it was when the plugin inspected it. */
export interface SeenRequest {
  /** Undefined if it has texts in its place. */
  readonly conversation: Conversation | undefined;
  readonly texts: readonly string[];
  readonly lengthOf: LengthOf;
  /** The parts of the request that the conversation or the texts omit. */
  readonly omitted: readonly string[];
}

/** It, as JSON would have it; `maxBytes` of texts in all. If a request has more, the answer gets up to half of it. */
export function contentOf(
  { conversation, texts, lengthOf, omitted }: SeenRequest,
  answer: StoredAnswer | undefined,
  maxBytes: number,
): StoredContent {
  const wanted = (answer?.blocks ?? []).reduce((sum, block) => sum + sizeOf(block), 0);
  const room = new Room(maxBytes - Math.min(wanted, maxBytes >> 1));
  const { messages, earlierMessages } = conversation
    ? newest(conversation.turns.length, room, (i) => {
        const { role, name, blocks } = conversation.turns[i]!;
        const named = name === undefined ? {} : { name: brief(name) };
        return { role, ...named, blocks: room.fitStored(blocks.flatMap((block) => storedBlocks(block, lengthOf))) };
      })
    : newest(texts.length, room, (i) => ({ role: 'user', blocks: [room.fit({ type: 'text', text: texts[i]! })] }));
  const tools = (conversation?.tools ?? []).map((tool) => room.fit(storedTool(tool, lengthOf)));
  const parameters = conversation && parametersOf(conversation, lengthOf);
  const content = {
    messages,
    earlierMessages,
    tools,
    ...(parameters !== undefined && { parameters: room.fit(parameters) }),
    omitted,
  };
  if (answer === undefined) return content;
  const rest = new Room(maxBytes - room.used);
  return { ...content, answer: { ...answer, blocks: rest.fitStored(answer.blocks) } };
}

/** As many messages as there is room for, the newest first; in their order. */
function newest(
  count: number,
  room: Room,
  message: (i: number) => StoredMessage,
): Pick<StoredContent, 'messages' | 'earlierMessages'> {
  const messages: StoredMessage[] = [];
  let at = count;
  while (at > 0 && !room.isFull) messages.push(message(--at));
  return { messages: messages.reverse(), earlierMessages: at };
}

function storedTool(tool: Tool, lengthOf: LengthOf): StoredBlock {
  const { name, cache: _, ...definition } = tool as Tool & { readonly cache?: unknown };
  return { type: 'data', name, text: jsonText(definition as unknown as Json, lengthOf) };
}

/** The parameters of a request, without its texts; undefined if it has none. */
function parametersOf(conversation: Conversation, lengthOf: LengthOf): StoredBlock | undefined {
  const { turns: _turns, tools: _tools, ...parameters } = conversation;
  const given = Object.entries(parameters).filter(
    ([, value]) => value !== undefined && (typeof value !== 'object' || Object.keys(value).length > 0),
  );
  if (given.length === 0) return undefined;
  return { type: 'data', name: 'parameters', text: jsonText(Object.fromEntries(given) as Json, lengthOf) };
}

/** Bytes of a block in addition to its text. */
const FRAME = 40;
/** Characters of a name or an id. */
const LONGEST_NAME = 200;

function brief(name: string): string {
  return name.slice(0, LONGEST_NAME);
}

function sizeOf({ text, name = '', id = '', cutBytes = 0 }: StoredBlock): number {
  return FRAME + Buffer.byteLength(text) + Buffer.byteLength(name) + Buffer.byteLength(id) + cutBytes;
}

/** Room for texts, in bytes of UTF-8. */
class Room {
  readonly #size: number;
  used = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get isFull(): boolean {
    return this.used >= this.#size;
  }

  /** A block, its text cut if there is no room for all of it. */
  fit(block: StoredBlock): StoredBlock {
    const { text, cutBytes = 0, name, id, ...facts } = block;
    const rest = {
      ...facts,
      ...(name !== undefined && { name: brief(name) }),
      ...(id !== undefined && { id: brief(id) }),
    };
    const bytes = Buffer.byteLength(text);
    const frame = sizeOf({ ...rest, text: '' });
    const left = Math.max(0, this.#size - this.used - frame);
    if (bytes <= left) {
      this.used += frame + bytes;
      return { ...rest, text, ...(cutBytes > 0 && { cutBytes }) };
    }
    const kept = firstBytes(text, left);
    const keptBytes = Buffer.byteLength(kept);
    this.used = this.#size;
    return { ...rest, text: kept, cutBytes: cutBytes + bytes - keptBytes };
  }

  /** Blocks in their order. Blocks without any room are counted as missing bytes of the last one. */
  fitStored(blocks: Iterable<StoredBlock>): readonly StoredBlock[] {
    const fitted: StoredBlock[] = [];
    for (const block of blocks) {
      const last = fitted.at(-1);
      if (!this.isFull || last === undefined) fitted.push(this.fit(block));
      else {
        const { text, cutBytes = 0 } = block;
        const missing = Buffer.byteLength(text) + cutBytes;
        fitted[fitted.length - 1] = { ...last, cutBytes: (last.cutBytes ?? 0) + missing };
      }
    }
    return fitted;
  }
}

/** The beginning of a text, at most this many bytes of UTF-8, without dividing a character. */
function firstBytes(text: string, most: number): string {
  const bytes = Buffer.from(text.slice(0, most));
  let end = Math.min(most, bytes.length);
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
