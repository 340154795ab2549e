/** Every limit of the specification, through a whole gateway: at the value, just below it and just above. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { Records } from '../../../core/contracts/records.ts';
import { type FormPart, readForm, writeForm } from '../../kit/clients/multipart.ts';
import { type RawResponse, rawConnection, requestText } from '../../kit/clients/raw-client.ts';
import { chatBody } from '../../kit/gateway/fixtures.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, jsonAnswer, type Script, sized } from '../../kit/vendors/script.ts';

const MODEL = 'test-model';
/** One that takes any voice. */
const OPEN_MODEL = 'open-model';
const MIB = 1 << 20;

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);

/** A recording of so many bytes, one second each 16,000 of them. */
function wave(size: number): Buffer {
  const file = Buffer.alloc(size);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(size - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20); // PCM
  file.writeUInt16LE(1, 22); // one channel
  file.writeUInt32LE(8_000, 24);
  file.writeUInt32LE(16_000, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(size - 44, 40);
  return file;
}

interface Endpoint {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Everything that has to be said. */
  readonly least: JsonObject;
  /** What of a form is no member; then nothing but a form is sent. */
  readonly file?: FormPart | readonly FormPart[];
}

const VERSION = { 'anthropic-version': '2023-06-01' };
const hello = [{ role: 'user', content: 'Hello?' }];
const recording: FormPart = { name: 'file', bytes: wave(1_644), fileName: 'speech.wav', mediaType: 'audio/wav' };
const picture: FormPart = { name: 'image', bytes: PNG, fileName: 'a.png', mediaType: 'image/png' };

const chat: Endpoint = { path: '/v1/chat/completions', least: { model: MODEL, messages: hello, max_tokens: 16 } };
const completions: Endpoint = { path: '/v1/completions', least: { model: MODEL, prompt: 'Once', max_tokens: 16 } };
const responses: Endpoint = { path: '/v1/responses', least: { model: MODEL, input: 'Hello?', max_output_tokens: 16 } };
const messages: Endpoint = {
  path: '/v1/messages',
  headers: VERSION,
  least: { model: MODEL, messages: hello, max_tokens: 16 },
};
const embeddings: Endpoint = { path: '/v1/embeddings', least: { model: MODEL, input: 'Hello' } };
const images: Endpoint = { path: '/v1/images/generations', least: { model: MODEL, prompt: 'A gate' } };
const edits: Endpoint = {
  path: '/v1/images/edits',
  least: { model: MODEL, prompt: 'Open it', image: `data:image/png;base64,${PNG.toString('base64')}` },
};
const speech: Endpoint = { path: '/v1/audio/speech', least: { model: MODEL, input: 'Hello.', voice: 'alloy' } };
const transcription: Endpoint = { path: '/v1/audio/transcriptions', least: { model: MODEL }, file: recording };
const translation: Endpoint = { path: '/v1/audio/translations', least: { model: MODEL }, file: recording };
/** The same as forms. */
const imagesForm: Endpoint = { ...images, file: { name: 'user', text: 'somebody' } };
const editsForm: Endpoint = { path: edits.path, least: { model: MODEL, prompt: 'Open it' }, file: picture };

// ---- the vendor

/** A sensible answer to whatever is asked. */
function answerTo(request: VendorRequest): Script {
  switch (request.path) {
    case '/v1/chat/completions':
      return jsonAnswer(200, chatBody());
    case '/v1/completions':
      return jsonAnswer(200, {
        id: 'cmpl-1',
        object: 'text_completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, text: ' upon', logprobs: null, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    case '/v1/responses':
      return jsonAnswer(200, {
        id: 'resp_1',
        object: 'response',
        created_at: 1,
        status: 'completed',
        model: 'm',
        output: [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
          },
        ],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      });
    case '/v1/messages':
      return jsonAnswer(200, {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'Hello.' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    case '/v1/embeddings': {
      const { input, encoding_format: format } = request.json;
      const embedding = format === 'base64' ? Buffer.alloc(4).toString('base64') : [0];
      const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
      const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding }));
      return jsonAnswer(200, { object: 'list', data, model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } });
    }
    case '/v1/images/generations':
    case '/v1/images/edits': {
      const { stream } = fieldsOf(request);
      const image = { b64_json: PNG.toString('base64') };
      const kind = request.path.endsWith('edits') ? 'image_edit' : 'image_generation';
      if (stream === true || stream === 'true') {
        return eventStream([
          `event: ${kind}.completed\ndata: ${JSON.stringify({ type: `${kind}.completed`, ...image })}\n\n`,
        ]);
      }
      return jsonAnswer(200, { created: 1, data: [image] });
    }
    case '/v1/audio/speech':
      return sized(200, 'audio/mpeg', Buffer.from([0xff, 0xfb, 0x90, 0]));
    default: {
      const { response_format: format = 'json' } = fieldsOf(request);
      if (format === 'json') return jsonAnswer(200, { text: 'Hello.' });
      if (format === 'verbose_json')
        return jsonAnswer(200, { text: 'Hello.', duration: 0.1, language: 'english', segments: [] });
      return sized(200, 'text/plain', 'Hello.');
    }
  }
}

function fieldsOf(request: VendorRequest): Readonly<Record<string, Json>> {
  const type = request.headers['content-type'] ?? '';
  return type.startsWith('multipart/') ? readForm(type, request.body).fields : request.json;
}

// ---- the gateway

let gateway: TestGateway;
let vendor: FakeVendor;

before(async () => {
  vendor = await fakeVendor(answerTo);
  const price = { input: 1, output: 2, perImage: 0.04, perSecond: 0.001, characters: 15 };
  const from = ['main'];
  gateway = await startGateway({
    vendor,
    config: {
      channels: [
        {
          name: 'main',
          vendor: 'compatible',
          url: vendor.url,
          key: VENDOR_KEY,
          speaks: [
            'chat',
            'responses',
            'messages',
            'completions',
            'embeddings',
            'images',
            'edits',
            'speech',
            'transcription',
            'translation',
          ],
        },
      ],
      models: {
        [MODEL]: { from, price },
        [OPEN_MODEL]: { from, price, quirks: { speech: { voices: 'any' } } },
      },
      pipeline: defaultConfig([]).pipeline,
    },
  });
});
after(async () => {
  try {
    // Fails where the ledger does not reconcile.
    await gateway.stop();
  } finally {
    await vendor.close();
  }
});

interface Told {
  readonly status: number;
  readonly code: string;
  readonly param: string;
}

/** Sends a request with everything it needs and these members. `undefined` leaves one out. */
async function send(endpoint: Endpoint, members: Readonly<Record<string, Json | undefined>>): Promise<Response> {
  const all = Object.entries({ ...endpoint.least, ...members }).filter(([, value]) => value !== undefined);
  const { contentType, body } =
    endpoint.file === undefined
      ? { contentType: 'application/json', body: Buffer.from(JSON.stringify(Object.fromEntries(all))) }
      : writeForm([...all.map(([name, value]) => ({ name, text: asText(value!) })), ...[endpoint.file].flat()]);
  return fetch(gateway.url + endpoint.path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': contentType, ...endpoint.headers },
    body: new Uint8Array(body),
  });
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The vendor is asked, and the client gets its answer. */
async function isTaken(
  endpoint: Endpoint,
  members: Readonly<Record<string, Json | undefined>>,
  what: string,
): Promise<void> {
  const asked = vendor.requests.length;
  const response = await send(endpoint, members);
  const text = await response.text();
  assert.equal(response.status, 200, `${what}: ${text.slice(0, 300)}`);
  assert.equal(vendor.requests.length, asked + 1, what);
}

/** The client is told what is wrong, and the vendor is not asked. */
async function isRefused(
  endpoint: Endpoint,
  members: Readonly<Record<string, Json | undefined>>,
  told: Told,
  what: string,
): Promise<void> {
  const asked = vendor.requests.length;
  const response = await send(endpoint, members);
  const text = await response.text();
  assert.equal(response.status, told.status, `${what}: ${text.slice(0, 300)}`);
  const { error } = JSON.parse(text) as { readonly error: Readonly<Record<string, unknown>> };
  const { message, type, code, param } = error;
  assert.deepEqual({ code, param }, { code: told.code, param: told.param }, `${what}: ${message}`);
  assert.equal(typeof type, 'string');
  assert.ok(
    typeof message === 'string' && message.includes(told.param),
    `${what}: the message names the field: ${message}`,
  );
  assert.equal(vendor.requests.length, asked, `${what}: nobody was asked`);
}

const wrong = (param: string): Told => ({ status: 400, code: 'invalid_request_error', param });

interface Limit {
  readonly endpoint: Endpoint;
  /** What of the request is limited. */
  readonly field: string;
  /** For people. */
  readonly to: string;
  readonly taken: readonly Json[];
  readonly refused: readonly Json[];
  /** Where it stands, if not at the top. */
  readonly members?: (value: Json) => Readonly<Record<string, Json | undefined>>;
  readonly param?: string | ((value: Json) => string);
  /** What a value is refused with, if not as one that is wrong for every model. */
  readonly code?: (value: Json) => string;
}

/** A test for each limit. */
function enforces(limits: readonly Limit[]): void {
  for (const limit of limits) {
    const { endpoint, field, to, taken, refused } = limit;
    const members = limit.members ?? ((value: Json) => ({ [field]: value }));
    const paramOf = (value: Json): string =>
      typeof limit.param === 'function' ? limit.param(value) : (limit.param ?? field);
    const form = endpoint.file === undefined ? '' : ' (a form)';
    it(`${endpoint.path}${form}: ${field} is ${to}`, async () => {
      for (const value of taken) await isTaken(endpoint, members(value), `${field} ${shown(value)}`);
      for (const value of refused) {
        const code = limit.code?.(value) ?? 'invalid_request_error';
        const told = { status: 400, code, param: paramOf(value) };
        await isRefused(endpoint, members(value), told, `${field} ${shown(value)}`);
      }
    });
  }
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text;
}

/** A number between two others, both included; `null` is as good as nothing. */
function between(endpoint: Endpoint, field: string, lowest: number, highest: number): Limit {
  const isForm = endpoint.file !== undefined;
  const inside = [lowest, lowest + 0.01, (lowest + highest) / 2, highest - 0.01, highest];
  const outside = [lowest - 0.01, highest + 0.01, lowest - 1, highest + 1, 1e9, -1e9];
  const noNumbers = isForm ? ['warm', '0x1', '1,0', 'NaN', 'Infinity'] : ['1', true, [1], {}];
  return {
    endpoint,
    field,
    to: `${lowest} to ${highest}`,
    taken: isForm ? inside : [...inside, null],
    refused: [...outside, ...noNumbers],
  };
}

/** A whole number from one to another; `highest` undefined: any from the lowest on. */
function whole(endpoint: Endpoint, field: string, lowest: number, highest?: number): Limit {
  const isForm = endpoint.file !== undefined;
  const noNumbers = isForm ? ['many', '1e3', '0x1'] : ['1', true, [1], {}];
  const inside = highest === undefined ? [lowest, lowest + 1] : [lowest, lowest + 1, highest - 1, highest];
  const above = highest === undefined ? [] : [highest + 1, 1e9];
  return {
    endpoint,
    field,
    to: highest === undefined ? `a whole number of at least ${lowest}` : `a whole number from ${lowest} to ${highest}`,
    taken: isForm ? inside : [...inside, null],
    refused: [lowest - 1, lowest + 0.5, -1_000, ...above, ...noNumbers],
  };
}

/** One of a few words. */
function oneOf(endpoint: Endpoint, field: string, words: readonly string[], others: readonly Json[]): Limit {
  const noWords: readonly Json[] = endpoint.file === undefined ? [1, true, [], {}] : [];
  return {
    endpoint,
    field,
    to: `one of ${words.join(', ')}`,
    taken: words,
    refused: [...others, ...noWords],
  };
}

/** All that name a model. */
const endpoints = [
  chat,
  completions,
  responses,
  messages,
  embeddings,
  images,
  imagesForm,
  edits,
  editsForm,
  speech,
  transcription,
  translation,
];

describe('limits of texts with a model', () => {
  enforces([
    between(chat, 'temperature', 0, 2),
    between(chat, 'top_p', 0, 1),
    {
      endpoint: chat,
      field: 'messages',
      to: 'at least one item',
      taken: [hello, [...hello, { role: 'assistant', content: 'Hello.' }, ...hello]],
      refused: [[], null, 'Hello?', {}, 1],
    },
    whole(chat, 'max_tokens', 1),
    whole(chat, 'n', 1, 128),
    between(completions, 'temperature', 0, 2),
    between(completions, 'top_p', 0, 1),
    whole(completions, 'n', 1, 128),
    between(responses, 'temperature', 0, 2),
    between(responses, 'top_p', 0, 1),
    whole(responses, 'max_output_tokens', 1),
    between(messages, 'temperature', 0, 1),
    between(messages, 'top_p', 0, 1),
    { ...whole(messages, 'max_tokens', 0), taken: [0, 1] },
  ]);

  it('/v1/messages: the version is a date', async () => {
    for (const version of ['2023-06-01', '2026-12-31']) {
      await isTaken({ ...messages, headers: { 'anthropic-version': version } }, {}, version);
    }
    for (const version of ['20230601', '2023-06', '2023-06-01T00', 'v1', '']) {
      const endpoint = { ...messages, headers: { 'anthropic-version': version } };
      await isRefused(endpoint, {}, wrong('anthropic-version'), version);
    }
    const { headers: _, ...without } = messages;
    await isRefused(without, {}, wrong('anthropic-version'), 'none');
  });
});

const texts = (count: number): string[] => Array.from({ length: count }, (_, i) => `text ${i}`);

describe('limits of embeddings', () => {
  enforces([
    {
      endpoint: embeddings,
      field: 'input',
      to: 'one text, or 1 to 2,048',
      taken: ['Hello', ['Hello'], texts(2_047), texts(2_048)],
      refused: [texts(2_049), texts(10_000), [], '', null, 1, {}],
    },
    {
      endpoint: embeddings,
      field: 'input',
      to: '1 to 2,048 lists of tokens',
      taken: [[1, 2], [[1]], texts(2_048).map((_, i) => [i])],
      refused: [texts(2_049).map((_, i) => [i])],
    },
    oneOf(embeddings, 'encoding_format', ['float', 'base64'], ['', 'Float', 'int8']),
    whole(embeddings, 'dimensions', 1),
  ]);
});

const SIZES = ['1024x1024', '1x1', '256x99999', 'auto'];
const NO_SIZES = [
  '',
  '0x1',
  '1024',
  '1024x',
  'x1024',
  '1024X1024',
  '-1x1',
  '1.5x1',
  '100000x1',
  'large',
  '1024x1024x1',
];

/** How many images there may be is said for each model (`quirks.images.max`); a number at all is what the style wants. */
const beyondModel = (value: Json): string =>
  typeof value === 'number' && Number.isInteger(value) && value > 10 && value <= 100
    ? 'unsupported_parameter'
    : 'invalid_request_error';

describe('limits of images', () => {
  for (const endpoint of [images, imagesForm, edits, editsForm]) {
    const isForm = endpoint.file !== undefined;
    enforces([
      { ...whole(endpoint, 'n', 1, 10), code: beyondModel },
      {
        endpoint,
        field: 'size',
        to: 'a width and a height',
        taken: isForm ? SIZES : [...SIZES, null],
        refused: isForm ? NO_SIZES : [...NO_SIZES, 1024, [1024, 1024]],
      },
      oneOf(endpoint, 'response_format', ['url', 'b64_json'], ['', 'URL', 'png']),
      { ...whole(endpoint, 'partial_images', 0, 3), members: (value) => ({ partial_images: value, stream: true }) },
    ]);
  }
  const structured: Endpoint = {
    path: images.path,
    least: { model: MODEL, input: { messages: [{ role: 'user', content: [{ text: 'A gate' }] }] } },
  };
  const inside = (name: string) => (value: Json) => ({ parameters: { [name]: value } });
  enforces([
    { ...whole(structured, 'n', 1, 10), members: inside('n'), param: 'parameters.n', code: beyondModel },
    {
      endpoint: structured,
      field: 'size',
      to: 'a width and a height, with its own sign or the usual one',
      taken: ['1024*1024', '1x1', null],
      refused: ['0*1', '1024', '1024**1024', '*', 1024],
      members: inside('size'),
      param: 'parameters.size',
    },
    {
      endpoint: structured,
      field: 'watermark',
      to: 'true or false',
      taken: [true, false, null],
      refused: ['true', 1],
      members: inside('watermark'),
      param: 'parameters.watermark',
    },
  ]);

  it('/v1/images/edits: 1 to 16 images', async () => {
    const several = (count: number): Json => Array.from({ length: count }, () => edits.least.image!);
    for (const count of [1, 2, 15, 16]) await isTaken(edits, { image: several(count) }, `${count} images`);
    await isRefused(edits, { image: several(17) }, wrong('image'), '17 images');
    await isRefused(edits, { image: [] }, wrong('image'), 'an empty list');
    await isRefused(edits, { image: undefined }, wrong('image'), 'none');

    for (const name of ['image', 'image[]']) {
      const files = (count: number): Endpoint => ({
        ...editsForm,
        file: Array.from({ length: count }, () => ({ ...picture, name })),
      });
      for (const count of [1, 2, 15, 16]) await isTaken(files(count), {}, `${count} files`);
      await isRefused(files(17), {}, wrong(name), '17 files');
    }
    await isRefused({ ...editsForm, file: [] }, {}, wrong('image'), 'no file');
  });

  it('/v1/images/edits: one mask', async () => {
    const mask = { ...picture, name: 'mask' };
    await isTaken({ ...editsForm, file: [picture, mask] }, {}, 'one');
    await isRefused({ ...editsForm, file: [picture, mask, mask] }, {}, wrong('mask'), 'two');
  });
});

/** So many characters, each of them two units of UTF-16 and four bytes. */
const clefs = (count: number): string => '\u{1d11e}'.repeat(count);

describe('limits of audio', () => {
  enforces([
    {
      endpoint: speech,
      field: 'input',
      to: 'at most 4,096 characters, however long they are',
      taken: ['x', 'x'.repeat(4_095), 'x'.repeat(4_096), clefs(4_095), clefs(4_096), 'e\u0301'.repeat(2_048)],
      refused: ['x'.repeat(4_097), clefs(4_097), `${'e\u0301'.repeat(2_048)}x`, '', null, 1, ['x']],
    },
    between(speech, 'speed', 0.25, 4),
    oneOf(speech, 'voice', ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'], ['', null]),
    oneOf(speech, 'response_format', ['mp3', 'wav', 'aac', 'opus', 'flac', 'pcm'], ['', 'MP3', 'ogg']),
    oneOf(transcription, 'response_format', ['json', 'text', 'srt', 'vtt', 'verbose_json'], ['JSON', 'xml', 'mp3']),
    oneOf(translation, 'response_format', ['json', 'text', 'srt', 'vtt', 'verbose_json'], ['JSON', 'xml', 'mp3']),
    between(transcription, 'temperature', 0, 1),
    between(translation, 'temperature', 0, 1),
  ]);

  it('/v1/audio/speech: other voices only where the model has them', async () => {
    const told: Told = { status: 400, code: 'invalid_request_error', param: 'voice' };
    for (const voice of ['Alloy', 'coral', 'zeus']) await isRefused(speech, { voice }, told, voice);
    for (const voice of ['zeus', 'coral', 'alloy']) await isTaken(speech, { model: OPEN_MODEL, voice }, voice);
    await isRefused(speech, { model: OPEN_MODEL, voice: undefined }, wrong('voice'), 'none');
  });

  for (const endpoint of [transcription, translation]) {
    it(`${endpoint.path}: one file, and a form`, async () => {
      const { file: _, ...json } = endpoint;
      const response = await send(json, {});
      assert.equal(response.status, 415);
      await response.body?.cancel();
      const noFile = { ...endpoint, file: { name: 'user', text: 'x' } };
      await isRefused(noFile, {}, wrong('file'), 'no file');
      const empty = { ...endpoint, file: { name: 'file', bytes: Buffer.alloc(0), fileName: 'a.wav' } };
      await isRefused(empty, {}, wrong('file'), 'an empty file');
    });
  }
});

describe('limits of every request', () => {
  for (const endpoint of endpoints) {
    const form = endpoint.file === undefined ? '' : ' (a form)';
    it(`${endpoint.path}${form}: the name of a model has 1 to 256 characters`, async () => {
      const unknown: Told = { status: 404, code: 'model_not_found', param: 'model' };
      for (const length of [1, 255, 256]) {
        await isRefused(endpoint, { model: 'x'.repeat(length) }, unknown, `${length} characters`);
      }
      for (const length of [0, 257, 5_000]) {
        await isRefused(endpoint, { model: 'x'.repeat(length) }, wrong('model'), `${length} characters`);
      }
      await isRefused(endpoint, { model: undefined }, wrong('model'), 'none');
    });
  }

  /** A value in which so many objects and arrays stand inside each other. */
  const nested = (depth: number): Json =>
    depth === 0 ? 1 : depth % 2 === 0 ? { a: nested(depth - 1) } : [nested(depth - 1)];
  for (const endpoint of endpoints.filter(({ file }) => file === undefined)) {
    it(`${endpoint.path}: 64 objects and arrays inside each other`, async () => {
      // The body is the first of them.
      for (const depth of [62, 63]) await isTaken(endpoint, { metadata_of_ours: nested(depth) }, `${depth + 1} deep`);
      for (const depth of [64, 200, 10_000]) {
        const asked = vendor.requests.length;
        const response = await fetch(gateway.url + endpoint.path, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...endpoint.headers },
          body: `{"a":${'['.repeat(depth)}${']'.repeat(depth)}, ${JSON.stringify(endpoint.least).slice(1)}`,
        });
        const { error } = (await response.json()) as { readonly error: { readonly code: string } };
        assert.deepEqual([response.status, error.code], [400, 'invalid_json'], `${depth + 1} deep`);
        assert.equal(vendor.requests.length, asked);
      }
    });
  }

  it('/v1/images/generations (a form): 64 objects and arrays inside each other', async () => {
    // The form itself is the first of them.
    const parameters = (depth: number): Json => ({ a: nested(depth - 1) });
    await isTaken(imagesForm, { parameters: parameters(63) }, '64 deep');
    for (const depth of [64, 1_000, 15_000]) {
      const text = `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
      const response = await send(imagesForm, { parameters: text });
      assert.equal(response.status, 400, `${depth + 1} deep: ${await response.text()}`);
    }
    assert.deepEqual(
      gateway.log.filter((line) => line.includes('"level":"error"')),
      [],
    );
  });
});

/** A request with a body of exactly so many bytes. */
interface Sized {
  readonly name: string;
  readonly limit: number;
  readonly path: string;
  make(size: number): { readonly contentType: string; readonly body: Buffer };
}

const SIZED: readonly Sized[] = [
  ...[chat, images].map(({ path, least }) => ({
    name: `JSON at ${path}`,
    limit: 16 * MIB,
    path,
    make(size: number) {
      const body = Buffer.alloc(size, ' ');
      body.write(JSON.stringify(least));
      return { contentType: 'application/json', body };
    },
  })),
  ...[
    { path: edits.path, least: editsForm.least, name: 'image', head: PNG, file: (size: number) => Buffer.alloc(size) },
    { path: transcription.path, least: transcription.least, name: 'file', head: Buffer.alloc(0), file: wave },
  ].map(({ path, least, name, head, file }) => ({
    name: `an upload at ${path}`,
    limit: 32 * MIB,
    path,
    make(size: number) {
      const fields = Object.entries(least).map(([field, value]) => ({ name: field, text: asText(value) }));
      const form = (bytes: Buffer) => writeForm([...fields, { name, bytes, fileName: 'a.bin' }]);
      const bytes = file(size - form(Buffer.alloc(0)).body.length);
      head.copy(bytes);
      return form(bytes);
    },
  })),
];

describe('limits of bodies', () => {
  for (const { name, limit, path, make } of SIZED) {
    const ask = async (size: number, framing: 'declared' | 'chunked' | 'only announced'): Promise<RawResponse> => {
      const { contentType, body } = make(size);
      assert.equal(body.length, size);
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': contentType };
      const client = await rawConnection(gateway.port);
      try {
        if (framing === 'chunked') {
          await client.write(requestText('POST', path, { ...headers, 'transfer-encoding': 'chunked' }));
          // A client whose body is refused may find that nobody takes the rest of it.
          void client.write(`${size.toString(16)}\r\n`).catch(() => {});
          void client.write(body).catch(() => {});
          void client.write('\r\n0\r\n\r\n').catch(() => {});
        } else {
          const announced = { ...headers, 'content-length': String(size), expect: '100-continue' };
          await client.write(requestText('POST', path, announced));
          if (framing === 'declared') await client.write(body);
        }
        return await client.response();
      } finally {
        client.abort();
      }
    };

    it(`${name}: ${limit / MIB} MiB`, async () => {
      for (const [framing, size] of [
        ['declared', limit - 1],
        ['declared', limit],
        ['chunked', limit],
      ] as const) {
        const asked = vendor.requests.length;
        const { status, text } = await ask(size, framing);
        assert.equal(status, 200, `${size} bytes, ${framing}: ${text.slice(0, 300)}`);
        assert.equal(vendor.requests.length, asked + 1);
      }
      for (const [framing, size] of [
        ['chunked', limit + 1],
        ['only announced', limit + 1],
      ] as const) {
        const asked = vendor.requests.length;
        const answer = await ask(size, framing);
        const { error } = JSON.parse(answer.text) as { readonly error: Readonly<Record<string, string>> };
        assert.deepEqual([answer.status, error.code, error.param], [413, 'request_too_large', ''], framing);
        assert.match(error.message!, new RegExp(String(limit)));
        assert.deepEqual(answer.interim, [], 'nobody asked it to send more');
        assert.equal(vendor.requests.length, asked);
      }
    });
  }
});

describe('after all of it', () => {
  it('a currency unit is 500,000 units of quota', async () => {
    vendor.next(jsonAnswer(200, chatBody({ usage: { prompt: 1_000_000, completion: 0 } })));
    const content = 'x'.repeat(1_000_000);
    await isTaken(chat, { messages: [{ role: 'user', content }] }, 'a million tokens for one currency unit');
    assert.equal(usageRecords(gateway.storeFile).at(-1)?.charged, 500_000n * 1_000_000n);
  });

  it('whoever was refused has paid nothing', async () => {
    const [sum] = await gateway.host.find(Records)!.sums({}, []);
    const records = usageRecords(gateway.storeFile);
    const refused = records.filter(({ outcome }) => outcome === 'refused');
    const served = records.filter(({ outcome }) => outcome === 'served');
    const times = refused.reduce((all, { repeats }) => all + 1 + repeats, 0);
    assert.ok(times > 300 && served.length > 150, `${times} refused, ${served.length} served`);
    assert.deepEqual([sum?.errors, sum?.calls], [times, served.length]);
    assert.equal(refused.length + served.length, records.length);
    assert.equal(served.length, vendor.requests.length);
    for (const { charged, status, id } of refused) {
      assert.equal(charged, 0n, id);
      assert.ok(status >= 400 && status < 500, id);
    }
  });
});
