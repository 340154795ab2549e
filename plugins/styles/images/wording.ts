/** Encodes a request in the form of the vendor's model: plain, with `prompt` and `size`, or structured, with `input` and `parameters`. */

import type { Json, JsonBody, JsonObject, Patch } from '../../../core/plugin.ts';
import { isObject } from '../../../core/translation/index.ts';
import { IMAGE_FIELDS } from './pictures.ts';
import { type ImageParameters, readParameters } from './request.ts';
import { inputOf, withSeparator } from './structured.ts';

/** Changed members; undefined: removed. */
export type Changes = Record<string, Json | undefined>;

/** The images to edit as URLs, if there are any. */
export interface ImageUrls {
  readonly images: readonly string[];
  readonly mask?: string;
  readonly markup?: string;
}

/** The changes for the vendor. If client and vendor use the same form, only the model and the separator of the size change. */
export function changesFor(body: JsonBody, to: Patch, addresses?: ImageUrls): Changes {
  const { model, quirks, warnings } = to;
  const request = readParameters(body);
  if (request.n > quirks.images.max) {
    const name = given(body, 'n') === undefined ? 'parameters.n' : 'n';
    warnings.refuse(name, `must be at most ${quirks.images.max} for this model.`);
  }
  const changes: Changes = {};
  if (body.get('model') !== model) changes.model = model;
  if (quirks.images.answers !== 'any' && body.has('response_format')) changes.response_format = undefined;
  const write = quirks.images.form === 'plain' ? writePlain : writeStructured;
  write(body, request, changes, to, addresses);
  return changes;
}

type Write = (body: JsonBody, request: ImageParameters, changes: Changes, to: Patch, addresses?: ImageUrls) => void;

const writePlain: Write = (body, request, changes, { warnings }, addresses) => {
  if (addresses !== undefined) writeUrls(body, changes, addresses);
  const { input, parameters } = objectsIn(body);
  if (input !== undefined) {
    changes.input = undefined;
    changes.prompt = request.prompt;
    for (const name of namesIn(input)) if (name !== 'messages' && name !== 'prompt') warnings.drop(`input.${name}`);
    if (addresses === undefined && request.hasImages) warnings.drop('input.messages.image');
  }
  if (parameters !== undefined) {
    changes.parameters = undefined;
    const names = namesIn(parameters);
    for (const name of names) if (name !== 'n' && name !== 'size') warnings.drop(`parameters.${name}`);
    if (names.includes('n')) changes.n = request.n;
    if (names.includes('size')) changes.size = request.size;
  }
  if (given(body, 'size') !== undefined && body.get('size') !== request.size) changes.size = request.size;
};

/** A single image is not in a list. Nothing changes if the client sent it like that. */
function writeUrls(body: JsonBody, changes: Changes, { images, ...companions }: ImageUrls): void {
  const image = images.length === 1 ? images[0]! : [...images];
  if (body.has('images')) changes.images = undefined;
  if (JSON.stringify([body.get('image')].flat()) !== JSON.stringify(images)) changes.image = image;
  for (const [role, address] of Object.entries(companions)) {
    if (body.get(role) !== address) changes[role] = address;
  }
}

/** Fields of the plain form without an equivalent in the structured one; `hint`: fields that do not affect the image. */
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

/** Members other than `input` and `parameters`. */
const BESIDE = new Set(['model', 'input', 'parameters', 'response_format']);

const writeStructured: Write = (body, request, changes, { warnings }, addresses) => {
  const { input, parameters = {} } = objectsIn(body);
  const moved: Record<string, Json> = { ...parameters };
  if (typeof parameters.size === 'string') moved.size = withSeparator(parameters.size, '*');
  const isStructured = input !== undefined && ['prompt', 'n', 'size'].every((name) => given(body, name) === undefined);
  if (!isStructured) {
    changes.input = input ?? inputOf(request.prompt, addresses?.images ?? []);
    if (given(body, 'n') !== undefined) moved.n = request.n;
    if (given(body, 'size') !== undefined && request.size !== 'auto') moved.size = withSeparator(request.size, '*');
    for (const name of body.members.keys()) {
      if (BESIDE.has(name)) continue;
      changes[name] = undefined;
      const value = given(body, name);
      if (value === undefined || name === 'prompt' || name === 'n' || name === 'size') continue;
      // The price may depend on it, and the client must not pay for what was not requested.
      if (name === 'quality' && value !== 'auto' && value !== 'standard') {
        warnings.refuse('quality', 'is not supported by the vendor of this model. Omit it, or use another model.');
      }
      if (Object.hasOwn(PLAIN_ONLY, name)) warnings.drop(name, PLAIN_ONLY[name]);
      // Vendor-specific members are in its `parameters`.
      else if (addresses === undefined || !IMAGE_FIELDS.includes(name)) moved[name] ??= value;
    }
  }
  if (JSON.stringify(moved) !== JSON.stringify(parameters)) changes.parameters = moved;
};

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
