/** The stored prompt and answer of a call. */
import type { StoredBlock, StoredContent } from '../../../core/contracts/prompts.ts';
import { boolean, integer, listOf, object, record, text } from '../schemas.ts';

/** The content of a call, as shown. */
export function shownContent(content: StoredContent) {
  const { messages, earlierMessages, tools, parameters, answer, omitted } = content;
  return {
    messages: messages.map(({ role, name, blocks }) => ({ role, name: name ?? null, blocks: blocks.map(shownBlock) })),
    earlier_messages: earlierMessages,
    tools: tools.map(shownBlock),
    parameters: parameters === undefined ? null : shownBlock(parameters),
    answer:
      answer === undefined ? null : { blocks: answer.blocks.map(shownBlock), finish_reason: answer.finish ?? null },
    omitted,
  };
}

function shownBlock({ type, text: blockText, name, id, bytes, cutBytes, isError }: StoredBlock) {
  return {
    type,
    text: blockText,
    name: name ?? null,
    id: id ?? null,
    bytes: bytes ?? null,
    cut_bytes: cutBytes ?? 0,
    is_error: isError ?? false,
  };
}

const block = record('ContentBlock', {
  type: { enum: ['text', 'reasoning', 'refusal', 'tool_call', 'tool_result', 'media', 'data'] },
  text: {
    ...text,
    description: 'The text; arguments of a tool call; of media its type (`image/png`), its URL or its id; JSON.',
  },
  name: { type: ['string', 'null'], description: 'Of a tool, of a file, or of the data.' },
  id: { type: ['string', 'null'], description: 'The id of the tool call, or of the call that a result belongs to.' },
  bytes: { type: ['integer', 'null'], description: 'How large media is, which is not stored; null: unknown.' },
  cut_bytes: { ...integer, description: 'Bytes of the text that are not stored: `prompts.maxBytes`.' },
  is_error: { ...boolean, description: 'The tool failed.' },
});
const blocks = { type: 'array', items: block };

/** Its schema. */
export const contentSchema = record('CallContent', {
  messages: listOf('ContentMessage', { role: text, name: { type: ['string', 'null'] }, blocks }),
  earlier_messages: {
    ...integer,
    description: 'How many messages before them are not stored: `prompts.maxBytes`.',
  },
  tools: { ...blocks, description: 'Definitions of tools, as JSON.' },
  parameters: { anyOf: [block, { type: 'null' }], description: 'Parameters of the request, as JSON.' },
  answer: {
    anyOf: [
      object({
        blocks,
        finish_reason: { type: ['string', 'null'], description: 'Why it ended; null: it broke off, or unknown.' },
      }),
      { type: 'null' },
    ],
    description: 'null: none came, or it is of a kind that is not stored (vectors, images, audio).',
  },
  omitted: {
    type: 'array',
    items: text,
    description: 'The parts of the request that the messages omit, as the header `x-turnpike-translation` names them.',
  },
});
