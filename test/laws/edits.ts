/** Damage done to JSON: members that are missing, of another type or in the wrong place, lists out of order, strings cut short. */

import { isObject } from '../../core/bytes/fields.ts';
import type { Json } from '../../core/contracts/formats/json.ts';
import fc from '../kit/fast-check.ts';

/** One place of a document is changed in one way; places are counted modulo how many there are. */
interface Edit {
  readonly at: number;
  readonly other: number;
  readonly how: 'remove' | 'replace' | 'copy' | 'swap' | 'cut' | 'rename' | 'add';
  readonly value: Json;
}

const NONSENSE: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  '',
  ' ',
  'x',
  'function',
  'constructor',
  '__proto__',
  'turnpike-sealed-1:',
  'turnpike-sealed-1:%:%:thought:%:x',
  'data:image/png;base64,',
  'data:,%',
  'type',
  [],
  {},
  [null],
  [[]],
  ['x', 0, {}],
  { type: 'text' },
  { type: null, text: 1, id: [], name: {} },
];

const edits: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(),
  other: fc.nat(),
  how: fc.constantFrom('remove', 'replace', 'replace', 'copy', 'swap', 'cut', 'rename', 'add'),
  value: fc.constantFrom(...NONSENSE),
});

/** One of these documents, edited up to `max` times. */
export function edited(documents: readonly Json[], max = 3): fc.Arbitrary<Json> {
  return fc
    .tuple(fc.constantFrom(...documents), fc.array(edits, { minLength: 1, maxLength: max }))
    .map(([document, list]) => list.reduce(edit, copied(document)));
}

type Holder = Record<string, Json>;

/** A value inside a document. */
interface Place {
  readonly holder: Holder;
  readonly name: string;
}

/** Every value inside of a document; a list is an object whose members are numbers. */
export function placesIn(document: Json): readonly Place[] {
  if (typeof document !== 'object' || document === null) return [];
  const holder = document as unknown as Holder;
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...placesIn(holder[name]!)]);
}

function edit(document: Json, { at, other, how, value: nonsense }: Edit): Json {
  // Each place has its own, or a document could hold itself.
  const value = copied(nonsense);
  const places = placesIn(document);
  if (places.length === 0) return value;
  const { holder, name } = places[at % places.length]!;
  const elsewhere = places[other % places.length]!;
  const found = holder[name]!;
  const list = Array.isArray(holder) ? (holder as Json[]) : undefined;
  switch (how) {
    case 'remove':
      if (list === undefined) delete holder[name];
      else list.splice(Number(name), 1);
      break;
    case 'replace':
      holder[name] = value;
      break;
    case 'copy':
      holder[name] = copied(elsewhere.holder[elsewhere.name]!);
      break;
    case 'swap':
      if (list === undefined) holder[name] = value;
      else list.splice(other % list.length, 0, copied(found));
      break;
    case 'cut':
      holder[name] = typeof found === 'string' ? found.slice(0, other % (found.length + 1)) : value;
      break;
    case 'rename':
      if (list === undefined) {
        delete holder[name];
        holder[elsewhere.name] = found;
      } else {
        list.reverse();
      }
      break;
    case 'add':
      if (isObject(found)) (found as Holder)[elsewhere.name] = value;
      else if (Array.isArray(found)) (found as Json[]).push(value);
      else holder[name] = [found, value];
      break;
  }
  return document;
}

function copied(value: Json): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
