/** Prompts and answers as the GenAI semantic conventions have them: `gen_ai.input.messages` and `gen_ai.output.messages`, as JSON. */
import type { Content, Json } from '../../core/plugin.ts';
import type { AnswerCollector, Block, Conversation } from '../../core/translation/index.ts';

/** The most characters of the prompt, and of the answer. */
export const MOST = 64 * 1_024;

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

/** An answer as JSON, also of a part of one; undefined if there is none. */
export function outputOf({ blocks, finish }: AnswerCollector): string | undefined {
  if (blocks.length === 0) return undefined;
  return JSON.stringify([{ role: 'assistant', parts: blocks.map(partOf), finish_reason: finish?.reason ?? '' }]);
}
