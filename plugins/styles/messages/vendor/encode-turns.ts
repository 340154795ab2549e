/** Encodes turns as messages: which roles may follow each other, and the order of blocks in a message. */
import type { JsonObject } from '../../../../core/plugin.ts';
import type { Turn } from '../../../../core/translation/index.ts';
import { type BlockContext, encodeBlock } from './encode-blocks.ts';

/** The prompt and the messages of a body. */
export interface EncodedTurns {
  readonly system: readonly JsonObject[];
  readonly messages: readonly Message[];
}

/** One message. */
export type Message = {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: readonly JsonObject[];
};

type TurnsContext = Omit<BlockContext, 'role'>;

/** Encodes the turns; `note` is an additional line of the prompt. */
export function encodeTurns(turns: readonly Turn[], note: string | undefined, context: TurnsContext): EncodedTurns {
  const spoken = turns.map((turn): Message => {
    const role = turn.role === 'developer' ? 'system' : turn.role;
    if (turn.name !== undefined) context.warnings.drop('messages.name', 'hint');
    const here = { ...context, role };
    return { role, content: turn.blocks.flatMap((block) => encodeBlock(block, here)) };
  });
  const first = spoken.findIndex(({ role }) => role !== 'system');
  const start = first === -1 ? spoken.length : first;
  const system = spoken.slice(0, start).flatMap(({ content }) => content);
  return {
    system: note === undefined ? system : [...system, { type: 'text', text: note }],
    messages: withoutBlankEnd(
      joined(
        settled(
          spoken.slice(start).filter(({ content }) => content.length > 0),
          context,
        ),
      ).map(ordered),
    ),
  };
}

/**
 * System instructions inside the conversation may follow a user message, before an assistant message or the end.
 * Otherwise, or if the model does not support them, they become user text.
 */
function settled(messages: readonly Message[], { quirks, warnings }: TurnsContext): readonly Message[] {
  if (!messages.some(({ role }) => role === 'system')) return messages;
  /** The role that follows each turn. */
  const nexts: (Message['role'] | undefined)[] = [];
  let next: Message['role'] | undefined;
  for (let i = messages.length - 1; i >= 0; i--) {
    const { role } = messages[i]!;
    nexts[i] = next;
    if (role !== 'system') next = role;
  }
  let before: Message['role'] | undefined;
  return messages.map((message, i) => {
    if (message.role !== 'system') {
      before = message.role;
      return message;
    }
    if (quirks.roles.mid_system === 'native' && before === 'user' && nexts[i] !== 'user') return message;
    warnings.change('messages.system');
    const content = message.content.map((block) =>
      typeof block.text === 'string'
        ? { ...block, text: `<system-reminder>\n${block.text}\n</system-reminder>` }
        : block,
    );
    return { role: 'user', content };
  });
}

/** Adjacent messages of one role are merged. */
function joined(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(({ role }, i) => messages[i - 1]?.role === role)) return messages;
  const result: { readonly role: Message['role']; readonly content: JsonObject[] }[] = [];
  for (const { role, content } of messages) {
    const last = result.at(-1);
    if (last?.role !== role) result.push({ role, content: [...content] });
    else for (const block of content) last.content.push(block);
  }
  return result;
}

/** Tool results come first in a user message, reasoning first in an assistant message. */
function ordered(message: Message): Message {
  const { role, content } = message;
  if (role === 'assistant') return isThought(content[0]) ? message : sorted(message, isThought);
  const { content: blocks } = sorted(message, ({ type }) => type === 'tool_result');
  const isSilent = blocks.some(({ type }) => type === 'document') && !blocks.some(({ type }) => type === 'text');
  // Documents are accepted only with a text.
  if (isSilent) return { role, content: [...blocks, { type: 'text', text: '.' }] };
  return blocks === content ? message : { role, content: blocks };
}

function sorted(message: Message, isFirst: (block: JsonObject) => boolean): Message {
  const { role, content } = message;
  if (!content.some(isFirst)) return message;
  return { role, content: [...content.filter(isFirst), ...content.filter((block) => !isFirst(block))] };
}

function isThought(block: JsonObject | undefined): boolean {
  return block?.type === 'thinking' || block?.type === 'redacted_thinking';
}

/** A prefilled answer must not end in whitespace. */
function withoutBlankEnd(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  const end = last?.content.at(-1);
  if (last?.role !== 'assistant' || typeof end?.text !== 'string') return messages;
  const content = [...last.content.slice(0, -1), { ...end, text: end.text.trimEnd() }];
  return [...messages.slice(0, -1), { ...last, content }];
}
