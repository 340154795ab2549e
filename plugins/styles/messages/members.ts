/** The members of a vendor's reply that are read, and those that mean nothing to a client; any other is reported in a warning. */

import type { Json, JsonObject, Losses } from '../../../core/plugin.ts';
import { isObject, omitRest } from '../../../core/translation/index.ts';

const MESSAGE: ReadonlySet<string> = new Set([
  ...['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'stop_details', 'usage'],
  // Their content is checked below.
  'delta',
]);
const STOP_DETAILS: ReadonlySet<string> = new Set(['type', 'explanation']);

/** Members of blocks by type; blocks of any other type are lost or kept as a whole. */
const BLOCKS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text', 'citations']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
  tool_use: new Set(['type', 'id', 'name', 'input', 'caller']),
};

/** Reports the unread members of a message, or of an event with part of it. */
export function omitFromMessage(message: JsonObject, losses: Losses): void {
  omitRest(message, MESSAGE, losses);
  const { stop_details: details } = message;
  if (isObject(details)) omitRest(details, STOP_DETAILS, { omit: (name) => losses.omit(`stop_details.${name}`) });
}

/** Reports the unread members of a whole block. */
export function omitFromBlock(block: JsonObject, losses: Losses): void {
  const type = String(block.type);
  if (!Object.hasOwn(BLOCKS, type)) return;
  omitRest(block, BLOCKS[type]!, losses);
  if (isForeignCaller(block.caller)) losses.omit('caller');
}

/** In every other style, the model itself calls a tool by default. */
function isForeignCaller(caller: Json | undefined): boolean {
  return isObject(caller) && (caller.type !== 'direct' || Object.keys(caller).length > 1);
}
