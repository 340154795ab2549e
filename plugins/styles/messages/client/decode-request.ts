/** Decodes a client's request. */

import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import {
  type Block,
  type Conversation,
  type Effort,
  type Fields,
  isObject,
  type Labels,
  member,
  type Output,
  parsed,
  type Reasoning,
  readFields,
  type Turn,
} from '../../../../core/translation/index.ts';
import { dropRest, readCacheHint } from '../fields/leftovers.ts';
import { decodeContent, decodeTextBlock } from './decode-blocks.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';

/** Decodes a request; refuses invalid fields with 400 and their name. */
export function decodeRequest(body: JsonObject, warnings: Warnings): Conversation {
  const fields = readFields(withResultIds(body, warnings), '');
  fields.get('model');
  fields.get('stream');
  if (fields.get('thread') !== undefined) barThread(warnings);
  if (fields.get('max_tokens') === 0) {
    warnings.bar('max_tokens', 'must be above 0 for this model: 0 only fills the cache of a vendor with the same API.');
  }
  const messages = fields.each('messages');
  const spoken = messages.findLastIndex(isSpoken);
  const decoded = messages
    .filter((message, i) => message.get('clear_at') !== 'next_user_message' || i > spoken)
    .map((message) => decodeTurn(message, warnings));
  const turns = [...decodeSystem(fields, warnings), ...decoded].filter(({ blocks }) => blocks.length > 0);
  const config = fields.fields('output_config');
  const temperature = fields.number('temperature');
  const topP = fields.number('top_p');
  const topK = fields.number('top_k');
  const tools = decodeTools(fields, warnings);
  const { toolChoice, parallelToolCalls } = decodeToolChoice(fields, warnings);
  const reasoning = decodeReasoning(fields.fields('thinking'), config, warnings);
  const output = decodeOutput(config?.fields('format') ?? fields.fields('output_format'), warnings);
  if (config !== undefined) dropRest(config, 'output_config', warnings);
  // Context editing and compaction; without it, other vendors simply get the whole conversation.
  for (const name of ['context_management', 'diagnostics']) {
    if (fields.get(name) !== undefined) warnings.drop(name, 'hint');
  }
  return {
    turns: cachedToTheEnd(turns, fields, warnings),
    tools,
    toolChoice,
    parallelToolCalls,
    maxTokens: fields.number('max_tokens'),
    sampling: {
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(topK !== undefined && { topK }),
    },
    stop: decodeStop(fields),
    reasoning,
    output,
    labels: decodeLabels(fields, warnings),
    truncation: undefined,
    // Fields that were not read above.
    extras: fields.rest(),
  };
}

/** The vendor would get the last turns without what they continue. */
export function barThread(warnings: Pick<Warnings, 'bar'>): void {
  warnings.bar('thread', 'is not supported by the vendor of this model: send the whole conversation, without it.');
}

/** A billing block that is different in every request; at the start of the prompt, it would invalidate other vendors' caches. */
const BILLING = 'x-anthropic-billing-header:';

function decodeSystem(fields: Fields, warnings: Warnings): readonly Turn[] {
  const system = fields.get('system');
  if (system === undefined) return [];
  if (typeof system === 'string') return [{ role: 'system', blocks: [{ type: 'text', text: system }] }];
  const blocks = fields.each('system').map((block) => {
    if (block.text('type') !== 'text') return block.wrong('type', 'must be text');
    const text = decodeTextBlock(block, warnings);
    dropRest(block, 'system', warnings);
    return text;
  });
  if (blocks[0]?.text.startsWith(BILLING) !== true) return [{ role: 'system', blocks }];
  warnings.drop('system.billing_header', 'hint');
  return [{ role: 'system', blocks: blocks.slice(1) }];
}

/** Whether a user says something, beside results of tools. Until then, an instruction with `clear_at: next_user_message` applies. */
function isSpoken(message: Fields): boolean {
  const content = message.get('content');
  return (
    message.get('role') === 'user' &&
    (!Array.isArray(content) || content.some((block: Json) => isObject(block) && block.type !== 'tool_result'))
  );
}

function decodeTurn(message: Fields, warnings: Warnings): Turn {
  const role = message.text('role');
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    return message.wrong('role', 'must be user, assistant or system');
  }
  const blocks = decodeContent(message, warnings);
  dropRest(message, 'messages', warnings);
  return { role, blocks };
}

/** A top-level `cache_control` applies to all messages: the same as a hint on their last block. */
function cachedToTheEnd(turns: readonly Turn[], fields: Fields, warnings: Warnings): readonly Turn[] {
  const hint = readCacheHint(fields, warnings);
  if (hint.cache === undefined) return turns;
  const last = turns.at(-1);
  const block = last?.blocks.at(-1);
  if (last === undefined || block === undefined || !canBeCached(block)) {
    warnings.drop('cache_control', 'hint');
    return turns;
  }
  return [...turns.slice(0, -1), { ...last, blocks: [...last.blocks.slice(0, -1), { ...block, ...hint }] }];
}

function canBeCached({ type }: Block): boolean {
  return type === 'text' || type === 'image' || type === 'file' || type === 'toolResult';
}

function decodeStop(fields: Fields): readonly string[] {
  return (fields.list('stop_sequences') ?? []).map((text, i) =>
    typeof text === 'string' ? text : fields.wrong(`stop_sequences[${i}]`, 'must be a string'),
  );
}

const EFFORTS: readonly string[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] satisfies readonly Effort[];

function decodeReasoning(
  thinking: Fields | undefined,
  config: Fields | undefined,
  warnings: Warnings,
): Reasoning | undefined {
  const effort = config?.text('effort') as Effort | undefined;
  if (effort !== undefined && !EFFORTS.includes(effort)) {
    return config!.wrong('effort', `must be one of ${EFFORTS.join(', ')}`);
  }
  const worth = effort === undefined ? {} : { effort };
  if (thinking === undefined) return effort === undefined ? undefined : { mode: 'auto', ...worth };
  const display = thinking.text('display');
  const budget = thinking.number('budget_tokens');
  const type = thinking.text('type');
  dropRest(thinking, 'thinking', warnings);
  switch (type) {
    case 'enabled':
      // Clients that set a budget expect to see the reasoning.
      return { mode: 'on', ...worth, ...(budget !== undefined && { budget }), summary: summaryOf(display) ?? 'auto' };
    case 'adaptive':
    case 'between_tools': {
      const summary = summaryOf(display);
      // Without an effort, it still reasons.
      return { mode: effort === undefined ? 'on' : 'auto', ...worth, ...(summary !== undefined && { summary }) };
    }
    case 'disabled':
      if (effort !== undefined) warnings.drop('output_config.effort', 'hint');
      return { mode: 'off' };
    default:
      return thinking.wrong('type', 'must be enabled, adaptive or disabled');
  }
}

function summaryOf(display: string | undefined): 'none' | 'auto' | undefined {
  if (display === undefined) return undefined;
  return display === 'omitted' ? 'none' : 'auto';
}

function decodeOutput(format: Fields | undefined, warnings: Warnings): Output {
  if (format === undefined) return {};
  if (format.text('type') !== 'json_schema') return format.wrong('type', 'must be json_schema');
  const schema = format.object('schema') ?? format.wrong('schema', 'must be an object');
  dropRest(format, format.path, warnings);
  // This style has no name for a schema; others require one.
  return { format: { type: 'schema', name: 'structured_output', schema, strict: true } };
}

/** `auto` has the same meaning in other styles; `standard_only` is `default` there. */
const TIERS: ReadonlyMap<string, string> = new Map([['standard_only', 'default']]);

function decodeLabels(fields: Fields, warnings: Warnings): Labels {
  const metadata = fields.fields('metadata');
  const user = metadata?.text('user_id');
  if (metadata !== undefined) dropRest(metadata, 'metadata', warnings);
  const session = user === undefined ? undefined : sessionIn(user);
  const tier = fields.text('service_tier');
  return {
    ...(user !== undefined && { user }),
    ...(session !== undefined && { cacheKey: session }),
    ...(tier !== undefined && { serviceTier: TIERS.get(tier) ?? tier }),
  };
}

const SESSION = '_session_';

/** Coding clients put their session into the user id: as a member of JSON text, or after `_session_`. */
function sessionIn(user: string): string | undefined {
  const mark = user.lastIndexOf(SESSION);
  const named = mark === -1 ? '' : user.slice(mark + SESSION.length);
  if (/^[\w-]+$/.test(named)) return named;
  const session = user.startsWith('{') ? member(parsed(user), 'session_id') : undefined;
  return typeof session === 'string' && session !== '' ? session : undefined;
}

/**
 * The body with the ids of the preceding calls, in order, if as many results have no id as calls have no result.
 * Otherwise the assignment is ambiguous, and the missing field is refused when it is read.
 */
function withResultIds(body: JsonObject, warnings: Warnings): JsonObject {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some((message) => blocksOf(message).some(isNameless))) return body;
  const named = messages.map((message: Json, i) => {
    const blocks = blocksOf(message);
    const nameless = blocks.filter(isNameless);
    const answered = new Set(blocks.map((block) => isObject(block) && block.tool_use_id));
    const waiting = blocksOf(messages[i - 1])
      .filter((block) => isObject(block) && block.type === 'tool_use' && !answered.has(block.id ?? null))
      .map((block) => (block as JsonObject).id ?? null);
    if (nameless.length === 0 || nameless.length !== waiting.length) return message;
    warnings.change('messages.tool_results', 'hint');
    const content = blocks.map((block) =>
      isNameless(block) ? { ...(block as JsonObject), tool_use_id: waiting.shift() ?? null } : block,
    );
    return { ...(message as JsonObject), content };
  });
  return { ...body, messages: named };
}

function blocksOf(message: Json | undefined): readonly Json[] {
  return isObject(message) && Array.isArray(message.content) ? message.content : [];
}

function isNameless(block: Json): boolean {
  return isObject(block) && block.type === 'tool_result' && (block.tool_use_id ?? '') === '';
}
