/** The styles `images` (generations) and `edits`. Both have the same replies. */
import type {
  Awaitable,
  Call,
  Clock,
  Finishing,
  Json,
  JsonBody,
  JsonObject,
  Relay,
  Schema,
  Style,
  StyleAbout,
} from '../../../core/plugin.ts';
import { answer, errorObject, type Route } from '../../../core/plugin.ts';
import { dataUrl, readDataUrl } from '../../../core/translation/index.ts';
import { EVENTS, integer, integerFrom, model, objectOf, optional, stream, text } from '../described.ts';
import { errors } from '../errors.ts';
import { createFormReader } from '../multipart/index.ts';
import { isText, itemsOf, readAnswer, structuredItems } from './answer.ts';
import { asText, editFor, measureEdit, patchEdit, readEdit } from './edits.ts';
import { imageTypeOf, imageTypeOfBase64, MAX_INPUT_IMAGES } from './pictures.ts';
import { MAX_IMAGES, readRequest } from './request.ts';
import { createRelay, errorEvent, eventsOf } from './stream.ts';
import { withValues } from './typed-form.ts';
import { changesFor } from './wording.ts';

/** Answers every request with 501. No vendor is called, nothing is charged. */
export const variationsRoute: Route = {
  method: 'any',
  path: '/v1/images/variations',
  access: 'public',
  cors: true,
  takes: 'none',
  handle() {
    const error = errors.api_not_implemented();
    // Clients retry after a 5xx, and it will never be implemented.
    const headers = { 'content-type': 'application/json', 'x-should-retry': 'false' };
    return answer(501, JSON.stringify(errorObject(error)), headers);
  },
};

const members = {
  model,
  prompt: optional(text),
  n: integerFrom(1, MAX_IMAGES),
  size: optional({ description: '1024x1024, 1024*1024 or auto.', ...text }),
  quality: optional(text),
  response_format: optional({ enum: ['url', 'b64_json'] }),
  stream,
  partial_images: integerFrom(0, 3),
  input: optional({
    description: 'The structured form, instead of `prompt`: messages of texts and images.',
    type: 'object',
  }),
  parameters: optional({ description: 'Parameters of the structured form: size, n.', type: 'object' }),
};

const result: Schema = objectOf(
  { created: integer, data: { type: 'array', items: objectOf({ url: text, b64_json: text }) } },
  ['data'],
);

const generations: StyleAbout = {
  summary: 'Generates images.',
  request: objectOf(members, ['model']),
  answer: result,
  mediaTypes: [EVENTS],
};

const binary = { type: 'string', format: 'binary' };

const edits: StyleAbout = {
  summary: 'Edits images: files in a multipart body, or URLs in JSON.',
  request: objectOf({ ...members, image: {}, images: {}, mask: {} }, ['model']),
  form: objectOf(
    {
      model,
      prompt: text,
      // The field `image[]` is accepted, too; generators of clients cannot have both names.
      image: { type: 'array', items: binary, minItems: 1, description: 'One or more images; each is a field `image`.' },
      mask: binary,
      n: text,
      size: text,
    },
    ['model'],
  ),
  answer: result,
  mediaTypes: [EVENTS],
};

/** A URL may be sent instead of a file. */
const PICTURE_FILES = {
  image: { max: MAX_INPUT_IMAGES, orText: true },
  mask: { max: 1, orText: true },
  markup: { max: 1, orText: true },
};

/** `POST /v1/images/generations` and `POST /v1/images/edits`. */
export function imageStyles(clock: Clock): readonly Style[] {
  const texts = ['prompt', 'negative_prompt', 'input', 'parameters', 'user'];
  const replies = {
    answer: readAnswer,
    finish: finisher(clock),
    stream: createRelay,
    // A large image in base64.
    maxEventBytes: 32 * 1_024 * 1_024,
  } satisfies Relay;
  return [
    {
      name: 'images',
      ingress: {
        path: '/v1/images/generations',
        read: (body) => readRequest(body, { inputBytes: body.textBytes, media: body.media }),
        form: withValues(createFormReader({ only: false, files: {} })),
        texts,
        about: generations,
      },
      relay: {
        ...replies,
        patch: (body, to) => asText(changesFor(body, to)),
        streamed: eventsOf('image_generation'),
      },
      errors: { event: errorEvent },
    },
    {
      name: 'edits',
      ingress: {
        path: '/v1/images/edits',
        read: (body, _request, files) => readEdit(body, files),
        form: withValues(createFormReader({ only: false, files: PICTURE_FILES, repeats: ['image'] })),
        measure: measureEdit,
        texts,
        about: edits,
      },
      relay: { ...replies, patch: patchEdit, outgoing: editFor, streamed: eventsOf('image_edit') },
      errors: { event: errorEvent },
    },
  ];
}

/** Creates the conversion of a reply; undefined if it can be forwarded as it is. */
function finisher(clock: Clock): (body: JsonBody, call: Call, to: Finishing) => Awaitable<Buffer | undefined> {
  return (body, call, to) => {
    // Events of a stream have base64.
    const requested = call.stream ? 'b64_json' : call.body.get('response_format');
    const items = itemsOf(body) ?? [];
    const isOther = (item: JsonObject): boolean =>
      isText(item[opposite(requested)]) && !isText(item[String(requested)]);
    const converts = (requested === 'url' || requested === 'b64_json') && items.some(isOther);
    const created =
      typeof body.get('created') === 'number' ? [] : [['created', Math.floor(clock.now() / 1_000)] as const];
    const isStructured = structuredItems(body) !== undefined && !body.has('data');
    if (!converts && !isStructured && created.length === 0) return undefined;
    const write = (data: readonly JsonObject[]): Buffer => {
      if (isStructured) return Buffer.from(JSON.stringify({ ...Object.fromEntries(created), data }));
      const changes = [...created, ...(converts ? [['data', data] as const] : [])];
      return body.patched(Object.fromEntries(changes.map(([name, value]) => [name, JSON.stringify(value)])));
    };
    if (!converts) return write(items);
    if (requested === 'url') return write(items.map((item) => (isOther(item) ? asUrl(item, to) : item)));
    return Promise.all(items.map((item) => (isOther(item) ? asBytes(item, to) : item))).then(write);
  };
}

function opposite(format: Json | undefined): string {
  return format === 'url' ? 'b64_json' : 'url';
}

/** The gateway does not host images, so the URL is a `data:` URL. */
function asUrl({ b64_json: data, ...rest }: JsonObject, { warnings }: Finishing): JsonObject {
  warnings.change('response_format', 'hint');
  return {
    ...rest,
    url: dataUrl({ mediaType: imageTypeOfBase64(data as string) ?? 'image/png', data: data as string }),
  };
}

/** If the gateway cannot fetch an image now, the client may still be able to. */
async function asBytes(item: JsonObject, { warnings, fetch }: Finishing): Promise<JsonObject> {
  const { url, ...rest } = item;
  try {
    const inline = readDataUrl(url as string);
    if (inline !== undefined) return { ...rest, b64_json: inline.data };
    const { mediaType, bytes } = await fetch(url as string);
    if (!mediaType.startsWith('image/') && imageTypeOf(bytes) === undefined) throw new Error('it is not an image');
    return { ...rest, b64_json: bytes.toString('base64') };
  } catch {
    warnings.change('response_format');
    return item;
  }
}
