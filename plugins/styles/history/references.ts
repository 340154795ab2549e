/** `item_reference`: an item of an earlier answer that a request names instead of repeating it. */
import { isObject, type Json, type JsonObject, refuse } from '../../../core/plugin.ts';
import type { Turns } from './turns.ts';

/** Each is looked up before anything is paid for. */
const MAX_ANSWERS = 64;
/** Ids that we give to items: the kind, the exchange that answered, and the item's place. The response is called after the exchange. */
const OWN_ID = /^[a-z]+_([0-9a-z]{26})_\d+$/;

/**
 * Puts the items themselves in the place of their names: those that we gave an id to, in answers that this account has here. All
 * others are left to the vendor that made them. Undefined where nothing was replaced. `input`: a JSON array. A name is short and
 * an item is not, so all together may not have more than `maxBytes`: refused with 400.
 */
export async function resolveReferences(
  turns: Turns,
  accountId: number,
  input: string,
  maxBytes: number,
): Promise<string | undefined> {
  if (!input.includes('"item_reference"')) return undefined;
  /** Items of the answers looked at, as JSON, by their ids. */
  const known = new Map<string, string>();
  const answers = new Set<string>();
  let bytes = input.length;
  let replaced = false;
  const resolved: string[] = [];
  for (const item of JSON.parse(input) as readonly Json[]) {
    const id = isObject(item) && item.type === 'item_reference' && typeof item.id === 'string' ? item.id : '';
    const response = OWN_ID.exec(id)?.[1];
    if (response !== undefined && !answers.has(response)) {
      answers.add(response);
      if (answers.size > MAX_ANSWERS) tooMuch(`name items of more than ${MAX_ANSWERS} answers`);
      for (const said of await outputOf(turns, accountId, `resp_${response}`)) {
        if (typeof said.id === 'string') known.set(said.id, JSON.stringify(said));
      }
    }
    const named = known.get(id);
    replaced ||= named !== undefined;
    bytes += named?.length ?? 0;
    if (bytes > maxBytes) tooMuch(`name items of more than ${maxBytes / 1_024 / 1_024} MiB`);
    resolved.push(named ?? JSON.stringify(item));
  }
  return replaced ? `[${resolved.join(',')}]` : undefined;
}

function tooMuch(what: string): never {
  refuse(400, 'conversation_too_long', `\`input\` may not ${what}. Send what is still needed of it.`, {
    param: 'input',
  });
}

async function outputOf(turns: Turns, accountId: number, id: string): Promise<readonly JsonObject[]> {
  const turn = await turns.find(accountId, id);
  const text = turn && (await turns.response(turn));
  const output = text === undefined ? undefined : (JSON.parse(text) as JsonObject).output;
  return Array.isArray(output) ? output.filter(isObject) : [];
}
