/** Chooses the blocks and tools of a request that get a `cache_control`: vendors accept four, long-lived ones first. */

import type { JsonObject, Warnings } from '../../../../core/plugin.ts';
import type { Block, CacheHint, Conversation, Quirks, Tool } from '../../../../core/translation/index.ts';

/** The chosen marks. */
export interface CacheMarks {
  /** The member to spread into the block or tool; empty for most. */
  on(item: object): JsonObject;
  /** The top-level member of the request. */
  readonly beside: JsonObject;
}

const MAX_MARKS = 4;
/** From this size on, the lifetime of an hour is worth its price; below, five minutes, which each use renews. */
const LONG_SECONDS = 1_800;

/** Chooses among the client's hints. Without any, the gateway's own marks are set, because uncached input costs ten times as much. */
export function chooseMarks(conversation: Conversation, quirks: Quirks, warnings: Warnings): CacheMarks {
  const hinted = hintsOf(conversation);
  if (quirks.cache.hint !== 'cache_control') {
    if (hinted.length > 0) warnings.drop('messages.cache_control', 'hint');
    return NO_MARKS;
  }
  if (hinted.length === 0) return ownMarks(conversation);
  // Later marks cover more of the prompt.
  const chosen = hinted.slice(-MAX_MARKS);
  if (chosen.length < hinted.length) warnings.drop('messages.cache_control', 'hint');
  const marks = new Map<object, JsonObject>();
  let long = true;
  for (const { item, hint } of chosen) {
    // A longer-lived mark must not follow a shorter-lived one.
    long &&= (hint.ttlSeconds ?? 0) >= LONG_SECONDS;
    marks.set(item, { cache_control: { type: 'ephemeral', ...(long && { ttl: '1h' }) } });
  }
  return { on: (item) => marks.get(item) ?? NOTHING, beside: NOTHING };
}

const NOTHING: JsonObject = {};
const NO_MARKS: CacheMarks = { on: () => NOTHING, beside: NOTHING };
const MARK: JsonObject = { cache_control: { type: 'ephemeral' } };

/**
 * Four marks. The last tool and the end of the instructions: other conversations of the same agent share them. The end of the previous
 * request: vendors look back only 20 blocks for it, fewer than a turn with many calls adds. The end of this one, which the vendor chooses.
 */
function ownMarks({ tools, turns }: Conversation): CacheMarks {
  const start = turns.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const answered = turns.findLastIndex(({ role }) => role === 'assistant');
  const instructions = start === -1 ? turns : turns.slice(0, start);
  const previous = answered > start ? turns[answered - 1] : undefined;
  const marked = new Set<object | undefined>([
    tools.at(-1),
    instructions.flatMap(({ blocks }) => blocks).findLast(canBeMarked),
    previous?.role === 'user' ? previous.blocks.findLast(canBeMarked) : undefined,
  ]);
  return { on: (item) => (marked.has(item) ? MARK : NOTHING), beside: MARK };
}

/** Empty texts are not sent, and other blocks may not be sent as one. */
function canBeMarked(block: Block): boolean {
  return block.type === 'text' ? block.text.trim() !== '' : block.type === 'toolResult';
}

interface Hinted {
  readonly item: object;
  readonly hint: CacheHint;
}

/** All blocks, in the order of the prompt. */
function hintsOf({ tools, turns }: Conversation): readonly Hinted[] {
  const hinted: Hinted[] = [];
  const look = (item: Tool | Block): void => {
    const hint = hintOf(item);
    // Empty texts are not sent.
    if (hint !== undefined && !(item.type === 'text' && item.text.trim() === '')) hinted.push({ item, hint });
  };
  tools.forEach(look);
  for (const { blocks } of turns) blocks.forEach(look);
  return hinted;
}

/** A hint inside a tool result applies to the result. */
function hintOf(item: Tool | Block): CacheHint | undefined {
  const own = 'cache' in item ? item.cache : undefined;
  if (own !== undefined || item.type !== 'toolResult') return own;
  return item.content.map(hintOf).findLast((hint) => hint !== undefined);
}
