/** Adapts a request to one model by its quirks alone, whatever the style or vendor: the order of the steps. */

import type { StyleName } from '../../contracts/definitions.ts';
import type {
  Block,
  Conversation,
  Opaque,
  Output,
  ThinkingBlock,
  ToolCallBlock,
  Turn,
} from '../../contracts/formats/conversation.ts';
import type { JsonObject } from '../../contracts/formats/json.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Origin, Style, Target } from '../../contracts/formats/style.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';
import { isMadeBy } from '../conversation/opaque-values.ts';
import { withFieldQuirks } from '../quirks/field-quirks.ts';
import { fitMaxTokens } from '../quirks/limits.ts';
import { fitAudio, fitFile, fitImage, fitResultImage, fitVoice, moveResultImages } from '../quirks/media-types.ts';
import { fitSampling } from '../quirks/sampling.ts';
import { answerSchema, isStrict, isUnionOfObjects } from '../schema-forms.ts';
import { mapChanged, withBlocks } from '../unchanged.ts';
import { collectWarnings } from '../warnings/warnings.ts';
import { wrapInput } from './custom-tools.ts';
import { objectSchema } from './object-schema.ts';
import { fitReasoning, isThinking } from './reasoning.ts';
import { createRestorer, type Restorer, withTrueArguments } from './restore.ts';
import { aliasesOf, type NameRule } from './short-names.ts';
import { fitStop } from './stop.ts';
import { createToolNames, type ToolNames } from './tool-names.ts';
import { pairResults } from './tool-results.ts';
import { fitTools, withoutForce } from './tools.ts';
import { truncate } from './truncate.ts';
import { fitInstructions, fitSpeakers, mergeInstructions, mergeSame, withoutEmpty } from './turns.ts';

/** A conversation for one model, and how to restore its answer. */
export interface Adapted {
  readonly conversation: Conversation;
  readonly restore: Restorer;
}

/** `style`: the vendor's. Idempotent for the same model. */
export function adapt(conversation: Conversation, style: StyleName, to: Target, warnings: Warnings): Adapted {
  const { quirks } = to;
  if (conversation.choices !== undefined && (!quirks.choices || to.stream)) {
    warnings.bar(
      'n',
      `must be 1 for this model${quirks.choices ? ' in a stream' : ''}: its vendor returns one answer per request.`,
    );
  }
  const names = createToolNames({ max: quirks.tools.name_max, pattern: quirks.tools.name_pattern });
  const maxTokens = fitMaxTokens(conversation.maxTokens, quirks.limits, warnings);
  const tools = fitTools(conversation, { style, quirks: quirks.tools }, names, warnings);
  const { stop, emulated } = fitStop(conversation.stop, quirks.stop, warnings);
  const turns = fitTurns({ ...conversation, ...tools, maxTokens }, { to, style, names, warnings });
  // Reasoning depends on earlier reasoning, and a forced tool call on whether reasoning is enabled.
  const bounds = {
    maxTokens: maxTokens ?? quirks.limits.max_output,
    reasoningLost: hasLostThoughts(turns, quirks.reasoning),
  };
  const reasoning = fitReasoning(conversation.reasoning, bounds, quirks.reasoning, warnings);
  const free = isThinking(reasoning, quirks.reasoning) && !quirks.tools.force_with_thinking;
  const callable = free ? withoutForce(tools, warnings) : tools;
  return {
    conversation: {
      turns,
      tools: callable.tools,
      toolChoice: callable.toolChoice,
      parallelToolCalls: callable.parallelToolCalls,
      maxTokens,
      sampling: fitSampling(conversation.sampling, quirks.sampling, warnings),
      stop,
      reasoning,
      output: fitOutput(conversation.output, tools.tools.length > 0, to, warnings),
      labels: conversation.labels,
      truncation: undefined,
      ...(conversation.choices !== undefined && { choices: conversation.choices }),
      extras: conversation.extras,
    },
    restore: createRestorer({ tools: names.changed(), stop: emulated, model: to.model }),
  };
}

function fitOutput(requested: Output, tools: boolean, { quirks }: Target, warnings: Warnings): Output {
  const output = fitFormat(fitVoice(requested, quirks, warnings), quirks, warnings);
  const { format, ...rest } = output;
  if (!tools || quirks.output.schema_with_tools || format === undefined || format.type === 'text') return output;
  warnings.change('response_format');
  return rest;
}

/** A schema in the form that vendors accept. */
function fitFormat(output: Output, { tools }: Quirks, warnings: Warnings): Output {
  const { format } = output;
  if (format?.type !== 'schema') return output;
  const accepted = answerSchema(format.schema);
  const hasUnion = !tools.root_union && tools.strict_required && isUnionOfObjects(accepted);
  const schema = hasUnion ? objectSchema(accepted) : accepted;
  const tooStrict = format.strict === true && tools.strict_required && !isStrict(schema);
  // Answers that match the flattened schema may not match the client's.
  if (hasUnion) warnings.change('response_format');
  else if (tooStrict) warnings.change('response_format', 'hint');
  else if (schema === format.schema) return output;
  return { ...output, format: { ...format, schema, ...(tooStrict && { strict: false }) } };
}

/** Context for the steps on blocks. */
interface Fitting {
  readonly to: Target;
  readonly style: StyleName;
  readonly names: ToolNames;
  readonly warnings: Warnings;
}

/**
 * Turns are joined twice: before calls and results are paired, because calls of two adjacent turns are answered
 * together, and after it, because moved results make new neighbours.
 */
function fitTurns(conversation: Conversation, fitting: Fitting): readonly Turn[] {
  const { warnings } = fitting;
  const { quirks } = fitting.to;
  const merge = (turns: readonly Turn[]): readonly Turn[] =>
    quirks.roles.merge_same ? mergeSame(turns, warnings) : turns;

  let turns = mapChanged(conversation.turns, (turn) => withBlocks(turn, fitBlocks(turn, fitting)));
  turns = fitInstructions(withoutEmpty(turns, quirks.reasoning, warnings), quirks, warnings);
  turns = pairResults(merge(turns), warnings);
  turns = moveResultImages(turns, quirks, warnings);
  turns = fitToolIds(turns, { max: quirks.tools.id_max, pattern: quirks.tools.id_pattern });
  turns = merge(truncate(conversation, turns, quirks, warnings));
  if (quirks.roles.merge_system) turns = mergeInstructions(turns, warnings);
  return fitSpeakers(turns, quirks, warnings);
}

function fitBlocks({ role, blocks }: Turn, fitting: Fitting): readonly Block[] {
  return mapChanged(blocks, (block) => fitBlock(block, role, fitting));
}

function fitBlock(block: Block, role: Turn['role'], fitting: Fitting): Block | undefined {
  const { to, style, warnings } = fitting;
  switch (block.type) {
    case 'image':
      return fitImage(block, to.quirks, warnings);
    case 'file':
      return fitFile(block, to.quirks, warnings);
    case 'audio':
      return fitAudio(block, role, to.quirks, warnings);
    case 'thinking':
      return fitSeal(block, style, to, warnings);
    case 'toolCall':
      return fitCall(withTrueArguments(fitSeal(block, style, to, warnings)), fitting);
    case 'toolResult': {
      const content = block.content.map((inner) => fitResultImage(inner, to.quirks, warnings));
      const kind = to.quirks.tools.custom ? block.kind : 'function';
      return { ...block, kind, content: fitBlocks({ role, blocks: content }, fitting) };
    }
    case 'foreign':
      if (block.style === style) return block;
      warnings.drop(`messages.${block.what}`);
      return undefined;
    default:
      return block;
  }
}

function fitCall({ namespace, ...call }: ToolCallBlock, { to, names }: Fitting): ToolCallBlock {
  const wrapped = call.kind === 'custom' && !to.quirks.tools.custom;
  const name = names.vendor({ name: call.name, ...(namespace !== undefined && { namespace }) }, wrapped);
  return wrapped ? { ...call, name, kind: 'function', input: wrapInput(call.input) } : { ...call, name };
}

/** Calls and results with valid ids. The mapping is one-way: an answer contains no call ids of the history. */
function fitToolIds(turns: readonly Turn[], rule: NameRule): readonly Turn[] {
  return mapChanged(turns, (turn) =>
    withBlocks(
      turn,
      mapChanged(turn.blocks, (block) => fitId(block, rule)),
    ),
  );
}

function fitId(block: Block, rule: NameRule): Block {
  if (block.type !== 'toolCall' && block.type !== 'toolResult') return block;
  const id = aliasesOf(rule).of(block.id);
  return id === block.id ? block : { ...block, id };
}

/** Removes signatures and encrypted reasoning except for the model, and the vendor or channel, that can read them. */
function fitSeal<B extends ThinkingBlock | ToolCallBlock>(
  block: B,
  style: StyleName,
  to: Target,
  warnings: Warnings,
): B {
  if (block.opaque === undefined || canOpen(block.opaque, style, to)) return block;
  warnings.drop('messages.reasoning', 'hint');
  const { opaque: _, ...rest } = block;
  return rest as B;
}

/** What the client got from the vendor directly names neither channel nor model: only the vendor can check it. */
function canOpen(opaque: Opaque, style: StyleName, to: Target): boolean {
  if (opaque.style !== style) return false;
  const { channel: _, ...anywhere } = opaque;
  return isMadeBy(to.quirks.reasoning.signature_scope === 'provider' ? anywhere : opaque, to);
}

/** Whether the history ends with tool results, and neither the reasoning before the calls nor a filler can be sent. */
function hasLostThoughts(turns: readonly Turn[], { echo, echo_filler: filler }: Quirks['reasoning']): boolean {
  if (echo === 'never' || echo === 'none' || filler !== '') return false;
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  const isWaiting = turns[last + 1]?.blocks[0]?.type === 'toolResult';
  return isWaiting && !turns[last]?.blocks.some((block) => block.type === 'thinking' && block.opaque !== undefined);
}

/**
 * Translates a client's request; nothing is fetched for it. `replaced`: the conversation that a plugin put in place of
 * the one in `body`. Undefined if the styles cannot be translated; throws if this request cannot.
 */
export function retell(
  body: JsonObject,
  clientStyle: Style,
  vendorStyle: Style,
  to: Origin & Pick<Target, 'quirks'>,
  replaced?: Conversation,
): JsonObject | undefined {
  if (clientStyle.client === undefined || vendorStyle.vendor === undefined) return undefined;
  // Warnings are ignored: there will be no answer.
  const warnings = collectWarnings(clientStyle.client.names);
  const target: Target = { ...to, stream: false, askUsage: false };
  const source = replaced ?? clientStyle.client.decodeRequest(body, warnings);
  const { conversation } = adapt(source, vendorStyle.name, target, warnings);
  return withFieldQuirks(vendorStyle.vendor.encodeRequest(conversation, target, warnings), to.quirks, warnings);
}
