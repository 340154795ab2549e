/** Encodes a conversation for a vendor of the responses style. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject, Target, Warnings } from '../../../../core/plugin.ts';
import type {
  Block,
  Conversation,
  Labels,
  Output,
  Quirks,
  Reasoning,
  Sampling,
  Tool,
  Turn,
} from '../../../../core/translation/index.ts';
import { given } from '../../../../core/translation/index.ts';
import { createPartsWriter, foreignItem, type PartsWriter } from '../fields/content.ts';
import { writeToolChoice, writeTools } from '../fields/tools.ts';

/** Encodes the body; reports what it cannot express to `warnings`. */
export function encodeRequest(conversation: Conversation, to: Target, warnings: Warnings): JsonObject {
  const { tools, toolChoice, sampling, reasoning, labels } = conversation;
  const { quirks } = to;
  const [instructions, turns] = splitInstructions(conversation.turns, quirks, warnings);
  const declared = writeTools(tools, toolChoice, quirks.tools.strict, warnings);
  if (toolChoice !== undefined && declared.length === 0) warnings.drop('tool_choice', 'hint');
  if (conversation.stop.length > 0) warnings.drop('stop');
  const thinks = quirks.reasoning.input !== 'none' && reasoning?.mode !== 'off';
  const include = [
    // Encrypted reasoning that is not stored must be returned, otherwise the next turn would lose it.
    ...(thinks ? ['reasoning.encrypted_content'] : []),
    ...(sampling.logprobs === undefined ? [] : ['message.output_text.logprobs']),
  ];
  return given<JsonObject>({
    model: to.model,
    instructions,
    input: writeItems(turns, quirks, warnings),
    tools: declared.length === 0 ? undefined : declared,
    tool_choice: toolChoice && declared.length > 0 ? writeToolChoice(toolChoice, tools) : undefined,
    parallel_tool_calls: declared.length > 0 ? conversation.parallelToolCalls : undefined,
    max_output_tokens: limit(conversation.maxTokens, quirks, warnings),
    ...samplingFields(sampling, warnings),
    reasoning: reasoning && writeReasoning(withHosted(reasoning, tools, quirks, warnings), quirks, warnings),
    text: writeText(conversation.output, warnings),
    truncation: conversation.truncation,
    include: include.length === 0 ? undefined : include,
    ...labelFields(labels, warnings),
    ...extraFields(conversation.extras, warnings),
    stream: to.stream ? true : undefined,
  });
}

/** A system prompt of text only becomes `instructions`; otherwise it stays a message with its role. */
function splitInstructions(
  turns: readonly Turn[],
  quirks: Quirks,
  warnings: Warnings,
): readonly [string | undefined, readonly Turn[]] {
  const [first, ...rest] = turns;
  if (first?.role !== 'system') return [undefined, turns];
  const isMarked = first.blocks.some((block) => block.type === 'text' && block.cache !== undefined);
  const texts = first.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (texts.length < first.blocks.length || (isMarked && quirks.cache.hint === 'breakpoint')) return [undefined, turns];
  if (isMarked) warnings.drop('cache_control', 'hint');
  return [texts.join('\n\n'), rest];
}

function writeItems(turns: readonly Turn[], quirks: Quirks, warnings: Warnings): readonly Json[] {
  const parts = createPartsWriter(quirks, warnings);
  return turns.flatMap((turn) => {
    if (turn.name !== undefined) warnings.drop('messages.name', 'hint');
    return turnItems(turn, parts, warnings);
  });
}

/** Blocks other than text, images and files are items of their own, which end the message before them. */
function turnItems({ role, blocks }: Turn, parts: PartsWriter, warnings: Warnings): readonly Json[] {
  const items: Json[] = [];
  let content: JsonObject[] = [];
  const endMessage = (): void => {
    if (content.length > 0) items.push({ type: 'message', role, content });
    content = [];
  };
  for (const block of blocks) {
    if (isContent(block)) {
      const part = role === 'assistant' ? parts.output(block) : parts.input(block);
      if (part !== undefined) content.push(part);
      continue;
    }
    endMessage();
    const item = itemOf(block, parts, warnings);
    if (item !== undefined) items.push(item);
  }
  endMessage();
  return items;
}

function isContent({ type }: Block): boolean {
  return type === 'text' || type === 'refusal' || type === 'image' || type === 'file' || type === 'audio';
}

function itemOf(block: Block, parts: PartsWriter, warnings: Warnings): Json | undefined {
  switch (block.type) {
    case 'toolCall':
      return block.kind === 'custom'
        ? { type: 'custom_tool_call', call_id: block.id, name: block.name, input: block.input }
        : { type: 'function_call', call_id: block.id, name: block.name, arguments: block.input || '{}' };
    case 'toolResult': {
      if (block.isError === true) warnings.drop('messages.is_error', 'hint');
      if (block.cache !== undefined) warnings.drop('cache_control', 'hint');
      const type = block.kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output';
      return { type, call_id: block.id, output: resultOutput(block.content, parts) };
    }
    case 'thinking': {
      const { text, opaque } = block;
      if (opaque?.style !== 'responses') break;
      return given<JsonObject>({
        type: 'reasoning',
        // The id belongs to the encrypted content: the vendor refuses it with another one.
        id: opaque.id,
        summary: text === '' ? [] : [{ type: 'summary_text', text }],
        encrypted_content: opaque.value,
      });
    }
    case 'foreign': {
      const raw = foreignItem(block);
      if (raw === undefined) warnings.drop(`messages.${block.what}`);
      return raw;
    }
    default:
  }
  warnings.drop('messages.reasoning', 'hint');
  return undefined;
}

/** A single text stays a string, which every server accepts, unless it has a mark. */
function resultOutput(content: readonly Block[], parts: PartsWriter): Json {
  if (content.length === 0) return '';
  const written = content.map((block) => parts.input(block)).filter((part) => part !== undefined);
  const [first] = written;
  const isBare = written.length === 1 && first?.type === 'input_text' && Object.keys(first).length === 2;
  return isBare ? first.text! : written;
}

function limit(maxTokens: number | undefined, { limits }: Quirks, warnings: Warnings): number | undefined {
  if (maxTokens === undefined || maxTokens >= limits.min_output) return maxTokens;
  warnings.change('max_tokens');
  return limits.min_output;
}

function samplingFields(sampling: Sampling, warnings: Warnings): JsonObject {
  const unknown = {
    top_k: sampling.topK,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    logit_bias: sampling.logitBias,
  };
  for (const [name, value] of Object.entries(unknown)) if (value !== undefined) warnings.drop(name);
  return given<JsonObject>({
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_logprobs: sampling.logprobs,
  });
}

/** The vendor-side tools do not support the lowest effort. */
function withHosted(
  reasoning: Reasoning,
  tools: readonly Tool[],
  { reasoning: { levels } }: Quirks,
  warnings: Warnings,
): Reasoning {
  const isTooLittle = reasoning.effort === 'minimal' && tools.some(({ type }) => type === 'hosted');
  if (!isTooLittle || !levels.includes('low')) return reasoning;
  warnings.change('reasoning_effort');
  return { ...reasoning, effort: 'low' };
}

/** Undefined if the model does not reason, or there are no options. */
function writeReasoning(
  reasoning: Reasoning,
  { reasoning: quirks }: Quirks,
  warnings: Warnings,
): JsonObject | undefined {
  const { mode, budget, summary } = reasoning;
  if (quirks.input === 'none') {
    if (mode !== 'off') warnings.drop('reasoning_effort');
    return undefined;
  }
  if (budget !== undefined && reasoning.effort === undefined) warnings.drop('reasoning_effort.budget');
  const isOff = mode === 'off';
  if (isOff && !quirks.levels.includes('none')) {
    warnings.drop('reasoning_effort');
    return undefined;
  }
  const options = given<JsonObject>({
    effort: isOff ? 'none' : reasoning.effort,
    // Without `summary`, the vendor returns no reasoning text.
    summary: isOff || summary === 'none' ? undefined : (summary ?? 'auto'),
  });
  return Object.keys(options).length === 0 ? undefined : options;
}

function writeText({ format, verbosity, modalities, audio }: Output, warnings: Warnings): JsonObject | undefined {
  if (modalities?.includes('audio') || audio !== undefined) {
    warnings.refuse('modalities', 'contain audio, which this model does not support as output.');
  }
  if (modalities?.some((each) => each !== 'text')) warnings.drop('modalities');
  const text = given<JsonObject>({ format: format && writeFormat(format), verbosity });
  return Object.keys(text).length === 0 ? undefined : text;
}

function writeFormat(format: NonNullable<Output['format']>): JsonObject {
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json') return { type: 'json_object' };
  const { name = 'structured_output', description, schema, strict } = format;
  return given<JsonObject>({ type: 'json_schema', name, description, schema, strict });
}

/** The vendor refuses longer ones. */
const MAX_USER = 64;

function labelFields({ user, metadata, cacheKey, serviceTier, store }: Labels, warnings: Warnings): JsonObject {
  const isLong = user !== undefined && user.length > MAX_USER;
  if (isLong) warnings.change('user', 'hint');
  return given<JsonObject>({
    safety_identifier: isLong ? createHash('sha256').update(user).digest('hex') : user,
    metadata,
    prompt_cache_key: cacheKey,
    // `auto` is the default of every vendor that has the field; others refuse it.
    service_tier: serviceTier === 'standard_only' ? 'default' : serviceTier === 'auto' ? undefined : serviceTier,
    // A vendor that stored responses would keep data of clients who do not know the vendor.
    store: store === true,
  });
}

/** Fields with the same name in other styles. */
const SHARED = ['prompt_cache_retention', 'prompt_cache_options', 'moderation', 'access_programs', 'max_tool_calls'];
/** Fields that do not change the answer. */
const HINTS = ['client_metadata', 'context_management', 'inference_geo'];

function extraFields(extras: JsonObject, warnings: Warnings): JsonObject {
  const shared = Object.entries(extras).filter(([name]) => SHARED.includes(name));
  for (const name of Object.keys(extras)) {
    if (!SHARED.includes(name)) warnings.leave(name, HINTS.includes(name) ? 'hint' : undefined);
  }
  return Object.fromEntries(shared);
}
