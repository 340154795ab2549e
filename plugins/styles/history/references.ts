/** `item_reference`: an item of an earlier answer that a request names instead of repeating it. */

import type { Json } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { errors } from '../errors.ts';
import { outputOf } from './work.ts';

/** Each is looked up before anything is paid for. */
const MAX_ANSWERS = 64;
/** Ids that we give to items: the kind, the exchange that answered, and the item's place. The response is called after the exchange. */
const OWN_ID = /^[a-z]+_([0-9a-z]{26})_\d+$/;

/** The ids of responses whose items are named: those that we gave an id to. All others are left to the vendor that made them. `input`: a JSON array. */
export function referencesIn(input: string): readonly string[] {
  const answers = new Set<string>();
  for (const item of JSON.parse(input) as readonly Json[]) {
    const exchange = OWN_ID.exec(referenceOf(item))?.[1];
    if (exchange === undefined) continue;
    answers.add(`resp_${exchange}`);
    if (answers.size > MAX_ANSWERS) tooMuch(`name items of more than ${MAX_ANSWERS} answers`);
  }
  return [...answers];
}

/**
 * Puts the items themselves in the place of their names, as far as they are in `responses`. Undefined where nothing was replaced.
 * `input`: a JSON array. A name is short and an item is not, so all together may not have more than `maxBytes`: refused with 400.
 */
export function resolveReferences(
  input: string,
  responses: readonly Uint8Array[],
  maxBytes: number,
): string | undefined {
  if (responses.length === 0) return undefined;
  /** Items of the answers, as JSON, by their ids. */
  const known = new Map<string, string>();
  for (const said of responses.flatMap(outputOf)) {
    if (typeof said.id === 'string') known.set(said.id, JSON.stringify(said));
  }
  let bytes = input.length;
  let replaced = false;
  const resolved: string[] = [];
  for (const item of JSON.parse(input) as readonly Json[]) {
    const named = known.get(referenceOf(item));
    replaced ||= named !== undefined;
    bytes += named?.length ?? 0;
    if (bytes > maxBytes) namesTooMuch(maxBytes);
    resolved.push(named ?? JSON.stringify(item));
  }
  return replaced ? `[${resolved.join(',')}]` : undefined;
}

/** The id that an item names; empty where it names none. */
function referenceOf(item: Json): string {
  return isObject(item) && item.type === 'item_reference' && typeof item.id === 'string' ? item.id : '';
}

export function namesTooMuch(maxBytes: number): never {
  tooMuch(`name items of more than ${maxBytes / 1_024 / 1_024} MiB`);
}

function tooMuch(what: string): never {
  throw errors
    .conversation_too_long(`\`input\` may not ${what}. Send what is still needed of it.`)
    .with({ param: 'input' });
}
