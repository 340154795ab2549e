/** The members of a vendor's answer that are read, and those that mean nothing to a client; any other is named as lost. */

import type { Json, JsonObject, Losses } from '../../../core/plugin.ts';
import { isObject, omitRest } from '../../../core/translation/index.ts';

const MESSAGE: ReadonlySet<string> = new Set([
  ...['id', 'type', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'stop_details', 'usage'],
  // What these hold is looked at below.
  'delta',
]);
const STOP_DETAILS: ReadonlySet<string> = new Set(['type', 'explanation']);

/** Of blocks, by their type; a block of any other type is lost or kept as a whole. */
const BLOCKS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text', 'citations']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
  tool_use: new Set(['type', 'id', 'name', 'input', 'caller']),
};

/** Names what a message holds beside its blocks, or an event that tells a part of it. */
export function omitFromMessage(message: JsonObject, losses: Losses): void {
  omitRest(message, MESSAGE, losses);
  const { stop_details: details } = message;
  if (isObject(details)) omitRest(details, STOP_DETAILS, { omit: (name) => losses.omit(`stop_details.${name}`) });
}

/** Names what a whole block holds beside what is read of it. */
export function omitFromBlock(block: JsonObject, losses: Losses): void {
  const type = String(block.type);
  if (!Object.hasOwn(BLOCKS, type)) return;
  omitRest(block, BLOCKS[type]!, losses);
  if (isForeignCaller(block.caller)) losses.omit('caller');
}

/** That the model itself calls a tool is what every other style takes for granted. */
function isForeignCaller(caller: Json | undefined): boolean {
  return isObject(caller) && (caller.type !== 'direct' || Object.keys(caller).length > 1);
}
