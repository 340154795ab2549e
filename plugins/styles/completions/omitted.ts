/** Answers are text here; whatever else a model brings forth is named. */
import type { Block } from '../../../core/translation/index.ts';

const NAMES: Readonly<Partial<Record<Block['type'], string>>> = { thinking: 'reasoning', toolCall: 'tool_calls' };

/** True for what the client gets; a refusal in words is an answer, too. */
export function saysText(block: Block): block is Extract<Block, { readonly type: 'text' | 'refusal' }> {
  return block.type === 'text' || block.type === 'refusal';
}

/** What a block that is not shown is called among the losses. */
export function nameOf(block: Block): string {
  return block.type === 'foreign' ? block.what : (NAMES[block.type] ?? block.type);
}
