/** A request in the form that a vendor's model takes: plain, with `prompt` and `size`, or structured, with `input` and `parameters`. */

import type { Json, JsonBody, JsonObject, Patch } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { PICTURE_FIELDS } from './pictures.ts';
import { type Asked, readAsked } from './request.ts';
import { spelled } from './size.ts';
import { inputOf } from './structured.ts';

/** Members with other values; undefined: without the member. */
export type Changes = Record<string, Json | undefined>;

/** The images to be edited by their addresses, where a request has some. */
export interface Addresses {
  readonly images: readonly string[];
  readonly mask?: string;
  readonly markup?: string;
}

/** What has to change so that the vendor understands it. Where both speak one form, that is the model and a size's sign. */
export function changesFor(body: JsonBody, to: Patch, addresses?: Addresses): Changes {
  const { model, quirks, losses } = to;
  const asked = readAsked(body);
  if (asked.n > quirks.images.max) {
    const name = given(body, 'n') === undefined ? 'parameters.n' : 'n';
    losses.refuse(name, `may be at most ${quirks.images.max} for this model.`);
  }
  const changes: Changes = {};
  if (body.get('model') !== model) changes.model = model;
  if (quirks.images.answers !== 'any' && body.has('response_format')) changes.response_format = undefined;
  const write = quirks.images.form === 'plain' ? writePlain : writeStructured;
  write(body, asked, changes, to, addresses);
  return changes;
}

function writePlain(body: JsonBody, asked: Asked, changes: Changes, { losses }: Patch, addresses?: Addresses): void {
  if (addresses !== undefined) writeAddresses(body, changes, addresses);
  const { input, parameters } = objectsIn(body);
  if (input !== undefined) {
    changes.input = undefined;
    changes.prompt = asked.prompt;
    for (const name of namesIn(input)) if (name !== 'messages' && name !== 'prompt') losses.drop(`input.${name}`);
    if (addresses === undefined && asked.hasImages) losses.drop('input.messages.image');
  }
  if (parameters !== undefined) {
    changes.parameters = undefined;
    const names = namesIn(parameters);
    for (const name of names) if (name !== 'n' && name !== 'size') losses.drop(`parameters.${name}`);
    if (names.includes('n')) changes.n = asked.n;
    if (names.includes('size')) changes.size = asked.size;
  }
  if (given(body, 'size') !== undefined && body.get('size') !== asked.size) changes.size = asked.size;
}

/** One image stands alone, several in a list. Where that is how they came, nothing changes. */
function writeAddresses(body: JsonBody, changes: Changes, { images, ...companions }: Addresses): void {
  const image = images.length === 1 ? images[0]! : [...images];
  if (body.has('images')) changes.images = undefined;
  if (JSON.stringify([body.get('image')].flat()) !== JSON.stringify(images)) changes.image = image;
  for (const [role, address] of Object.entries(companions)) {
    if (body.get(role) !== address) changes[role] = address;
  }
}

/** Fields of the plain form that the structured one has no place for; `hint`: labels, and what is only seen on the way. */
const PLAIN_ONLY: Readonly<Record<string, 'hint' | undefined>> = {
  quality: 'hint',
  style: undefined,
  background: undefined,
  moderation: undefined,
  output_format: undefined,
  output_compression: undefined,
  input_fidelity: undefined,
  mask: undefined,
  markup: undefined,
  stream: 'hint',
  partial_images: 'hint',
  user: 'hint',
  safety_identifier: 'hint',
};

/** Members that stand beside `input` and `parameters`. */
const BESIDE = new Set(['model', 'input', 'parameters', 'response_format']);

function writeStructured(
  body: JsonBody,
  asked: Asked,
  changes: Changes,
  { losses }: Patch,
  addresses?: Addresses,
): void {
  const { input, parameters = {} } = objectsIn(body);
  const moved: Record<string, Json> = { ...parameters };
  if (typeof parameters.size === 'string') moved.size = spelled(parameters.size, '*');
  const isStructured = input !== undefined && ['prompt', 'n', 'size'].every((name) => given(body, name) === undefined);
  if (!isStructured) {
    changes.input = input ?? inputOf(asked.prompt, addresses?.images ?? []);
    if (given(body, 'n') !== undefined) moved.n = asked.n;
    if (given(body, 'size') !== undefined && asked.size !== 'auto') moved.size = spelled(asked.size, '*');
    for (const name of body.members.keys()) {
      if (BESIDE.has(name)) continue;
      changes[name] = undefined;
      const value = given(body, name);
      if (value === undefined || name === 'prompt' || name === 'n' || name === 'size') continue;
      // The price may depend on it, and nobody pays for what was not asked for.
      if (name === 'quality' && value !== 'auto' && value !== 'standard') {
        losses.refuse('quality', 'cannot be told to the vendor of this model. Leave it out, or ask another model.');
      }
      if (Object.hasOwn(PLAIN_ONLY, name)) losses.drop(name, PLAIN_ONLY[name]);
      // What a vendor invented stands among its parameters there.
      else if (addresses === undefined || !PICTURE_FIELDS.includes(name)) moved[name] ??= value;
    }
  }
  if (JSON.stringify(moved) !== JSON.stringify(parameters)) changes.parameters = moved;
}

function given(body: JsonBody, name: string): Json | undefined {
  return body.get(name) ?? undefined;
}

function objectsIn(body: JsonBody): { readonly input?: JsonObject; readonly parameters?: JsonObject } {
  const [input, parameters] = [body.get('input'), body.get('parameters')];
  return { ...(isObject(input) && { input }), ...(isObject(parameters) && { parameters }) };
}

/** The members that are not null. */
function namesIn(object: JsonObject): readonly string[] {
  return Object.entries(object).flatMap(([name, value]) => (value === null ? [] : [name]));
}
