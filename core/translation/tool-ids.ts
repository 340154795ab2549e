/** Replaces ids of tool calls that are too long or invalid for the target vendor. */
import type { Block, Turn } from '../contracts/conversation.ts';
import { aliasesOf, type NameRule } from './alias.ts';
import { mapChanged, withBlocks } from './unchanged.ts';

/** Calls and results with valid ids. The mapping is one-way: an answer contains no call ids of the history. */
export function fitToolIds(turns: readonly Turn[], rule: NameRule): readonly Turn[] {
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
