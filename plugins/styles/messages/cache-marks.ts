/** Chooses the blocks and tools of a request that get a `cache_control`: vendors accept four, long-lived ones first. */

import type { JsonObject, Warnings } from '../../../core/plugin.ts';
import type { Block, CacheHint, Conversation, Quirks, Tool } from '../../../core/translation/index.ts';

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

/** Chooses among the client's hints. Without any, automatic caching is requested, because uncached input costs ten times as much. */
export function chooseMarks(conversation: Conversation, quirks: Quirks, warnings: Warnings): CacheMarks {
  const hinted = hintsOf(conversation);
  if (quirks.cache.hint !== 'cache_control') {
    if (hinted.length > 0) warnings.drop('messages.cache_control', 'hint');
    return NO_MARKS;
  }
  if (hinted.length === 0) return VENDORS_OWN;
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
const VENDORS_OWN: CacheMarks = { on: () => NOTHING, beside: { cache_control: { type: 'ephemeral' } } };

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
