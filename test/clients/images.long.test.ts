/** The official client asks for images: before the demo vendor, which draws, and before a vendor on the wire, byte by byte. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import OpenAI, { APIError, toFile } from 'openai';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import { GatewayError } from '../../core/contracts/gateway-error.ts';
import { fetchGuarded } from '../../core/outgoing/guarded-fetch.ts';
import { imageStyles } from '../../plugins/styles/images/index.ts';
import { mosaic, sizeOfPng } from '../../plugins/vendors/demo/png.ts';
import { callOf, destination } from '../kit/gateway/calls.ts';
import { fakeClock } from '../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { type UsageRow, usageRecords } from '../kit/gateway/usage-records.ts';
import { until } from '../kit/until.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../kit/vendors/fake-vendor.ts';
import { errorAnswer, eventStream, fin, hold, jsonAnswer } from '../kit/vendors/script.ts';

const UNIT = 500_000n * 1_000_000n;
const PNG = mosaic('a boat', { width: 100, height: 50 }, 16);
/** Larger than what is held in memory, and with every byte there is. */
const LARGE = Buffer.concat([PNG, Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 7_919) % 251))]);
const JPEG = Buffer.from('ffd8ffe000104a46494600010100', 'hex');

function client(gateway: TestGateway): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
}

function lastRecord(gateway: TestGateway): UsageRow {
  return usageRecords(gateway.storeFile).at(-1)!;
}

async function refusal(call: Promise<unknown>): Promise<APIError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof APIError, `${error}`);
  return error;
}

describe('the demo vendor, asked for images by the official client', () => {
  let gateway: TestGateway;
  let openai: OpenAI;
  before(async () => {
    gateway = await startGateway();
    openai = client(gateway);
  });
  after(() => gateway.stop());

  it('draws real pictures of the size that was asked for, always the same', async () => {
    const asked = { model: 'demo', prompt: 'A red boat', n: 2, size: '512x256', response_format: 'b64_json' } as const;
    const { data = [], created } = await openai.images.generate({ ...asked, size: '512x256' as '512x512' });
    assert.ok(created > 0, 'it says when');
    const pictures = data.map((image) => Buffer.from(image.b64_json!, 'base64'));
    assert.deepEqual(pictures.map(sizeOfPng), Array(2).fill({ width: 512, height: 256 }));
    assert.ok(pictures[0]!.equals(mosaic('0 A red boat', { width: 512, height: 256 }, 16)), 'the first');
    assert.ok(!pictures[0]!.equals(pictures[1]!), 'each is another');
    assert.deepEqual(lastRecord(gateway).images, { count: 2, size: '512x256', quality: 'low' });
  });

  it('gives an address that can be opened without a network', async () => {
    const { data } = await openai.images.generate({ model: 'demo', prompt: 'A red boat' });
    const opened = await fetch(data![0]!.url!);
    assert.equal(opened.headers.get('content-type'), 'image/png');
    assert.deepEqual(sizeOfPng(Buffer.from(await opened.arrayBuffer())), { width: 256, height: 256 });
  });

  it('draws on an upload, as large as it is', async () => {
    const image = await toFile(PNG, 'boat.png', { type: 'image/png' });
    const { data } = await openai.images.edit({ model: 'demo', prompt: 'In fog', image, response_format: 'b64_json' });
    assert.deepEqual(sizeOfPng(Buffer.from(data![0]!.b64_json!, 'base64')), { width: 100, height: 50 });
    assert.deepEqual([lastRecord(gateway).inputImage, lastRecord(gateway).images?.count], [100, 1]);
  });

  it('shows pictures on their way', async () => {
    const stream = await openai.images.generate({ model: 'demo', prompt: 'A boat', stream: true, partial_images: 2 });
    const types: string[] = [];
    for await (const event of stream) {
      types.push(event.type);
      assert.ok(sizeOfPng(Buffer.from(event.b64_json, 'base64')), event.type);
    }
    const partial = 'image_generation.partial_image';
    assert.deepEqual(types, [partial, partial, 'image_generation.completed']);
    const image = await toFile(PNG, 'boat.png');
    const edited = await openai.images.edit({ model: 'demo', prompt: 'In fog', image, stream: true });
    for await (const { type } of edited) assert.equal(type, 'image_edit.completed');
    assert.equal(lastRecord(gateway).outcome, 'served');
  });

  it('understands the structured form', async () => {
    const { data } = await openai.post<{ data: { url: string }[] }>('/images/generations', {
      body: {
        model: 'demo',
        input: { messages: [{ role: 'user', content: [{ text: 'A red boat' }] }] },
        parameters: { size: '64*32', n: 2, watermark: false },
      },
    });
    assert.equal(data.length, 2);
    const picture = Buffer.from(data[0]!.url.split(',')[1]!, 'base64');
    assert.ok(picture.equals(mosaic('0 A red boat', { width: 64, height: 32 }, 16)), 'the same as in the plain form');
  });
});

/** A form as the vendor got it. */
async function formOf(request: VendorRequest) {
  const headers = { 'content-type': request.headers['content-type']! };
  const form = await new Response(request.body, { headers }).formData();
  const fields: Record<string, string> = {};
  const files: { name: string; fileName: string; type: string; sha: string }[] = [];
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else files.push({ name, fileName: value.name, type: value.type, sha: sha(Buffer.from(await value.arrayBuffer())) });
  }
  assert.equal(request.headers['content-length'], String(request.body.length));
  return { fields, files };
}

function sha(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const USAGE = {
  input_tokens: 60,
  output_tokens: 272,
  total_tokens: 332,
  input_tokens_details: { text_tokens: 10, image_tokens: 50 },
};
/** Of 10 tokens of text, 50 of images and 272 that were drawn, at the prices below. */
const TOKENS_COST = ((10n * 5n + 50n * 10n + 272n * 40n) * UNIT) / 1_000_000n;
const IMAGE_COST = UNIT / 25n;
const IMAGE = { b64_json: PNG.toString('base64') };
const WHOLE: JsonObject = { created: 1_700_000_000, data: [IMAGE], size: '1024x1024', quality: 'low', usage: USAGE };

describe('a vendor of images, asked by the official client', () => {
  let main: FakeVendor;
  let spare: FakeVendor;
  let gateway: TestGateway;
  let openai: OpenAI;
  before(async () => {
    [main, spare] = [await fakeVendor(jsonAnswer(200, WHOLE)), await fakeVendor(jsonAnswer(200, WHOLE))];
    const { pipeline } = defaultConfig([]) as { readonly pipeline: readonly string[] };
    const channel = { key: VENDOR_KEY, vendor: 'openai', url: main.url };
    const speaks = ['images', 'edits'];
    const compatible = { key: VENDOR_KEY, vendor: 'compatible', url: main.url, speaks };
    const price = { input: 5, inputImage: 10, output: 40, outputImage: 40 };
    gateway = await startGateway({
      config: {
        pipeline: [...pipeline, 'vendors/gemini'],
        channels: [
          { ...channel, name: 'main' },
          { ...channel, name: 'spare', url: spare.url, priority: 1 },
          { ...compatible, name: 'structured', quirks: { images: { form: 'structured', answers: 'url' } } },
          { ...compatible, name: 'json', quirks: { images: { edits: 'json' } } },
          { key: VENDOR_KEY, vendor: 'gemini', url: main.url, name: 'google' },
        ],
        models: {
          painter: { from: [{ main: 'gpt-image-1.5' }, { spare: 'gpt-image-1.5' }], price },
          dalle: { from: [{ main: 'dall-e-3' }], price: { perImage: { default: 0.04, 'hd/1024x1792': 0.12 } } },
          qwen: { from: [{ structured: 'qwen-image' }], price: { perImage: 0.04 } },
          seed: { from: [{ json: 'seededit' }], price: { perImage: 0.04 } },
          banana: { from: [{ google: 'gemini-2.5-flash-image' }], price },
        },
      },
    });
    openai = client(gateway);
  });
  after(async () => {
    await Promise.all([main.close(), spare.close()]);
    await gateway.stop();
  });

  const asked = () => main.requests.at(-1)!;

  it('gets the bytes of the request with its own name for the model, and its answer passes as it is', async () => {
    const body = '{ "model":"painter", "prompt":"A boat",\n"seed":12345678901234567890, "n":1.0 }';
    const answer = await fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body,
    });
    assert.equal(asked().path, '/v1/images/generations');
    assert.equal(asked().body.toString(), body.replace('painter', 'gpt-image-1.5'));
    assert.equal(await answer.text(), JSON.stringify(WHOLE));
    const { input, inputImage, output, outputImage, images, estimated, charged } = lastRecord(gateway);
    assert.deepEqual([input, inputImage, output, outputImage, estimated], [60, 50, 272, 272, false]);
    assert.deepEqual(images, { count: 1, size: '1024x1024', quality: 'low' });
    assert.equal(charged, TOKENS_COST);
  });

  it('is not asked for a format that it cannot choose, and the client gets it all the same', async () => {
    const { data, response } = await openai.images
      .generate({ model: 'painter', prompt: 'A boat', response_format: 'url' })
      .withResponse();
    assert.deepEqual(asked().json, { model: 'gpt-image-1.5', prompt: 'A boat' });
    assert.deepEqual(data.data, [{ url: `data:image/png;base64,${IMAGE.b64_json}` }]);
    assert.equal(response.headers.get('x-turnpike-translation'), 'response_format:changed');
  });

  it('is paid by the image where that is how it is sold', async () => {
    main.next(jsonAnswer(200, { created: 1, data: [{ url: 'https://pictures.example/1.png' }] }));
    const { data } = await openai.images.generate({ model: 'dalle', prompt: 'x', quality: 'hd', size: '1024x1792' });
    assert.deepEqual(data, [{ url: 'https://pictures.example/1.png' }]);
    assert.equal(lastRecord(gateway).charged, 3n * IMAGE_COST);
    const error = await refusal(openai.images.generate({ model: 'dalle', prompt: 'x', n: 2 }));
    assert.deepEqual([error.status, error.param], [400, 'n']);
  });

  it('gets the upload byte for byte, and the second one the same where the first cannot answer', async () => {
    main.next(errorAnswer(500));
    const requests = spare.requests.length;
    await openai.images.edit({
      model: 'painter',
      prompt: 'In fog — déjà vu',
      image: [await toFile(LARGE, 'large.bin'), await toFile(PNG, 'boät.png', { type: 'image/png' })],
      mask: await toFile(PNG, 'mask.png', { type: 'image/png' }),
      n: 1,
      quality: 'low',
    });
    assert.equal(spare.requests.length, requests + 1);
    const [first, second] = [asked(), spare.requests.at(-1)!];
    for (const request of [first, second]) {
      assert.equal(request.path, '/v1/images/edits');
      assert.deepEqual(await formOf(request), {
        fields: { model: 'gpt-image-1.5', prompt: 'In fog — déjà vu', n: '1', quality: 'low' },
        files: [
          { name: 'image[]', fileName: 'large.bin', type: 'image/png', sha: sha(LARGE) },
          { name: 'image[]', fileName: 'boät.png', type: 'image/png', sha: sha(PNG) },
          { name: 'mask', fileName: 'mask.png', type: 'image/png', sha: sha(PNG) },
        ],
      });
    }
    assert.notEqual(first.headers['content-type'], second.headers['content-type'], 'a boundary is used once');
    const { channel, attempts, charged } = lastRecord(gateway);
    assert.deepEqual([channel, attempts.length, charged], ['spare', 2, TOKENS_COST]);
  });

  it('gets files although the request was JSON, and JSON although it was a form', async () => {
    const image = `data:image/png;base64,${PNG.toString('base64')}`;
    await openai.post('/images/edits', { body: { model: 'painter', prompt: 'Blue', image } });
    assert.deepEqual(await formOf(asked()), {
      fields: { model: 'gpt-image-1.5', prompt: 'Blue' },
      files: [{ name: 'image', fileName: 'image.png', type: 'image/png', sha: sha(PNG) }],
    });
    await openai.images.edit({ model: 'seed', prompt: 'Blue', image: await toFile(JPEG, 'x'), n: 1 });
    const url = `data:image/jpeg;base64,${JPEG.toString('base64')}`;
    assert.deepEqual(asked().json, { model: 'seededit', prompt: 'Blue', n: 1, image: url });
    const address = 'https://pictures.example/boat.png';
    await openai.post('/images/edits', { body: { model: 'seed', prompt: 'Blue', image: [address, url] } });
    assert.deepEqual(asked().json, { model: 'seededit', prompt: 'Blue', image: [address, url] });
  });

  it('streams byte for byte, and the last image leaves when it is in the books', async () => {
    const event = (type: string, more: JsonObject) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...IMAGE, ...more })}\n\n`;
    const partial = event('image_generation.partial_image', { partial_image_index: 0 });
    const complete = event('image_generation.completed', { usage: USAGE, size: '1024x1024', quality: 'low' });
    main.next(eventStream([partial, complete]));
    const answer = await fetch(`${gateway.url}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'painter', prompt: 'A boat', stream: true, partial_images: 1 }),
    });
    assert.equal(await answer.text(), partial + complete);
    const { outcome, charged, images } = lastRecord(gateway);
    assert.deepEqual([outcome, charged, images?.count], ['served', TOKENS_COST, 1]);
  });

  it('has an image for everybody who asked for a stream, even where it answers whole', async () => {
    const stream = await openai.images.generate({ model: 'painter', prompt: 'A boat', stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    assert.equal(events.length, 1);
    const [event] = events as unknown as readonly [JsonObject];
    assert.deepEqual([event.type, event.b64_json, event.usage], ['image_generation.completed', IMAGE.b64_json, USAGE]);
  });

  it('is charged as a whole where the client leaves in the middle, and not at all where it broke off itself', async () => {
    const partial = 'event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image"}\n\n';
    const ask = { model: 'painter', prompt: 'x', stream: true, n: 2, quality: 'low', size: '1024x1024' } as const;
    const records = () => usageRecords(gateway.storeFile);
    main.next(eventStream([partial, hold('left')]));
    const left = await openai.images.generate(ask);
    for await (const _ of left) break;
    left.controller.abort();
    const before = records().length;
    await main.waitFor(() => main.requests.at(-1)!.state === 'aborted');
    main.release('left');
    await until('there is a new record', () => records().length > before, gateway);
    const { outcome, images, estimated, output } = lastRecord(gateway);
    assert.deepEqual([outcome, images?.count, estimated, output], ['aborted', 2, true, 2 * 272]);
    main.next(eventStream([partial, fin()]));
    const broken = await openai.images.generate(ask);
    await assert.rejects(async () => {
      for await (const _ of broken);
    });
    const { outcome: failed, images: none, charged } = lastRecord(gateway);
    assert.deepEqual([failed, none?.count, charged], ['failed', 0, 0n]);
  });

  it('is asked in the structured form where it speaks only that, and its answer is an image result', async () => {
    const address = 'https://pictures.example/boat.png';
    const output = { choices: [{ finish_reason: 'stop', message: { content: [{ image: address }] } }] };
    const answer = jsonAnswer(200, { request_id: '1', output, usage: { image_count: 1, width: 1_328, height: 1_328 } });
    main.next(answer, answer);
    const { data, response } = await openai.images
      .generate({ model: 'qwen', prompt: 'A boat', size: '1024x1024', quality: 'auto', response_format: 'url' })
      .withResponse();
    assert.deepEqual(asked().json, {
      model: 'qwen-image',
      input: { messages: [{ role: 'user', content: [{ text: 'A boat' }] }] },
      parameters: { size: '1024*1024' },
    });
    assert.deepEqual(data.data, [{ url: address }]);
    assert.ok(data.created > 1_700_000_000, 'it says when');
    assert.equal(response.headers.get('x-turnpike-translation'), 'quality:dropped');
    assert.equal(lastRecord(gateway).charged, IMAGE_COST);
    const input = { messages: [{ role: 'user', content: [{ image: address }, { text: 'Blue' }] }] };
    const parameters = { size: '8*8', watermark: false };
    await openai.post('/images/edits', { body: { model: 'qwen', input, parameters } });
    assert.deepEqual(asked().json, { model: 'qwen-image', input, parameters });
  });

  it('may refuse what was asked for in a success: the client hears it, and pays nothing', async () => {
    main.next(jsonAnswer(200, { request_id: '1', code: 'DataInspectionFailed', message: 'Not that.' }));
    const structured = await refusal(openai.images.generate({ model: 'qwen', prompt: 'x' }));
    assert.deepEqual([structured.status, structured.message.includes('Not that.')], [400, true]);
    main.next(jsonAnswer(200, { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }));
    const blocked = await refusal(openai.images.generate({ model: 'banana', prompt: 'x' }));
    assert.deepEqual([blocked.status, blocked.message.includes('PROHIBITED_CONTENT')], [400, true]);
    assert.equal(lastRecord(gateway).charged, 0n);
  });

  it('is told of an upload in base64 inside JSON where it speaks so', async () => {
    const data = IMAGE.b64_json;
    const usageMetadata = {
      promptTokenCount: 60,
      candidatesTokenCount: 272,
      promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 50 }],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 272 }],
    };
    const parts = [{ inlineData: { mimeType: 'image/png', data } }];
    main.next(jsonAnswer(200, { candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata }));
    const image = await toFile(LARGE, 'large.png');
    const answer = await openai.images.edit({ model: 'banana', prompt: 'In fog', image, size: '1024x1024' });
    assert.equal(asked().path, '/v1/models/gemini-2.5-flash-image:generateContent');
    assert.deepEqual(asked().json, {
      contents: [
        {
          role: 'user',
          parts: [{ inlineData: { mimeType: 'image/png', data: LARGE.toString('base64') } }, { text: 'In fog' }],
        },
      ],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '1:1' } },
    });
    assert.deepEqual(answer.data, [IMAGE]);
    assert.equal(lastRecord(gateway).charged, TOKENS_COST);
    const several = await refusal(openai.images.generate({ model: 'banana', prompt: 'x', n: 2 }));
    assert.deepEqual([several.status, several.param], [400, 'n']);
  });

  it('is never asked where an address leads inside, or an upload is no image', async () => {
    const requests = main.requests.length + spare.requests.length;
    for (const address of [
      'http://127.0.0.1/boat.png',
      `${main.url}/boat.png`,
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/boat.png',
      'http://localhost/boat.png',
      'https://user:secret@pictures.example/boat.png',
    ]) {
      for (const body of [{ image: address }, { image: [IMAGE_URL, address] }, { image: IMAGE_URL, mask: address }]) {
        const error = await refusal(openai.post('/images/edits', { body: { model: 'painter', prompt: 'x', ...body } }));
        assert.deepEqual([error.status, error.code], [400, 'media_not_fetched'], address);
        assert.match(error.param!, /^(image(\[1\])?|mask)$/);
      }
    }
    const text = await toFile(Buffer.from('just a text'), 'boat.png', { type: 'image/png' });
    const error = await refusal(openai.images.edit({ model: 'painter', prompt: 'x', image: text }));
    assert.deepEqual([error.status, error.param], [400, 'image']);
    assert.equal(main.requests.length + spare.requests.length, requests);
  });

  it('is never asked for variations: those are nowhere', async () => {
    const requests = main.requests.length;
    const url = `${gateway.url}/v1/images/variations`;
    const form = new FormData();
    form.append('image', new Blob([PNG]), 'boat.png');
    for (const init of [
      {},
      { method: 'POST' },
      { method: 'POST', body: form, headers: { authorization: `Bearer ${gateway.key}` } },
      { method: 'POST', body: '{', headers: { 'content-type': 'application/json', authorization: 'Bearer nobody' } },
      { method: 'DELETE' },
    ]) {
      const answer = await fetch(url, init);
      assert.deepEqual([answer.status, answer.headers.get('x-should-retry')], [501, 'false']);
      const { error } = (await answer.json()) as { error: Record<string, string> };
      const { message, ...rest } = error;
      assert.deepEqual(rest, { type: 'gateway_api_error', param: '', code: 'api_not_implemented' });
      assert.match(message!, /not implemented/);
    }
    const image = await toFile(PNG, 'boat.png');
    assert.equal((await refusal(openai.images.createVariation({ image }))).status, 501);
    assert.equal(main.requests.length, requests);
  });
});

const IMAGE_URL = `data:image/png;base64,${PNG.toString('base64')}`;

describe('an address that leads elsewhere', () => {
  it('is refused at the first step that leads inside', async () => {
    const [, edits] = imageStyles(fakeClock());
    const server = createServer((_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const image = `http://127.0.0.1:${(server.address() as AddressInfo).port}/boat.png`;
      const guard = { anyPort: true, isPublic: (address: string) => address === '127.0.0.1' };
      const to = destination({
        fetch: (url, param) => fetchGuarded(url, param, new AbortController().signal, { bytes: 1_000 }, guard),
      });
      const call = callOf(edits!, { model: 'm', prompt: 'x', image });
      await assert.rejects(
        async () => edits!.relay.outgoing!(call, to),
        (error) => error instanceof GatewayError && error.status === 400 && error.param === 'image',
      );
    } finally {
      server.close();
    }
  });
});
