/** The JSON kinds of request members, by their first bytes: the content is the vendor's to validate. */

import { invalidField } from '../contracts/errors.ts';
import type { JsonBody } from '../contracts/formats/json.ts';

/** The kinds of JSON values. */
export type JsonKind = 'string' | 'array' | 'object' | 'number' | 'boolean' | 'null';

/** The kind by first byte. */
const FIRST: readonly JsonKind[] = kindsByByte({
  '"': 'string',
  '[': 'array',
  '{': 'object',
  t: 'boolean',
  f: 'boolean',
  n: 'null',
});

function kindsByByte(kinds: Readonly<Record<string, JsonKind>>): JsonKind[] {
  const byByte = new Array<JsonKind>(256).fill('number');
  for (const [character, kind] of Object.entries(kinds)) byByte[character.charCodeAt(0)] = kind;
  return byByte;
}

const NAMES: Readonly<Record<JsonKind, string>> = {
  string: 'a string',
  array: 'an array',
  object: 'an object',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

/** Refuses members of another kind with 400 and the field's name; null counts as missing. */
export function checkKinds(body: JsonBody, kinds: Readonly<Record<string, readonly JsonKind[]>>): void {
  for (const name in kinds) {
    const span = body.members.get(name);
    if (span === undefined) continue;
    const kind = FIRST[body.bytes[span.start]!]!;
    const allowed = kinds[name]!;
    if (kind === 'null' || allowed.includes(kind)) continue;
    const should = allowed.map((each) => NAMES[each]).join(' or ');
    throw invalidField(name, `must be ${should}`);
  }
}
