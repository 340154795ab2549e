/** Sealed thoughts in a history: which of them the vendor that is asked now can open, and whether it misses one. */
import type { StyleName } from '../contracts/call.ts';
import type { Opaque, ThinkingBlock, ToolCallBlock, Turn } from '../contracts/conversation.ts';
import type { Quirks } from '../contracts/quirks.ts';
import type { Losses, Target } from '../contracts/style.ts';

/** Leaves the seal only where its maker, or somebody who can read it, gets it back. */
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

function canOpen({ style: maker, channel }: Opaque, style: StyleName, { channel: asked, quirks }: Target): boolean {
  if (maker !== style) return false;
  // Undefined where the client had it from the vendor itself: only the vendor can say.
  return quirks.reasoning.signature_scope === 'provider' || channel === undefined || channel === asked;
}

/**
 * Whether the model is in the middle of its work, waiting for its tools, and what it thought when it called them cannot be shown to
 * it again, nor anything in its place.
 */
export function hasLostThoughts(turns: readonly Turn[], { echo, echo_filler: filler }: Quirks['reasoning']): boolean {
  if (echo === 'none' || filler !== '') return false;
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  const isWaiting = turns[last + 1]?.blocks[0]?.type === 'toolResult';
  return isWaiting && !turns[last]?.blocks.some((block) => block.type === 'thinking' && block.opaque !== undefined);
}
