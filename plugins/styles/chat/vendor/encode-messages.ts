/** Encodes turns as the messages of a chat request. */

import type { JsonObject } from '../../../../core/plugin.ts';
import type { Block, ThinkingBlock, ToolCallBlock, ToolResultBlock, Turn } from '../../../../core/translation/index.ts';
import { writeCache } from '../fields/cache.ts';
import { extraContent, writeThinking } from '../fields/thinking.ts';
import { textOf, type Writing, writeContent } from './encode-content.ts';

/** Encodes each turn as one or more messages: every tool result is a message of its own. */
export function writeMessages(turns: readonly Turn[], writing: Writing): readonly JsonObject[] {
  return turns.flatMap((turn) =>
    turn.role === 'assistant' ? writeAssistant(turn, writing) : writeTurn(turn, writing),
  );
}

function named({ name }: Turn): JsonObject | undefined {
  return name === undefined ? undefined : { name };
}

function isResult(block: Block): block is ToolResultBlock {
  return block.type === 'toolResult';
}

/** Results come first and together, as vendors require; then media that a tool message cannot have. */
function writeTurn(turn: Turn, writing: Writing): readonly JsonObject[] {
  const how = { gap: '\n\n', joined: turn.role !== 'user' };
  if (!turn.blocks.some(isResult)) {
    return [{ role: turn.role, content: writeContent(turn.blocks, how, writing), ...named(turn) }];
  }
  const results = turn.blocks.filter(isResult);
  const own = turn.blocks.filter((block) => !isResult(block));
  const media: Block[] = [];
  const messages = results.map((result) => writeResult(result, media, writing));
  const blocks = [...media, ...own];
  if (blocks.length === 0 && messages.length > 0) return messages;
  const content = writeContent(blocks, how, writing);
  return [...messages, { role: turn.role, content, ...named(turn) }];
}

/** `media` collects media for a user message. Core has moved the images there already; files are not allowed in tool messages either. */
function writeResult(result: ToolResultBlock, media: Block[], writing: Writing): JsonObject {
  const { quirks, warnings } = writing;
  const isForeign = (block: Block): boolean => block.type === 'file' && textOf(block.source) === undefined;
  const moved = quirks.content.tool_result_images === 'native' ? [] : result.content.filter(isForeign);
  if (moved.length > 0) {
    warnings.change('messages.file', 'hint');
    media.push({ type: 'text', text: `Files in the result of tool call ${result.id}:` }, ...moved);
  }
  const away = new Set(moved);
  const kept = result.content.filter((block) => !away.has(block));
  const content = writeContent(marked(kept, result), { gap: '\n', joined: true }, writing);
  // Chat has no error flag for results, and the model must not take an error for a result.
  const isMarked = result.isError !== true || typeof content !== 'string' || /^\W*error/i.test(content);
  if (!isMarked) warnings.change('messages.is_error', 'hint');
  return { role: 'tool', tool_call_id: result.id, content: isMarked ? content : `Error: ${content}` };
}

/** A mark on the result applies to the end of its content. */
function marked(blocks: readonly Block[], { cache }: ToolResultBlock): readonly Block[] {
  const last = blocks.at(-1);
  if (cache === undefined || last?.type !== 'text') return blocks;
  return [...blocks.slice(0, -1), { ...last, cache }];
}

function writeAssistant(turn: Turn, writing: Writing): readonly JsonObject[] {
  const { quirks, warnings } = writing;
  const thoughts: ThinkingBlock[] = [];
  const calls: ToolCallBlock[] = [];
  const visible: Block[] = [];
  let spoken: string | undefined;
  for (const block of turn.blocks) {
    if (block.type === 'thinking') thoughts.push(block);
    else if (block.type === 'toolCall') calls.push(block);
    else if (block.type === 'audio' && block.id) spoken = block.id;
    else if (block.type === 'audio') visible.push({ type: 'text', text: block.transcript ?? '' });
    else if (block.type === 'image' || block.type === 'file') warnings.drop(`messages.assistant.${block.type}`);
    else if (!isResult(block)) visible.push(block);
  }
  const content = writeText(visible, writing);
  return [
    {
      role: 'assistant',
      content: content === '' && (calls.length > 0 || spoken !== undefined) ? null : content,
      ...named(turn),
      ...writeThinking(thoughts, quirks.reasoning, calls.length > 0, warnings),
      ...(spoken !== undefined && { audio: { id: spoken } }),
      ...(calls.length > 0 && { tool_calls: calls.map(writeCall) }),
    },
    ...turn.blocks.filter(isResult).map((result) => writeResult(result, [], writing)),
  ];
}

/** The assistant's content is one text: servers support lists least reliably in assistant messages. */
function writeText(visible: readonly Block[], writing: Writing): string | readonly JsonObject[] {
  const { quirks, warnings } = writing;
  const text = visible.map((block) => (block.type === 'text' || block.type === 'refusal' ? block.text : '')).join('');
  for (const block of visible) {
    if (block.type === 'foreign') warnings.drop(`messages.${block.what}`);
    // Chat requests have no citations.
    if (block.type === 'text' && block.citations !== undefined) warnings.drop('messages.annotations', 'hint');
  }
  const marks = visible.flatMap((block) => (block.type === 'text' && block.cache !== undefined ? [block.cache] : []));
  const mark = writeCache(marks.at(-1), quirks.cache.hint, warnings);
  return Object.keys(mark).length === 0 || text === '' || !quirks.content.array
    ? text
    : [{ type: 'text', text, ...mark }];
}

function writeCall({ id, kind, name, input, opaque }: ToolCallBlock): JsonObject {
  const called =
    kind === 'custom'
      ? { custom: { name, input } }
      : { function: { name, arguments: input.trim() === '' ? '{}' : input } };
  return { id, type: kind, ...called, ...extraContent(opaque) };
}
