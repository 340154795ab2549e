/** Drops the oldest turns of a conversation that is too long for the model: `truncation: auto`. */

import type { Block, Conversation, Turn } from '../../contracts/formats/conversation.ts';
import type { Quirks } from '../../contracts/formats/quirks.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';
import { isInstruction } from './turns.ts';

/** An approximation for all models, whose tokenizers are unknown. */
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_MEDIUM = 1_000;

/** The turns that fit, with instructions, all from the user's last turn on, and no result without its call. */
export function truncate(
  { truncation, tools, maxTokens }: Conversation,
  turns: readonly Turn[],
  { limits }: Quirks,
  warnings: Warnings,
): readonly Turn[] {
  if (truncation !== 'auto') return turns;
  if (limits.context === undefined) {
    warnings.drop('truncation', 'hint');
    return turns;
  }
  const room = limits.context - (maxTokens ?? 0) - JSON.stringify(tools).length / CHARACTERS_PER_TOKEN;
  const sizes = turns.map(tokensOf);
  let size = sizes.reduce((sum, each) => sum + each, 0);
  const last = lastBeginning(turns);
  let from = 0;
  for (let i = 0; i < last && (size > room || beginsWithResult(turns[from])); i++) {
    if (!isInstruction(turns[i]!)) size -= sizes[i]!;
    from = i + 1;
  }
  const kept = turns.filter((turn, i) => i >= from || isInstruction(turn));
  if (kept.length < turns.length) warnings.change('messages');
  return kept;
}

/** The index of the user's last turn, including the call it answers. */
function lastBeginning(turns: readonly Turn[]): number {
  const found = turns.findLastIndex(({ role }) => role === 'user');
  return beginsWithResult(turns[found]) ? found - 1 : Math.max(found, 0);
}

function beginsWithResult(turn: Turn | undefined): boolean {
  return turn?.blocks[0]?.type === 'toolResult';
}

function tokensOf({ blocks }: Turn): number {
  return blocks.reduce((sum, block) => sum + tokensIn(block), 0);
}

function tokensIn(block: Block): number {
  switch (block.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
      return block.text.length / CHARACTERS_PER_TOKEN;
    case 'toolCall':
      return (block.name.length + block.input.length) / CHARACTERS_PER_TOKEN;
    case 'toolResult':
      return block.content.reduce((sum, inner) => sum + tokensIn(inner), 0);
    case 'foreign':
      return JSON.stringify(block.raw).length / CHARACTERS_PER_TOKEN;
    case 'file':
      return block.source.kind === 'text' ? block.source.text.length / CHARACTERS_PER_TOKEN : TOKENS_PER_MEDIUM;
    default:
      return TOKENS_PER_MEDIUM;
  }
}
