/** The input images of an edit request, from all members that can have them, and their media types. */

import type { JsonBody, JsonObject, Upload } from '../../../core/plugin.ts';
import { type Fields, readDataUrl, readFields } from '../../../core/translation/index.ts';
import { fieldsIn, wrong } from '../request-fields.ts';
import { contentsOf } from './structured.ts';

/** `image`: one of the images to edit. The other roles apply to the first of them, and occur once. */
export type Role = 'image' | 'mask' | 'markup';

/** An image: an uploaded file, or its URL, which may be a `data:` URL. */
export interface InputImage {
  readonly role: Role;
  /** Its path, for errors: `image[1]`. */
  readonly param: string;
  readonly source: Upload | string;
}

/** The maximum images to edit per request. */
export const MAX_INPUT_IMAGES = 16;

/** The roles other than `image`. */
const COMPANIONS = ['mask', 'markup'] as const;

/** The members of a request that can have images. */
export const IMAGE_FIELDS: readonly string[] = ['image', 'images', ...COMPANIONS];

/** All input images, those to edit first, in the order in which they were sent. Refuses invalid ones with 400 and the field's name. */
export function inputImagesIn(body: JsonBody, files: readonly Upload[]): readonly InputImage[] {
  const fields = fieldsIn(body, [...IMAGE_FIELDS, 'input']);
  const pictures = [
    ...files.map((file): InputImage => ({ role: roleOf(file), param: file.field, source: file })),
    ...listed(fields, 'image'),
    ...listed(fields, 'images'),
    ...inContents(fields),
    ...COMPANIONS.flatMap((role) => one(fields, role)),
  ];
  const isImage = ({ role }: InputImage): boolean => role === 'image';
  return [...pictures.filter(isImage), ...pictures.filter((picture) => !isImage(picture))];
}

/** Lists have other names in multipart bodies: `image[]`. */
function roleOf({ field }: Upload): Role {
  return COMPANIONS.find((role) => field === role || field === `${role}[]`) ?? 'image';
}

/** One URL, or a list of them; in `images`, each may be wrapped in an object. */
function listed(fields: Fields, name: 'image' | 'images'): readonly InputImage[] {
  const value = fields.get(name);
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  // Checked before the images are read.
  if (list.length > MAX_INPUT_IMAGES) wrong(name, `must contain at most ${MAX_INPUT_IMAGES} images`);
  const isList = Array.isArray(value);
  const holder = readFields(Object.fromEntries(list.map((each, i) => [isList ? `${name}[${i}]` : name, each])), '');
  return Object.keys(holder.rest()).map((param) => ({ role: 'image', param, source: urlIn(holder, param) }));
}

function one(fields: Fields, role: Role): readonly InputImage[] {
  return fields.get(role) === undefined ? [] : [{ role, param: role, source: urlIn(fields, role) }];
}

function inContents(fields: Fields): readonly InputImage[] {
  const input = fields.fields('input');
  if (input === undefined) return [];
  return contentsOf(input)
    .filter((content) => content.get('image') !== undefined)
    .map((content) => ({ role: 'image', param: content.at('image'), source: urlIn(content, 'image') }));
}

/** The URL in a field: a text, or an object with one. */
function urlIn(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (typeof value === 'string') return checkUrl(value, fields.at(name));
  const wrapped = fields.fields(name);
  if (wrapped?.get('file_id') !== undefined) {
    wrapped.wrong('file_id', 'must not be the id of an upload: send the file itself, its URL or a data: URL');
  }
  for (const inner of ['image_url', 'url']) {
    const address = wrapped?.get(inner);
    if (typeof address === 'string') return checkUrl(address, wrapped!.at(inner));
    const deeper = (address as JsonObject | undefined)?.url;
    if (typeof deeper === 'string') return checkUrl(deeper, `${wrapped!.at(inner)}.url`);
  }
  return fields.wrong(name, `must be ${ADDRESS}`);
}

const ADDRESS = 'a file, or a string with the URL of an image or a data: URL';

function checkUrl(address: string, param: string): string {
  if (/^https?:\/\//i.test(address)) return address;
  const data = /^data:/i.test(address) ? readDataUrl(address) : undefined;
  if (data === undefined) wrong(param, `must be ${ADDRESS}`);
  if (imageTypeOfBase64(data.data) === undefined) refuseOther(param);
  return address;
}

/** Refuses a file that is declared as an image and is not one. */
export function refuseOther(param: string): never {
  wrong(param, 'must be an image (PNG, JPEG, WebP, GIF, …); its first bytes are those of another format');
}

/** Bytes that are enough to decide. */
export const SIGNATURE_BYTES = 32;

/** The first bytes, and their media type. `....` are four arbitrary bytes. */
const STARTS: readonly (readonly [start: RegExp, mediaType: string])[] = [
  [/^\x89PNG\r\n.\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF....WEBP/s, 'image/webp'],
  [/^BM.{4}\0{4}/s, 'image/bmp'],
  [/^(II\*\0|MM\0\*)/, 'image/tiff'],
  [/^....ftyp(avif|avis)/s, 'image/avif'],
  [/^....ftyp(heic|heix|hevc|heim|heis|mif1|msf1)/s, 'image/heic'],
  [/^\s*<svg/, 'image/svg+xml'],
];

/** The media type of an image; undefined for anything else. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, SIGNATURE_BYTES);
  return STARTS.find(([pattern]) => pattern.test(start))?.[1];
}

/** The same for base64. */
export function imageTypeOfBase64(data: string): string | undefined {
  return imageTypeOf(Buffer.from(data.slice(0, 64), 'base64'));
}
