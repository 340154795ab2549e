/**
 * Makes of what a client asks what one model understands, by its quirks alone: no step knows a style or a vendor. Each step
 * stands in a file of its own; here is their order.
 */
import type { StyleName } from '../contracts/call.ts';
import type { Block, Conversation, Output, ToolCallBlock, Turn } from '../contracts/conversation.ts';
import type { Losses, Target } from '../contracts/style.ts';
import { wrapInput } from './custom-tools.ts';
import { fitInstructions, mergeInstructions } from './instructions.ts';
import { fitMaxTokens } from './limits.ts';
import { fitAudio, fitFile, fitImage, fitResultImage, fitVoice, moveResultImages } from './media-types.ts';
import { fitReasoning, isThinking } from './reasoning.ts';
import { createRestorer, type Restorer } from './restore.ts';
import { fitSampling } from './sampling.ts';
import { fitStop } from './stop.ts';
import { fitSeal, hasLostThoughts } from './thoughts.ts';
import { fitToolIds } from './tool-ids.ts';
import { createToolNames, type ToolNames } from './tool-names.ts';
import { pairResults } from './tool-results.ts';
import { fitTools, withoutForce } from './tools.ts';
import { truncate } from './truncate.ts';
import { fitSpeakers, mergeSame, withoutEmpty } from './turns.ts';
import { mapChanged, withBlocks } from './unchanged.ts';

export type { Restorer } from './restore.ts';

/** A conversation that one model understands, and the way back for its answer. */
export interface Adapted {
  readonly conversation: Conversation;
  readonly restore: Restorer;
}

/** `style`: the one that is spoken to the vendor. Adapting what was adapted for the same model changes nothing. */
export function adapt(asked: Conversation, style: StyleName, to: Target, losses: Losses): Adapted {
  const { quirks } = to;
  const names = createToolNames({ max: quirks.tools.name_max, pattern: quirks.tools.name_pattern });
  const maxTokens = fitMaxTokens(asked.maxTokens, quirks.limits, losses);
  const tools = fitTools(asked, { style, quirks: quirks.tools }, names, losses);
  const { stop, emulated } = fitStop(asked.stop, quirks.stop, losses);
  const turns = fitTurns({ ...asked, ...tools, maxTokens }, { to, style, names, losses });
  // What can be thought depends on what was thought, and what can be forced on whether anything is thought.
  const bounds = {
    maxTokens: maxTokens ?? quirks.limits.max_output,
    lost: hasLostThoughts(turns, quirks.reasoning),
  };
  const reasoning = fitReasoning(asked.reasoning, bounds, quirks.reasoning, losses);
  const free = isThinking(reasoning, quirks.reasoning) && !quirks.tools.force_with_thinking;
  const callable = free ? withoutForce(tools, losses) : tools;
  return {
    conversation: {
      turns,
      tools: callable.tools,
      toolChoice: callable.toolChoice,
      parallelToolCalls: callable.parallelToolCalls,
      maxTokens,
      sampling: fitSampling(asked.sampling, quirks.sampling, losses),
      stop,
      reasoning,
      output: fitOutput(asked.output, tools.tools.length > 0, to, losses),
      labels: asked.labels,
      truncation: undefined,
      extras: asked.extras,
    },
    restore: createRestorer({ tools: names.changed(), stop: emulated }),
  };
}

function fitOutput(asked: Output, tools: boolean, { quirks }: Target, losses: Losses): Output {
  const output = fitVoice(asked, quirks, losses);
  const { format, ...rest } = output;
  if (!tools || quirks.output.schema_with_tools || format === undefined || format.type === 'text') return output;
  losses.change('response_format');
  return rest;
}

/** What the steps over blocks need. */
interface Fitting {
  readonly to: Target;
  readonly style: StyleName;
  readonly names: ToolNames;
  readonly losses: Losses;
}

/**
 * Turns are merged twice: before calls and results are paired, because calls of two neighbours are answered together, and after
 * it, because results that moved make new neighbours.
 */
function fitTurns(conversation: Conversation, fitting: Fitting): readonly Turn[] {
  const { losses } = fitting;
  const { quirks } = fitting.to;
  const merge = (turns: readonly Turn[]): readonly Turn[] =>
    quirks.roles.merge_same ? mergeSame(turns, losses) : turns;

  let turns = mapChanged(conversation.turns, (turn) => withBlocks(turn, fitBlocks(turn, fitting)));
  turns = fitInstructions(withoutEmpty(turns, quirks.reasoning, losses), quirks, losses);
  turns = pairResults(merge(turns), losses);
  turns = moveResultImages(turns, quirks, losses);
  turns = fitToolIds(turns, { max: quirks.tools.id_max, pattern: quirks.tools.id_pattern });
  turns = merge(truncate(conversation, turns, quirks, losses));
  if (quirks.roles.merge_system) turns = mergeInstructions(turns, losses);
  return fitSpeakers(turns, quirks, losses);
}

function fitBlocks({ role, blocks }: Turn, fitting: Fitting): readonly Block[] {
  return mapChanged(blocks, (block) => fitBlock(block, role, fitting));
}

function fitBlock(block: Block, role: Turn['role'], fitting: Fitting): Block | undefined {
  const { to, style, losses } = fitting;
  switch (block.type) {
    case 'image':
      return fitImage(block, to.quirks, losses);
    case 'file':
      return fitFile(block, to.quirks, losses);
    case 'audio':
      return fitAudio(block, role, to.quirks, losses);
    case 'thinking':
      return fitSeal(block, style, to, losses);
    case 'toolCall':
      return fitCall(fitSeal(block, style, to, losses), fitting);
    case 'toolResult': {
      const content = block.content.map((inner) => fitResultImage(inner, to.quirks, losses));
      const kind = to.quirks.tools.custom ? block.kind : 'function';
      return { ...block, kind, content: fitBlocks({ role, blocks: content }, fitting) };
    }
    case 'foreign':
      if (block.style === style) return block;
      losses.drop(`messages.${block.what}`);
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
