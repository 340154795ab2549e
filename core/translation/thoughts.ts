/**
 * Encrypted reasoning in a history: which of it the target vendor can decrypt, and whether a required one is missing.
 */
import type { StyleName } from '../contracts/call.ts';
import type { Opaque, ThinkingBlock, ToolCallBlock, Turn } from '../contracts/conversation.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses, Target } from '../contracts/style.ts';

/** Removes signatures and encrypted reasoning except for the vendor or channel that can read them. */
export function fitSeal<B extends ThinkingBlock | ToolCallBlock>(
  block: B,
  style: StyleName,
  to: Target,
  losses: Losses,
): B {
  if (block.opaque === undefined || canOpen(block.opaque, style, to)) return block;
  losses.drop('messages.reasoning', 'hint');
  const { opaque: _, ...rest } = block;
  return rest as B;
}

function canOpen({ style: maker, channel }: Opaque, style: StyleName, { channel: target, quirks }: Target): boolean {
  if (maker !== style) return false;
  // Undefined if the client got it from the vendor directly: only the vendor can check it.
  return quirks.reasoning.signature_scope === 'provider' || channel === undefined || channel === target;
}

/**
 * Whether the history ends with tool results, and the reasoning before the calls cannot be sent back, nor a placeholder
 * for it.
 */
export function hasLostThoughts(turns: readonly Turn[], { echo, echo_filler: filler }: Quirks['reasoning']): boolean {
  if (echo === 'none' || filler !== '') return false;
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  const isWaiting = turns[last + 1]?.blocks[0]?.type === 'toolResult';
  return isWaiting && !turns[last]?.blocks.some((block) => block.type === 'thinking' && block.opaque !== undefined);
}
