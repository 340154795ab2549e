/** Image edit requests: encodes them for the vendor's model, as a multipart body with files, or as JSON with URLs. */
import type {
  Bounds,
  Call,
  CallFacts,
  Destination,
  JsonBody,
  JsonObject,
  Outgoing,
  Patch,
  Upload,
} from '../../../core/plugin.ts';
import { dataUrl, readDataUrl } from '../../../core/translation/index.ts';
import { wrong } from '../request-fields.ts';
import {
  IMAGE_FIELDS,
  type InputImage,
  imageTypeOf,
  inputImagesIn,
  MAX_INPUT_IMAGES,
  refuseOther,
  SIGNATURE_BYTES,
} from './pictures.ts';
import { readRequest } from './request.ts';
import { type Changes, changesFor } from './wording.ts';

/** Reads the body. Refuses with 400 and the field's name. */
export function readEdit(body: JsonBody, files: readonly Upload[] = []): CallFacts {
  const pictures = inputImagesIn(body, files);
  const sources = body.has('input') ? 'input' : 'image';
  const edited = pictures.filter(({ role }) => role === 'image');
  if (edited.length === 0) wrong(sources, 'must contain the image to edit: a file, its URL or a data: URL');
  if (edited.length > MAX_INPUT_IMAGES) wrong(sources, `must contain at most ${MAX_INPUT_IMAGES} images`);
  if (sources === 'input' && edited.some(({ param }) => !param.startsWith('input'))) {
    wrong('input', 'cannot be combined with other image fields: send all images in one field');
  }
  for (const role of ['mask', 'markup']) {
    if (pictures.filter((picture) => picture.role === role).length > 1) wrong(role, 'must be sent only once');
  }
  return readRequest(body, { inputBytes: textBytes(body), media: pictures.length });
}

/** Members whose text the scan of the body does not recognize as images. */
const UNSCANNED = ['images', 'mask', 'markup'];

/** Bytes of the body without the images. */
function textBytes(body: JsonBody): number {
  const texts = UNSCANNED.flatMap((name) => body.get(name) ?? []).filter((value) => typeof value === 'string');
  const inline = texts.filter((text) => /^data:/i.test(text));
  return inline.reduce((bytes, { length }) => bytes - length, body.textBytes);
}

/** Validates the files: what is not an image is refused before a vendor is called. */
export async function measureEdit({ files = [], bounds }: Call): Promise<Bounds> {
  for (const file of files) await typeOfFile(file);
  return bounds;
}

/** Encodes the request for a vendor. Refuses with 400 what cannot be fetched, or is not an image. */
export async function editFor(call: Call, to: Destination): Promise<Outgoing> {
  const pictures = inputImagesIn(call.body, call.files ?? []);
  const { form, edits } = to.quirks.images;
  if (form === 'plain' && edits === 'form') {
    const fields = without(IMAGE_FIELDS, fieldsOf(call.body, changesFor(call.body, to, NO_URLS)));
    return { as: 'form', fields, files: await filesOf(pictures, to) };
  }
  const named = await Promise.all(pictures.map(async ({ role, source }) => [role, await urlOf(source, to)] as const));
  const changes = changesFor(call.body, to, {
    ...Object.fromEntries(named.filter(([role]) => role !== 'image')),
    images: named.filter(([role]) => role === 'image').map(([, address]) => address),
  });
  return { as: 'json', fields: fieldsOf(call.body, changes), files: [] };
}

const NO_URLS = { images: [] };

/** For JSON requests only; for requests with files, see `editFor`. */
export function patchEdit(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>> {
  return asText(changesFor(body, to));
}

/** The changed members as JSON text. */
export function asText(changes: Changes): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, value === undefined ? undefined : JSON.stringify(value)]),
  );
}

/** The body's members with the changes, without null. */
function fieldsOf(body: JsonBody, changes: Changes): JsonObject {
  const members = { ...(body.tree() as JsonObject), ...changes };
  const present = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(present) as JsonObject;
}

function without(names: readonly string[], fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

// ---- as files

/** All images as files of a multipart body. */
async function filesOf(pictures: readonly InputImage[], to: Destination): Promise<readonly Upload[]> {
  const several = pictures.filter(({ role }) => role === 'image').length > 1;
  return Promise.all(
    pictures.map(async ({ role, param, source }) => {
      const field = role === 'image' && several ? 'image[]' : role;
      if (typeof source !== 'string') {
        // Many clients omit a file's type, and vendors do not look into files.
        const { fileName, size } = source;
        return { field, fileName, mediaType: await typeOfFile(source), size, read: () => source.read() };
      }
      const bytes = await bytesAt(source, param, to);
      const mediaType = imageTypeOf(bytes) ?? refuseOther(param);
      return heldFile({ field, fileName: `${role}.${mediaType.slice('image/'.length)}`, mediaType }, bytes);
    }),
  );
}

async function bytesAt(address: string, param: string, to: Destination): Promise<Buffer> {
  const media = /^data:/i.test(address) ? readDataUrl(address) : undefined;
  return media === undefined ? (await to.fetch(address, param)).bytes : Buffer.from(media.data, 'base64');
}

// ---- as addresses

async function urlOf(source: InputImage['source'], to: Destination): Promise<string> {
  if (typeof source === 'string') return source;
  return dataUrl({ mediaType: await typeOfFile(source), data: to.base64(source) });
}

/** The media type by the first bytes; refuses what is not an image. */
async function typeOfFile(file: Upload): Promise<string> {
  let start: Buffer = Buffer.alloc(0);
  for await (const piece of file.read()) {
    start = Buffer.concat([start, piece.subarray(0, SIGNATURE_BYTES)]);
    if (start.length >= SIGNATURE_BYTES) break;
  }
  return imageTypeOf(start) ?? refuseOther(file.field);
}

/** Creates one. */
function heldFile(about: Pick<Upload, 'field' | 'fileName' | 'mediaType'>, bytes: Buffer): Upload {
  return {
    ...about,
    size: bytes.length,
    async *read() {
      yield bytes;
    },
  };
}
