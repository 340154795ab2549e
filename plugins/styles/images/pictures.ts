/** The images that are to be edited, wherever in a request they stand. */

import type { JsonBody, JsonObject, Upload } from '../../../core/plugin.ts';
import { type Fields, readDataUrl, readFields } from '../../../core/translation/index.ts';
import { fieldsIn, wrong } from '../request-fields.ts';
import { imageTypeOfBase64 } from './media-type.ts';
import { contentsOf } from './structured.ts';

/** `image`: one of those that are edited. The others belong to the first of them, and come once. */
export type Role = 'image' | 'mask' | 'markup';

/** One image: a file that came with the form, or its address, which may be a `data:` one. */
export interface Picture {
  readonly role: Role;
  /** Where it stands, for errors: `image[1]`. */
  readonly param: string;
  readonly source: Upload | string;
}

/** How many images one request may edit. */
export const MOST_PICTURES = 16;

/** The roles beside the images themselves. */
const COMPANIONS = ['mask', 'markup'] as const;

/** The members of a request that hold pictures. */
export const PICTURE_FIELDS: readonly string[] = ['image', 'images', ...COMPANIONS];

/** All of them: first the images, in the order in which they came. Refuses with 400 and the field's name what is none. */
export function picturesIn(body: JsonBody, files: readonly Upload[]): readonly Picture[] {
  const fields = fieldsIn(body, [...PICTURE_FIELDS, 'input']);
  const pictures = [
    ...files.map((file): Picture => ({ role: roleOf(file), param: file.field, source: file })),
    ...listed(fields, 'image'),
    ...listed(fields, 'images'),
    ...inContents(fields),
    ...COMPANIONS.flatMap((role) => one(fields, role)),
  ];
  const isImage = ({ role }: Picture): boolean => role === 'image';
  return [...pictures.filter(isImage), ...pictures.filter((picture) => !isImage(picture))];
}

/** Lists have names of their own in forms: `image[]`. */
function roleOf({ field }: Upload): Role {
  return COMPANIONS.find((role) => field === role || field === `${role}[]`) ?? 'image';
}

/** One address, or a list of them; in `images` each may be wrapped in an object. */
function listed(fields: Fields, name: 'image' | 'images'): readonly Picture[] {
  const value = fields.get(name);
  if (value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  // Before each of them is looked at.
  if (list.length > MOST_PICTURES) wrong(name, `may hold at most ${MOST_PICTURES} images`);
  const isList = Array.isArray(value);
  const holder = readFields(Object.fromEntries(list.map((each, i) => [isList ? `${name}[${i}]` : name, each])), '');
  return Object.keys(holder.rest()).map((param) => ({ role: 'image', param, source: addressIn(holder, param) }));
}

function one(fields: Fields, role: Role): readonly Picture[] {
  return fields.get(role) === undefined ? [] : [{ role, param: role, source: addressIn(fields, role) }];
}

function inContents(fields: Fields): readonly Picture[] {
  const input = fields.fields('input');
  if (input === undefined) return [];
  return contentsOf(input)
    .filter((content) => content.get('image') !== undefined)
    .map((content) => ({ role: 'image', param: content.at('image'), source: addressIn(content, 'image') }));
}

/** The address in a field: a text, or an object around one. */
function addressIn(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (typeof value === 'string') return checkAddress(value, fields.at(name));
  const wrapped = fields.fields(name);
  if (wrapped?.get('file_id') !== undefined) {
    wrapped.wrong('file_id', 'may not be the id of an upload: send the file itself, its address or a data: URL');
  }
  for (const inner of ['image_url', 'url']) {
    const address = wrapped?.get(inner);
    if (typeof address === 'string') return checkAddress(address, wrapped!.at(inner));
    const deeper = (address as JsonObject | undefined)?.url;
    if (typeof deeper === 'string') return checkAddress(deeper, `${wrapped!.at(inner)}.url`);
  }
  return fields.wrong(name, `must be ${ADDRESS}`);
}

const ADDRESS = 'a file, or a string with the address of an image or a data: URL';

function checkAddress(address: string, param: string): string {
  if (/^https?:\/\//i.test(address)) return address;
  const data = /^data:/i.test(address) ? readDataUrl(address) : undefined;
  if (data === undefined) wrong(param, `must be ${ADDRESS}`);
  if (imageTypeOfBase64(data.data) === undefined) refuseOther(param);
  return address;
}

/** Refuses what calls itself an image and is none. */
export function refuseOther(param: string): never {
  wrong(param, 'must be an image (PNG, JPEG, WebP, GIF, …); by its first bytes it is something else');
}
