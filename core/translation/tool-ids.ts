/** The ids of tool calls, where they come from a vendor that makes longer or stranger ones than the vendor that is asked now. */
import type { Block, Turn } from '../contracts/conversation.ts';
import { aliasesOf, type NameRule } from './alias.ts';
import { mapChanged, withBlocks } from './unchanged.ts';

/** Calls and results by ids that the vendor takes. Nothing has to lead back: an answer names no call of the history. */
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
