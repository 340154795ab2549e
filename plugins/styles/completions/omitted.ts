/** Completions contain text only; any other content is reported in a warning. */
import type { Block } from '../../../core/translation/index.ts';

const NAMES: Readonly<Partial<Record<Block['type'], string>>> = { thinking: 'reasoning', toolCall: 'tool_calls' };

/** True for blocks that the client gets; the text of a refusal is an answer, too. */
export function saysText(block: Block): block is Extract<Block, { readonly type: 'text' | 'refusal' }> {
  return block.type === 'text' || block.type === 'refusal';
}

/** The name in warnings of a block that is not sent. */
export function nameOf(block: Block): string {
  return block.type === 'foreign' ? block.what : (NAMES[block.type] ?? block.type);
}
