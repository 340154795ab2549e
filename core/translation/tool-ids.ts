/** The ids of tool calls, where they come from a vendor that makes longer or stranger ones than the vendor that is asked now. */
import type { Turn } from '../contracts/conversation.ts';
import { createAliases, type NameRule } from './alias.ts';

/** Calls and results by ids that the vendor takes. Nothing has to lead back: an answer names no call of the history. */
export function fitToolIds(turns: readonly Turn[], rule: NameRule): readonly Turn[] {
  const aliases = createAliases(rule);
  return turns.map((turn) => ({
    ...turn,
    blocks: turn.blocks.map((block) =>
      block.type === 'toolCall' || block.type === 'toolResult' ? { ...block, id: aliases.of(block.id) } : block,
    ),
  }));
}
