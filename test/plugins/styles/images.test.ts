import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { scanAnswer } from '../../../core/bytes/json-body.ts';
import type { Call, Upload } from '../../../core/contracts/formats/call.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Destination, EventKind, Finishing, Patch, Style } from '../../../core/contracts/formats/style.ts';
import type { Usage } from '../../../core/contracts/formats/usage.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { NO_TOKENS } from '../../../core/translation/index.ts';
import { layQuirks, USUAL } from '../../../core/translation/quirks/quirks.ts';
import { type CollectedWarnings, collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { imageStyles, variationsRoute } from '../../../plugins/styles/images/index.ts';
import { arriving, bodyOf, callOf, destination, patchTo, uploadOf } from '../../kit/gateway/calls.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

const clock = fakeClock();
const NOW = Math.floor(clock.now() / 1_000);
const [images, edits] = imageStyles(clock) as readonly [Style, Style];

const ASKED = { model: 'public-name', prompt: 'A red boat' };
const PNG = Buffer.from('89504e470d0a1a0a0000000d4948445200000001', 'hex');
const JPEG = Buffer.from('ffd8ffe000104a4649460001', 'hex');
const PNG_URL = `data:image/png;base64,${PNG.toString('base64')}`;
const ADDRESS = 'https://pictures.example/boat.png';
const EDIT = { ...ASKED, image: ADDRESS };

/** The words for a vendor with some quirks, and what was lost on the way. */
function to(quirks: Partial<Patch['quirks']['images']> = {}): Patch & { readonly warnings: CollectedWarnings } {
  const warnings = collectWarnings({});
  return { ...patchTo({ quirks: layQuirks(USUAL, { images: quirks }) }), warnings };
}

function refusedFor(param: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.status, 400, error.message);
    assert.equal(error.param, param, error.message);
    assert.ok(error.message.includes(param), error.message);
    return true;
  };
}

function refuses(style: Style, cases: readonly (readonly [body: JsonObject, param: string])[]): void {
  for (const [body, param] of cases) {
    assert.throws(() => callOf(style, body), refusedFor(param), `${JSON.stringify(body)}: ${param}`);
  }
}

/** What a vendor gets of a request for images. */
function sent(request: JsonObject, target: Patch): JsonObject {
  const body = bodyOf(request);
  return JSON.parse(body.patched(images.relay.patch!(body, target)).toString()) as JsonObject;
}

describe('an image request', () => {
  it('has its parameters and bounds', () => {
    const { model, stream, bounds } = images.ingress!.read(
      bodyOf({ ...ASKED, n: 3, size: '1536*1024', quality: 'high' }),
      arriving(),
    );
    assert.deepEqual([model, stream], ['public-name', false]);
    assert.deepEqual(bounds.images, { count: 3, size: '1536x1024', quality: 'high' });
    assert.deepEqual([bounds.choices, bounds.media, bounds.open?.()], [3, 0, true]);
    assert.equal(bounds.outputTokens, 3 * 6_240);
    for (const more of [{ batch_size: 4 }, { n: 2, num_images: 4 }, { sampleCount: '4' }]) {
      assert.equal(images.ingress!.read(bodyOf({ ...ASKED, ...more }), arriving()).bounds.images?.count, 4);
    }
    for (const batch_size of [0, 1.5, 1_000, 'x', [4]]) {
      assert.throws(() => images.ingress!.read(bodyOf({ ...ASKED, batch_size }), arriving()), refusedFor('batch_size'));
    }
  });

  it('needs no prompt, and may have unknown fields', () => {
    for (const body of [{ model: 'm' }, { ...ASKED, prompt: null, n: null, size: null, some_field: [1] }]) {
      const { bounds } = images.ingress!.read(bodyOf(body), arriving());
      assert.deepEqual(bounds.images, { count: 1, size: '', quality: '' });
    }
  });

  it('may request as many images as the quirk of the model allows, by default ten', () => {
    assert.equal(sent({ ...ASKED, n: 10 }, to()).n, 10);
    assert.throws(() => sent({ ...ASKED, n: 11 }, to()), /must be at most 10 for this model/);
    assert.equal(sent({ ...ASKED, n: 20 }, to({ max: 20 })).n, 20);
    assert.throws(() => sent({ ...ASKED, n: 21 }, to({ max: 20 })), /must be at most 20 for this model/);
  });

  it('accepts every value up to its limit, and refuses others with the name of their field', () => {
    for (const body of [
      { n: 1 },
      { n: 100 },
      { size: '1x1' },
      { size: '99999*99999' },
      { size: 'auto' },
      { response_format: 'url' },
      { response_format: 'b64_json' },
      { stream: true, partial_images: 0 },
      { stream: true, partial_images: 3 },
    ]) {
      assert.equal(images.ingress!.read(bodyOf({ ...ASKED, ...body }), arriving()).model, 'public-name');
    }
    refuses(images, [
      [{ prompt: 'x' }, 'model'],
      [{ ...ASKED, model: '' }, 'model'],
      [{ ...ASKED, model: 'x'.repeat(257) }, 'model'],
      [{ ...ASKED, prompt: 7 }, 'prompt'],
      [{ ...ASKED, n: 0 }, 'n'],
      [{ ...ASKED, n: 101 }, 'n'],
      [{ ...ASKED, n: 1.5 }, 'n'],
      [{ ...ASKED, n: '1' }, 'n'],
      [{ ...ASKED, size: '0x1' }, 'size'],
      [{ ...ASKED, size: '1024' }, 'size'],
      [{ ...ASKED, size: '1024×1024' }, 'size'],
      [{ ...ASKED, size: '100000x1' }, 'size'],
      [{ ...ASKED, size: 1_024 }, 'size'],
      [{ ...ASKED, quality: 7 }, 'quality'],
      [{ ...ASKED, response_format: 'png' }, 'response_format'],
      [{ ...ASKED, stream: 'yes' }, 'stream'],
      [{ ...ASKED, partial_images: 4 }, 'partial_images'],
      [{ ...ASKED, partial_images: -1 }, 'partial_images'],
      [{ model: 'm', input: 'x' }, 'input'],
      [{ model: 'm', input: { messages: {} } }, 'input.messages'],
      [{ model: 'm', input: { messages: ['x'] } }, 'input.messages[0]'],
      [{ model: 'm', input: { messages: [{ content: [] }] } }, 'input.messages[0].content'],
      [{ model: 'm', input: { messages: [{ content: [{ text: 7 }] }] } }, 'input.messages[0].content[0].text'],
      [{ ...ASKED, input: { messages: [] } }, 'input'],
      [{ ...ASKED, parameters: [] }, 'parameters'],
      [{ ...ASKED, parameters: { size: 'big' } }, 'parameters.size'],
      [{ ...ASKED, parameters: { n: 101 } }, 'parameters.n'],
      [{ ...ASKED, parameters: { watermark: 'no' } }, 'parameters.watermark'],
      [{ ...ASKED, n: 1, parameters: { n: 2 } }, 'parameters.n'],
      [{ ...ASKED, size: '1x2', parameters: { size: '2*1' } }, 'parameters.size'],
    ]);
  });

  it('counts the most expensive image that the vendor may choose, and each partial image', () => {
    const tokens = (body: JsonObject) =>
      images.ingress!.read(bodyOf({ ...ASKED, ...body }), arriving()).bounds.outputTokens;
    assert.equal(tokens({ size: '1024x1024', quality: 'low' }), 272);
    assert.equal(tokens({ size: '1024x1536', quality: 'medium' }), 1_584);
    assert.equal(tokens({ size: '1536x1024', quality: 'high' }), 6_240);
    assert.equal(tokens({}), 7_024);
    assert.equal(tokens({ quality: 'auto', size: 'auto', n: 2 }), 14_048);
    assert.equal(tokens({ quality: 'hd', size: '1024x1024' }), 7_024);
    assert.equal(tokens({ quality: 'low', size: '1024x1024', n: 2, partial_images: 3 }), 2 * (272 + 300));
    assert.equal(tokens({ quality: 'high', size: '3840x2160' }), 13_342);
    assert.ok(tokens({ quality: 'max' })! > tokens({ quality: 'xhigh' })!, 'max is more than xhigh');
  });
});

describe('an image request encoded for a vendor', () => {
  it('is the same bytes except for the model if the vendor uses the same form', () => {
    const bytes = Buffer.from('{ "model" : "public-name","prompt":"x", "seed":12345678901234567890, "size":"1x1"}');
    for (const text of [
      bytes,
      Buffer.from('{"model":"public-name", "input":{"messages":[]}, "parameters":{"n":1.0}}'),
    ]) {
      const body = scanAnswer(text)!;
      const target = to(text === bytes ? {} : { form: 'structured' });
      assert.equal(
        body.patched(images.relay.patch!(body, target)).toString(),
        text.toString().replace('public-name', 'vendor-name'),
      );
      assert.equal(body.patched(images.relay.patch!(body, { ...target, model: 'public-name' })), body.bytes);
    }
  });

  it('has the separator of the form in its size', () => {
    assert.equal(sent({ ...ASKED, size: '1024*768' }, to()).size, '1024x768');
    const structured = { model: 'm', input: { messages: [] }, parameters: { size: '1024x768', seed: 1 } };
    assert.deepEqual(sent(structured, to({ form: 'structured' })).parameters, { size: '1024*768', seed: 1 });
  });

  it('is refused if the vendor does not support its quality, because the price depends on it', () => {
    for (const quality of ['hd', 'high', 'low']) {
      assert.throws(
        () => sent({ ...ASKED, quality }, to({ form: 'structured' })),
        (error) => error instanceof GatewayError && error.status === 400 && error.param === 'quality',
        quality,
      );
    }
    assert.equal(sent({ ...ASKED, quality: 'standard' }, to({ form: 'structured' })).model, 'vendor-name');
  });

  it('becomes structured, with every field mapped or reported', () => {
    const target = to({ form: 'structured' });
    const request = {
      ...ASKED,
      n: 2,
      size: '1024x1024',
      quality: 'auto',
      background: 'transparent',
      user: 'u',
      watermark: false,
      negative_prompt: 'fog',
      response_format: 'url',
      style: null,
    };
    assert.deepEqual(sent(request, target), {
      model: 'vendor-name',
      response_format: 'url',
      input: { messages: [{ role: 'user', content: [{ text: 'A red boat' }] }] },
      parameters: { watermark: false, negative_prompt: 'fog', n: 2, size: '1024*1024' },
    });
    assert.deepEqual(target.warnings.all, ['quality:dropped', 'background:dropped', 'user:dropped']);
    assert.deepEqual(target.warnings.serious, ['background:dropped']);
    assert.deepEqual(sent({ ...ASKED, size: 'auto' }, to({ form: 'structured' })), {
      model: 'vendor-name',
      input: { messages: [{ role: 'user', content: [{ text: 'A red boat' }] }] },
    });
  });

  it('becomes plain, with its texts one per line, and reports what cannot be mapped', () => {
    const target = to();
    const request = {
      model: 'public-name',
      input: {
        messages: [
          { role: 'user', content: [{ text: 'A boat' }, { text: 'in fog' }] },
          { role: 'user', content: 'red' },
        ],
        ref: 1,
      },
      parameters: { size: '1024*768', n: 2, watermark: true, seed: null },
    };
    assert.deepEqual(sent(request, target), {
      model: 'vendor-name',
      prompt: 'A boat\nin fog\nred',
      size: '1024x768',
      n: 2,
    });
    assert.deepEqual(target.warnings.serious, ['input.ref:dropped', 'parameters.watermark:dropped']);
  });

  it('omits what the vendor does not support, and is refused beyond its maximum number of images', () => {
    assert.deepEqual(sent({ ...ASKED, response_format: 'url' }, to({ answers: 'b64_json' })), {
      ...ASKED,
      model: 'vendor-name',
    });
    assert.equal(sent({ ...ASKED, n: 4 }, to({ max: 4 })).n, 4);
    assert.throws(() => sent({ ...ASKED, n: 5 }, to({ max: 4 })), refusedFor('n'));
    assert.throws(() => sent({ ...ASKED, parameters: { n: 5 } }, to({ max: 4 })), refusedFor('parameters.n'));
  });
});

/** A form as it stands on the wire. */
async function readForm(style: Style, fields: Readonly<Record<string, string>>): Promise<JsonObject> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const response = new Response(form);
  const bytes = Buffer.from(await response.arrayBuffer());
  const read = await style.ingress!.form!.read({
    body: Readable.from([bytes], { objectMode: false }),
    contentType: response.headers.get('content-type')!,
    spool: {
      file() {
        throw new Error('there are no files');
      },
    },
  });
  return read.fields;
}

describe('a multipart image request', () => {
  it('has the values that JSON would have', async () => {
    assert.equal(images.ingress?.form?.only, false);
    const fields = await readForm(images, {
      ...ASKED,
      n: '2',
      stream: 'True',
      partial_images: ' 1 ',
      seed: '',
      output_compression: '80',
      user: '7',
      parameters: '{"size":"1*1","watermark":false}',
    });
    assert.deepEqual(fields, {
      ...ASKED,
      n: 2,
      stream: true,
      partial_images: 1,
      output_compression: 80,
      user: '7',
      parameters: { size: '1*1', watermark: false },
    });
  });

  it('is refused with the name of an invalid field', async () => {
    const cases = { n: 'two', stream: 'yes', input: '[1]', parameters: '{', seed: '1e400' };
    for (const [name, value] of Object.entries(cases)) {
      await assert.rejects(readForm(images, { ...ASKED, [name]: value }), refusedFor(name));
    }
    const misread = await readForm(images, { ...ASKED, parameters: '{"size":"big"}' });
    assert.throws(() => callOf(images, misread), refusedFor('parameters.size'));
  });

  it('may have the URL of an image', async () => {
    const one = await readForm(edits, { ...ASKED, image: ADDRESS });
    assert.equal(one.image, ADDRESS);
    assert.deepEqual((await readForm(edits, { ...ASKED, 'image[]': ADDRESS })).image, [ADDRESS]);
  });
});

/** What goes out for an edit. */
function outgoing(
  request: JsonObject,
  target: Partial<Destination> = to(),
  files?: readonly Upload[],
  pages: Readonly<Record<string, Buffer>> = { [ADDRESS]: JPEG },
) {
  return edits.relay.outgoing!(callOf(edits, request, files), destination(target, pages));
}

async function contentsOf(files: readonly Upload[]) {
  return Promise.all(
    files.map(async ({ field, fileName, mediaType, size, read }) => {
      const pieces: Buffer[] = [];
      for await (const piece of read()) pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      assert.equal(bytes.length, size);
      return [field, fileName, mediaType, bytes.toString('hex')];
    }),
  );
}

describe('an image edit request', () => {
  it('counts its images in every member, and none of their bytes as text', () => {
    const long = `data:image/png;base64,${Buffer.concat([PNG, Buffer.alloc(30_000)]).toString('base64')}`;
    for (const [request, pictures] of [
      [EDIT, 1],
      [{ ...ASKED, image: [ADDRESS, long], mask: long }, 3],
      [{ ...ASKED, images: [{ image_url: long }, { image_url: ADDRESS }], mask: { image_url: long } }, 3],
      [{ model: 'm', input: { messages: [{ content: [{ image: long }, { text: 'x' }] }] } }, 1],
      [{ ...ASKED, images: [long, ADDRESS] }, 2],
    ] as const) {
      const { bounds } = callOf(edits, request);
      assert.equal(bounds.media, pictures);
      assert.ok(bounds.inputBytes < 300, `${bounds.inputBytes} bytes of text`);
    }
    const wordy = { ...EDIT, prompt: 'x'.repeat(20_000), mask: { image_url: long } };
    assert.ok(callOf(edits, wordy).bounds.inputBytes > 20_000, 'and no words for a picture');
  });

  it('accepts one to sixteen images, and one mask', () => {
    const files = (count: number, field = 'image[]') => Array.from({ length: count }, () => uploadOf(field, 'a', PNG));
    assert.equal(callOf(edits, ASKED, files(1, 'image')).bounds.media, 1);
    assert.equal(callOf(edits, ASKED, [...files(16), ...files(1, 'mask')]).bounds.media, 17);
    assert.throws(() => callOf(edits, ASKED, []), refusedFor('image'));
    assert.throws(() => callOf(edits, ASKED, files(17)), refusedFor('image'));
    assert.throws(() => callOf(edits, ASKED, [...files(1), ...files(2, 'mask')]), refusedFor('mask'));
    assert.throws(() => callOf(edits, { ...EDIT, mask: PNG_URL }, files(1, 'mask')), refusedFor('mask'));
  });

  it('is refused with the name of a member that is not an image', () => {
    const text = `data:image/png;base64,${Buffer.from('just a text').toString('base64')}`;
    const content = (image: Json) => ({ messages: [{ role: 'user', content: [{ text: 'x' }, { image }] }] });
    refuses(edits, [
      [ASKED, 'image'],
      [{ ...ASKED, image: 7 }, 'image'],
      [{ ...ASKED, image: 'boat.png' }, 'image'],
      [{ ...ASKED, image: 'file:///etc/passwd' }, 'image'],
      [{ ...ASKED, image: text }, 'image'],
      [{ ...ASKED, image: [] }, 'image'],
      [{ ...ASKED, image: [ADDRESS, text] }, 'image[1]'],
      [{ ...ASKED, images: [{ image_url: 'ftp://x' }] }, 'images[0].image_url'],
      [{ ...ASKED, images: [{ file_id: 'file-1' }] }, 'images[0].file_id'],
      [{ ...EDIT, mask: text }, 'mask'],
      [{ model: 'm', input: { messages: [{ content: [{ text: 'x' }] }] } }, 'input'],
      [{ model: 'm', input: content(text) }, 'input.messages[0].content[1].image'],
      [{ model: 'm', image: ADDRESS, input: content(ADDRESS) }, 'input'],
    ]);
  });

  it('is refused before a vendor is called if a file is not an image', async () => {
    const files = [uploadOf('image', 'a.png', PNG), uploadOf('mask', 'm.png', Buffer.from('nothing'), 'image/png')];
    await assert.rejects(async () => edits.ingress!.measure!(callOf(edits, ASKED, files)), refusedFor('mask'));
    const call = callOf(edits, ASKED, [uploadOf('image', 'a.png', PNG)]);
    assert.equal(await edits.ingress!.measure!(call), call.bounds);
  });

  it('is encoded as a multipart body with file names and types', async () => {
    const mask = uploadOf('mask', 'm.png', PNG, 'image/png');
    const one = await outgoing({ ...ASKED, n: 2, size: '1*1', seed: null }, to(), [
      uploadOf('image[]', 'b.bin', JPEG),
      mask,
    ]);
    assert.equal(one.as, 'form');
    assert.deepEqual(one.fields, { model: 'vendor-name', prompt: 'A red boat', n: 2, size: '1x1' });
    assert.deepEqual(await contentsOf(one.files), [
      ['image', 'b.bin', 'image/jpeg', JPEG.toString('hex')],
      ['mask', 'm.png', 'image/png', PNG.toString('hex')],
    ]);
    const two = await outgoing({ ...ASKED, image: [ADDRESS, PNG_URL], mask: { image_url: PNG_URL } });
    assert.deepEqual(two.fields, { model: 'vendor-name', prompt: 'A red boat' });
    assert.deepEqual(await contentsOf(two.files), [
      ['image[]', 'image.jpeg', 'image/jpeg', JPEG.toString('hex')],
      ['image[]', 'image.png', 'image/png', PNG.toString('hex')],
      ['mask', 'mask.png', 'image/png', PNG.toString('hex')],
    ]);
  });

  it('is encoded as a multipart body if it was structured', async () => {
    const input = { messages: [{ role: 'user', content: [{ image: PNG_URL }, { text: 'Blue' }] }] };
    const { as, fields, files } = await outgoing({ model: 'm', input, parameters: { size: '8*8' } });
    assert.deepEqual([as, fields], ['form', { model: 'vendor-name', prompt: 'Blue', size: '8x8' }]);
    assert.deepEqual(await contentsOf(files), [['image', 'image.png', 'image/png', PNG.toString('hex')]]);
  });

  it('is refused with the name of a URL that does not lead to an image', async () => {
    const pages = { [ADDRESS]: Buffer.from('<html>') };
    await assert.rejects(
      async () => outgoing({ ...ASKED, image: [PNG_URL, ADDRESS] }, to(), undefined, pages),
      refusedFor('image[1]'),
    );
  });

  it('is encoded as JSON with URLs, and with files as data URLs', async () => {
    const json = to({ edits: 'json' });
    const files = [uploadOf('image', 'a.png', PNG), uploadOf('mask', 'm.png', JPEG)];
    assert.deepEqual(await outgoing({ ...ASKED, n: 1 }, json, files), {
      as: 'json',
      fields: {
        ...ASKED,
        model: 'vendor-name',
        n: 1,
        // Their bytes come as the body leaves.
        image: 'data:image/png;base64,(a.png in base64)',
        mask: 'data:image/jpeg;base64,(m.png in base64)',
      },
      files: [],
    });
    const fields = { ...ASKED, image: [ADDRESS, PNG_URL], mask: ADDRESS, seed: 1 };
    assert.deepEqual((await outgoing(fields, json)).fields, { ...fields, model: 'vendor-name' });
    const wrapped = { ...ASKED, images: [{ image_url: ADDRESS }] };
    assert.deepEqual((await outgoing(wrapped, json)).fields, { ...ASKED, model: 'vendor-name', image: ADDRESS });
  });

  it('is encoded in the structured form, with images before text', async () => {
    const structured = to({ form: 'structured' });
    const { fields } = await outgoing({ ...EDIT, mask: PNG_URL, size: '8x8' }, structured);
    assert.deepEqual(fields, {
      model: 'vendor-name',
      input: { messages: [{ role: 'user', content: [{ image: ADDRESS }, { text: 'A red boat' }] }] },
      parameters: { size: '8*8' },
    });
    assert.deepEqual(structured.warnings.serious, ['mask:dropped']);
    const input = { messages: [{ role: 'user', content: [{ image: ADDRESS }, { text: 'Blue' }] }] };
    const same = await outgoing({ model: 'm', input, parameters: { n: 1 } }, to({ form: 'structured' }));
    assert.deepEqual(same.fields, { model: 'vendor-name', input, parameters: { n: 1 } });
  });
});

const GPT_USAGE = {
  input_tokens: 60,
  output_tokens: 272,
  total_tokens: 332,
  input_tokens_details: { text_tokens: 10, image_tokens: 50, cached_tokens: 4 },
};
const GPT_TOKENS: Usage = { ...NO_TOKENS, input: 60, cacheRead: 4, inputImage: 50, output: 272, outputImage: 272 };

function read(body: JsonObject, request: JsonObject = ASKED) {
  return images.relay.answer(scanAnswer(Buffer.from(JSON.stringify(body)))!, callOf(images, request));
}

describe('an image reply', () => {
  it('has its tokens, and its images with size and quality', () => {
    const facts = read({ created: 1, data: [{ b64_json: 'eA==' }], usage: GPT_USAGE, size: '8x8', quality: 'low' });
    const expected = { ...GPT_TOKENS, images: { count: 1, size: '8x8', quality: 'low' } };
    assert.deepEqual([facts?.usage, facts?.textLength(), facts?.error], [expected, 0, undefined]);
  });

  it('counts all billed tokens: those of text, reasoning and vector graphics', () => {
    const usage = { ...GPT_USAGE, output_tokens_details: { image_tokens: 200, text_tokens: 40, reasoning_tokens: 32 } };
    const svg_usage = { input_tokens: 5, output_tokens: 1_000, reasoning_tokens: 100, total_tokens: 1_005, model: 'x' };
    const told = read({ data: [{ b64_json: 'eA==' }], usage, svg_usage })!.usage!;
    assert.deepEqual([told.input, told.output, told.outputImage, told.reasoning], [65, 1_272, 200, 132]);
  });

  it('counts as requested if its vendor reports nothing', () => {
    const request = { ...ASKED, n: 2, size: '1024*1024', quality: 'low' };
    const facts = read({ created: 1, data: [{ url: ADDRESS }, { url: '' }] }, request)!;
    assert.deepEqual(facts.usage?.images, { count: 1, size: '1024x1024', quality: 'low' });
    assert.deepEqual([facts.usage?.output, facts.usage?.outputImage, facts.usage?.estimated], [272, 272, true]);
  });

  it('has an estimated output if its vendor reports the input only', () => {
    const usage = { input_tokens: 12, output_tokens: 0 };
    const told = read({ data: [{ url: ADDRESS }], usage }, { ...ASKED, size: '1024x1024', quality: 'low' })!.usage!;
    assert.deepEqual([told.input, told.output, told.outputImage, told.estimated], [12, 272, 272, true]);
  });

  it('is decoded in the structured form, too', () => {
    const chosen = { output: { choices: [{ message: { content: [{ image: ADDRESS }, { text: 'here' }] } }] } };
    const results = {
      output: { results: [{ url: ADDRESS }, { code: 'X', message: 'no' }] },
      usage: { image_count: 1 },
    };
    for (const body of [chosen, results]) assert.equal(read(body)?.usage?.images?.count, 1);
  });

  it('may be an error of the vendor, or about the request', () => {
    assert.deepEqual(read({ error: { message: 'It burns.', code: 'fire' } })?.error, {
      message: 'It burns.',
      code: 'fire',
    });
    const refused = { message: 'Not that.', code: 'DataInspectionFailed', refused: true };
    assert.deepEqual(read({ request_id: '1', code: 'DataInspectionFailed', message: 'Not that.' })?.error, refused);
    assert.deepEqual(read({ data: [{ error: { code: 'x', message: 'Each failed.' } }] })?.error, {
      message: 'Each failed.',
      code: 'x',
    });
    const nothing = [{}, { hello: 'world' }, { data: 'x' }, { output: {} }, { data: [] }, { data: [{ url: '' }] }];
    for (const body of nothing) assert.equal(read(body), undefined);
  });
});

/** An answer as its client gets it, and the words about it. */
async function finished(body: JsonObject, request: JsonObject, pages: Readonly<Record<string, Buffer>> = {}) {
  const warnings = collectWarnings({});
  const finishing: Finishing = {
    usage: NO_TOKENS,
    model: 'vendor-name',
    warnings,
    fetch: (url) => destination({}, pages).fetch(url, 'url'),
  };
  const said = scanAnswer(Buffer.from(JSON.stringify(body)))!;
  const bytes = await images.relay.finish!(said, callOf(images, request), finishing);
  return { body: bytes && (JSON.parse(bytes.toString()) as JsonObject), warnings: warnings.all };
}

describe('an image reply encoded for the client', () => {
  const base64 = { ...ASKED, response_format: 'b64_json' };
  const url = { ...ASKED, response_format: 'url' };

  it('is unchanged if it has the requested format, or none was requested', async () => {
    for (const [data, request] of [
      [[{ url: ADDRESS }], ASKED],
      [[{ b64_json: 'eA==' }], ASKED],
      [[{ url: ADDRESS }], url],
      [[{ b64_json: 'eA==', url: '' }], base64],
    ] as const) {
      assert.deepEqual(await finished({ created: 1, data }, request), { body: undefined, warnings: [] });
    }
  });

  it('is fetched if bytes were requested, and remains a URL if that fails', async () => {
    const body = { created: 1, data: [{ url: ADDRESS, revised_prompt: 'A boat' }, { url: PNG_URL }], size: '8x8' };
    assert.deepEqual(await finished(body, base64, { [ADDRESS]: JPEG }), {
      body: {
        created: 1,
        data: [{ revised_prompt: 'A boat', b64_json: JPEG.toString('base64') }, { b64_json: PNG.toString('base64') }],
        size: '8x8',
      },
      warnings: [],
    });
    assert.deepEqual((await finished(body, base64, { [ADDRESS]: Buffer.from('<html>') })).warnings, [
      'response_format:changed',
    ]);
    const failed = await finished(body, base64);
    assert.deepEqual((failed.body!.data as readonly Json[])[0], { url: ADDRESS, revised_prompt: 'A boat' });
    assert.deepEqual(failed.warnings, ['response_format:changed']);
  });

  it('has a data URL of the right type if a URL was requested and the vendor sent bytes', async () => {
    const data = [{ b64_json: JPEG.toString('base64') }];
    assert.deepEqual(await finished({ created: 1, data }, url), {
      body: { created: 1, data: [{ url: `data:image/jpeg;base64,${JPEG.toString('base64')}` }] },
      warnings: ['response_format:changed'],
    });
  });

  it('becomes a plain reply from a structured one, with the missing time', async () => {
    const body = { output: { choices: [{ message: { content: [{ image: ADDRESS }] } }] }, usage: { image_count: 1 } };
    assert.deepEqual((await finished(body, ASKED)).body, { created: NOW, data: [{ url: ADDRESS }] });
    const fetched = await finished(body, base64, { [ADDRESS]: PNG });
    assert.deepEqual(fetched.body, { created: NOW, data: [{ b64_json: PNG.toString('base64') }] });
    assert.deepEqual((await finished({ data: [{ url: ADDRESS }] }, ASKED)).body, {
      data: [{ url: ADDRESS }],
      created: NOW,
    });
  });

  it('becomes stream events if a stream was requested', () => {
    const call = callOf(edits, { ...EDIT, stream: true });
    const data = [{ b64_json: 'eA==' }, { b64_json: 'eQ==' }];
    const body = scanAnswer(Buffer.from(JSON.stringify({ created: 7, data, size: '8x8', usage: GPT_USAGE })))!;
    const type = 'image_edit.completed';
    const first = { type, b64_json: 'eA==', created_at: 7, size: '8x8' };
    const last = { type, b64_json: 'eQ==', created_at: 7, size: '8x8', usage: GPT_USAGE };
    assert.equal(edits.relay.streamed!(body, call), event(first) + event(last));
    assert.equal(edits.relay.streamed!(scanAnswer(Buffer.from('{"data":[]}'))!, call), undefined);
  });
});

function event(value: JsonObject): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

function streamed(events: readonly string[], call: Call) {
  const relay = images.relay.stream!({ hideUsage: false, call, warnings: collectWarnings({}) });
  const kinds: EventKind[] = [];
  const texts: string[] = [];
  for (const each of events) {
    const out: (Buffer | string)[] = [];
    kinds.push(relay.see(Buffer.from(each), out));
    texts.push(out.join(''));
  }
  return { relay, kinds, texts };
}

describe('an image stream', () => {
  const asked = (n: number) => callOf(images, { ...ASKED, stream: true, n, size: '1024x1024', quality: 'low' });
  const partial = event({ type: 'image_generation.partial_image', b64_json: 'eA==', partial_image_index: 0 });
  const complete = event({ type: 'image_generation.completed', b64_json: 'eA==', usage: GPT_USAGE });

  it('is forwarded byte for byte, and ends with the last requested image', () => {
    const { relay, kinds, texts } = streamed([': hello\n\n', partial, complete], asked(1));
    assert.deepEqual(kinds, ['hold', 'pass', 'last']);
    assert.deepEqual(texts, [': hello\n\n', partial, complete]);
    assert.deepEqual(relay.usage(), { ...GPT_TOKENS, images: { count: 1, size: '1024x1024', quality: 'low' } });
  });

  it('holds back the newest image until another event follows, and adds up usage', () => {
    const { relay, kinds, texts } = streamed([partial, complete, partial, complete], asked(3));
    assert.deepEqual(kinds, ['pass', 'hold', 'pass', 'hold']);
    assert.deepEqual(texts, [partial, '', complete + partial, '']);
    const out: (Buffer | string)[] = [];
    assert.equal(relay.close(out), 'untidy');
    assert.equal(out.join(''), complete);
    assert.deepEqual([relay.usage()?.output, relay.usage()?.images?.count], [544, 2]);
  });

  it('ends with the usage event if images are sent one by one', () => {
    const each = event({ type: 'image_generation.partial_succeeded', url: ADDRESS, image_index: 0 });
    const summary = event({ type: 'image_generation.completed', usage: GPT_USAGE });
    const { relay, kinds } = streamed([each, each, summary], asked(2));
    assert.deepEqual(kinds, ['pass', 'pass', 'last']);
    assert.deepEqual([relay.usage()?.output, relay.usage()?.images?.count], [272, 2]);
  });

  it('is an error if the vendor sends one, and broken if it ends without an image', () => {
    for (const error of [
      event({ type: 'error', error: { message: 'It burns.', code: 'fire' } }),
      `data: ${JSON.stringify({ error: { message: 'It burns.', code: 'fire' } })}\n\n`,
      event({ type: 'error', message: 'It burns.', code: 'fire' }),
    ]) {
      const { relay, kinds, texts } = streamed([partial, error], asked(1));
      assert.deepEqual([kinds.at(-1), texts.at(-1)], ['error', error]);
      assert.deepEqual(relay.error(), { message: 'It burns.', code: 'fire' });
    }
    assert.equal(streamed([partial], asked(1)).relay.close([]), 'broken');
    const sum = event({ type: 'image_generation.completed', usage: GPT_USAGE });
    for (const end of ['data: [DONE]\n\n', sum]) assert.deepEqual(streamed([end], asked(1)).kinds, ['hold']);
  });

  it('counts all requested images if the client disconnects, and the delivered ones if the vendor breaks off', () => {
    const { relay } = streamed([partial, complete], asked(3));
    const left = relay.unfinished!('left');
    assert.deepEqual([left?.images?.count, left?.output, left?.input, left?.estimated], [3, 3 * 272, 60, true]);
    const broken = relay.unfinished!('broken');
    assert.deepEqual([broken?.images?.count, broken?.output, broken?.estimated], [1, 272, false]);
    const { relay: none } = streamed([partial], asked(2));
    assert.deepEqual([none.unfinished!('left')?.images?.count, none.unfinished!('left')?.output], [2, 2 * 272]);
    assert.deepEqual(none.unfinished!('broken'), {
      ...NO_TOKENS,
      images: { count: 0, size: '1024x1024', quality: 'low' },
    });
  });
});

describe('image variations', () => {
  it('answer 501, which clients do not retry', async () => {
    const answer = (await variationsRoute.handle({} as never)) as { status: number; body: string; headers: object };
    assert.deepEqual(
      [variationsRoute.method, variationsRoute.access, variationsRoute.takes],
      ['any', 'public', 'none'],
    );
    assert.equal(answer.status, 501);
    const { error } = JSON.parse(answer.body) as { error: Record<string, string> };
    assert.deepEqual([error.type, error.param, error.code], ['gateway_api_error', '', 'api_not_implemented']);
    assert.deepEqual(answer.headers, { 'content-type': 'application/json', 'x-should-retry': 'false' });
  });
});
