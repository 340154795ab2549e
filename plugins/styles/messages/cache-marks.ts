/** Which blocks and tools of a request get a `cache_control`: a vendor takes four, and the long-lived ones first. */

import type { JsonObject, Losses } from '../../../core/plugin.ts';
import type { Block, CacheHint, Conversation, Quirks, Tool } from '../../../core/translation/index.ts';

/** The marks that were chosen. */
export interface CacheMarks {
  /** What is spread into the block or tool that stands for this one; empty for most. */
  on(item: object): JsonObject;
  /** What stands beside the messages. */
  readonly whole: JsonObject;
}

const MAX_MARKS = 4;
/** From here on the hour pays; below it the five minutes do, which begin anew with every use. */
const LONG_SECONDS = 1_800;

/** Chooses among the client's hints. Where it gives none the vendor finds the places itself: a prompt read anew costs ten times as much. */
export function chooseMarks(conversation: Conversation, quirks: Quirks, losses: Losses): CacheMarks {
  const hinted = hintsOf(conversation);
  if (quirks.cache.hint !== 'cache_control') {
    if (hinted.length > 0) losses.drop('messages.cache_control', 'hint');
    return NO_MARKS;
  }
  if (hinted.length === 0) return VENDORS_OWN;
  // The later ones reach farther.
  const chosen = hinted.slice(-MAX_MARKS);
  if (chosen.length < hinted.length) losses.drop('messages.cache_control', 'hint');
  const marks = new Map<object, JsonObject>();
  let long = true;
  for (const { item, hint } of chosen) {
    // One that lives longer may not follow one that lives shorter.
    long &&= (hint.ttlSeconds ?? 0) >= LONG_SECONDS;
    marks.set(item, { cache_control: { type: 'ephemeral', ...(long && { ttl: '1h' }) } });
  }
  return { on: (item) => marks.get(item) ?? NOTHING, whole: NOTHING };
}

const NOTHING: JsonObject = {};
const NO_MARKS: CacheMarks = { on: () => NOTHING, whole: NOTHING };
const VENDORS_OWN: CacheMarks = { on: () => NOTHING, whole: { cache_control: { type: 'ephemeral' } } };

interface Hinted {
  readonly item: object;
  readonly hint: CacheHint;
}

/** In the order in which a vendor reads them. */
function hintsOf({ tools, turns }: Conversation): readonly Hinted[] {
  const hinted: Hinted[] = [];
  const look = (item: Tool | Block): void => {
    const hint = hintOf(item);
    // Empty texts are left out of what is sent.
    if (hint !== undefined && !(item.type === 'text' && item.text.trim() === '')) hinted.push({ item, hint });
  };
  tools.forEach(look);
  for (const { blocks } of turns) blocks.forEach(look);
  return hinted;
}

/** A hint inside a tool's result is one on the result. */
function hintOf(item: Tool | Block): CacheHint | undefined {
  const own = 'cache' in item ? item.cache : undefined;
  if (own !== undefined || item.type !== 'toolResult') return own;
  return item.content.map(hintOf).findLast((hint) => hint !== undefined);
}
