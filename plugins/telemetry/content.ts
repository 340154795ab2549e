/** Prompts and answers as the GenAI semantic conventions have them: `gen_ai.input.messages` and `gen_ai.output.messages`, as JSON. */
import type { Content, ContentPart, Json, Revision } from '../../core/plugin.ts';
import type { Block, Conversation } from '../../core/translation/index.ts';

/** The most characters of the prompt, and of the answer. */
const MOST = 64 * 1_024;

/** A message. */
interface Message {
  readonly role: string;
  readonly parts: readonly Json[];
  readonly finish_reason?: string;
}

/** The prompt of a call as JSON; undefined if it cannot be decoded: it is for its vendor to refuse. */
export async function promptOf(content: Content): Promise<string | undefined> {
  try {
    const conversation = await content.conversation();
    return conversation === undefined
      ? asJson(content.texts().map((text) => ({ role: 'user', parts: [{ type: 'text', content: text }] })))
      : asJson(messagesOf(conversation));
  } catch {
    return undefined;
  }
}

function messagesOf({ turns }: Conversation): readonly Message[] {
  return turns.map(({ role, blocks }) => ({ role, parts: blocks.map(partOf) }));
}

function partOf(block: Block): Json {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', content: block.text };
    case 'thinking':
      return { type: 'reasoning', content: block.text };
    case 'toolCall':
      return { type: 'tool_call', id: block.id, name: block.name, arguments: block.input };
    case 'toolResult':
      return { type: 'tool_call_response', id: block.id, response: block.content.map(partOf) };
    default:
      // Never the bytes of media.
      return { type: block.type };
  }
}

/** The newest messages that there is room for. A single message that is longer is cut, and then is no JSON any more. */
function asJson(messages: readonly Message[]): string {
  const texts: string[] = [];
  let room = MOST;
  for (const message of messages.toReversed()) {
    const text = JSON.stringify(message);
    if (text.length > room && texts.length > 0) break;
    texts.unshift(text.length > room ? `${text.slice(0, room)}…` : text);
    room -= text.length;
  }
  return `[${texts.join(',')}]`;
}

/** Collects the answer of one attempt while it is forwarded. */
export class AnswerCollector implements Revision {
  readonly observes = true;
  readonly #blocks: { readonly block: Block; text: string }[] = [];
  readonly #open = new Map<number, { readonly block: Block; text: string }>();
  #left = MOST;
  #finish = '';
  /** The vendor's id of the answer and its name for the model; empty if it has none. */
  id = '';
  model = '';

  part(part: ContentPart): readonly ContentPart[] {
    if (part.type === 'start') {
      this.id = part.id;
      this.model = part.model;
    } else if (part.type === 'blockStart') {
      const grown = { block: part.block, text: '' };
      this.#blocks.push(grown);
      this.#open.set(part.key, grown);
    } else if (part.type === 'delta') {
      const grown = this.#open.get(part.key);
      if (grown === undefined || this.#left === 0 || grown.block.type === 'audio') return [];
      const text = part.text.slice(0, this.#left);
      this.#left -= text.length;
      grown.text += text;
    } else if (part.type === 'finish') this.#finish = part.finish.reason;
    return [];
  }

  end(): readonly ContentPart[] {
    return [];
  }

  /** The answer as JSON, also of a part of one; undefined if there is none. */
  get text(): string | undefined {
    if (this.#blocks.length === 0) return undefined;
    const parts = this.#blocks.map(({ block, text }) => partOf(withText(block, text)));
    return JSON.stringify([{ role: 'assistant', parts, finish_reason: this.#finish }]);
  }
}

/** A block with what was added to it. */
function withText(block: Block, text: string): Block {
  if (block.type === 'toolCall') return { ...block, input: block.input + text };
  return 'text' in block ? { ...block, text: block.text + text } : block;
}
