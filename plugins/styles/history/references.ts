/** `item_reference`: an item of an earlier response that a request references instead of repeating it. */

import type { Json } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { errors } from '../errors.ts';
import { outputOf } from './work.ts';

/** The maximum references per request, because each is looked up before anything is paid for. */
const MAX_ANSWERS = 64;
/** The ids that the gateway gives to items: type, request id, and index. The id of a response has the request id, too. */
const OWN_ID = /^[a-z]+_([0-9a-z]{26})_\d+$/;

/**
 * The ids of the referenced responses that the gateway has issued. Other references are left
 * to the vendor. `input`: a JSON array.
 */
export function referencesIn(input: string): readonly string[] {
  const answers = new Set<string>();
  for (const item of JSON.parse(input) as readonly Json[]) {
    const exchange = OWN_ID.exec(referenceOf(item))?.[1];
    if (exchange === undefined) continue;
    answers.add(`resp_${exchange}`);
    if (answers.size > MAX_ANSWERS) tooMuch(`refer to items of more than ${MAX_ANSWERS} responses`);
  }
  return [...answers];
}

/**
 * Replaces references by the items, if they are in `responses`. Undefined if nothing was replaced. `input`: a
 * JSON array. A reference is short and an item may be long, so the result may have `maxBytes` at most: refused with 400.
 */
export function resolveReferences(
  input: string,
  responses: readonly Uint8Array[],
  maxBytes: number,
): string | undefined {
  if (responses.length === 0) return undefined;
  /** Items of the responses, as JSON, by id. */
  const byId = new Map<string, string>();
  for (const output of responses.flatMap(outputOf)) {
    if (typeof output.id === 'string') byId.set(output.id, JSON.stringify(output));
  }
  let bytes = input.length;
  let replaced = false;
  const resolved: string[] = [];
  for (const item of JSON.parse(input) as readonly Json[]) {
    const named = byId.get(referenceOf(item));
    replaced ||= named !== undefined;
    bytes += named?.length ?? 0;
    if (bytes > maxBytes) namesTooMuch(maxBytes);
    resolved.push(named ?? JSON.stringify(item));
  }
  return replaced ? `[${resolved.join(',')}]` : undefined;
}

/** The id that a reference names; empty if the item is not a reference. */
function referenceOf(item: Json): string {
  return isObject(item) && item.type === 'item_reference' && typeof item.id === 'string' ? item.id : '';
}

export function namesTooMuch(maxBytes: number): never {
  tooMuch(`refer to items of more than ${maxBytes / 1_024 / 1_024} MiB`);
}

function tooMuch(what: string): never {
  throw errors
    .conversation_too_long(`\`input\` may not ${what}. Send what is still needed of it.`)
    .with({ param: 'input' });
}
