/** Images at the vendor `gemini`: requests and answers, there and back. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPlacing } from '../../../core/bytes/body-stream.ts';
import type { Call, Offer, Upload } from '../../../core/contracts/formats/call.ts';
import type { Channel } from '../../../core/contracts/formats/channel.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { layQuirks, quirksOfModel, USUAL } from '../../../core/translation/quirks/quirks.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { edits, images } from '../../../plugins/vendors/gemini/images.ts';
import { MODEL_QUIRKS } from '../../../plugins/vendors/gemini/quirks.ts';
import { ANY_CALL, uploadOf } from '../../kit/gateway/calls.ts';

const PNG = Buffer.from('89504e470d0a1a0a0001', 'hex');
const GEMINI = 'gemini-2.5-flash-image';
const GEMINI_3 = 'gemini-3-pro-image-preview';
const IMAGEN = 'imagen-4.0-generate-001';

function offerOf(model: string): Offer {
  return { channel: {} as Channel, model, style: 'images', quirks: USUAL, strict: false, priced: model };
}

/** What the vendor is asked, and the words about it. */
async function asked(model: string, body: JsonObject, files: readonly Upload[] = []) {
  const warnings = collectWarnings({});
  const { base64, bodyStream } = createPlacing();
  const sent = bodyStream(images.request({ model, ...body }, offerOf(model), { list: files, base64 }, warnings));
  const pieces: Buffer[] = [];
  if (Buffer.isBuffer(sent)) pieces.push(sent);
  else for await (const piece of sent.read()) pieces.push(piece);
  return { body: JSON.parse(Buffer.concat(pieces).toString()) as JsonObject, warnings: warnings.all };
}

function answered(body: JsonObject): JsonObject | undefined {
  return images.answer!(body, offerOf(GEMINI), ANY_CALL);
}

describe('gemini asked for images', () => {
  it('is asked where each family draws', () => {
    const path = images.path as (call: Call, offer: Offer, caller: never) => string;
    assert.equal(path(ANY_CALL, offerOf(GEMINI), {} as never), `/models/${GEMINI}:generateContent`);
    assert.equal(path(ANY_CALL, offerOf(IMAGEN), {} as never), `/models/${IMAGEN}:predict`);
    assert.deepEqual(edits.models, ['gemini-*image*']);
    assert.deepEqual(images.models, ['gemini-*image*', 'imagen-*']);
  });

  it('makes one image, or four where it is Imagen, and always gives the bytes', () => {
    for (const [model, max] of [
      [GEMINI, 1],
      [IMAGEN, 4],
    ] as const) {
      const { images: quirks } = layQuirks(...quirksOfModel(MODEL_QUIRKS, model));
      assert.deepEqual([quirks.max, quirks.answers], [max, 'b64_json']);
    }
  });

  it('is told the prompt, and the shape that comes nearest to the size', async () => {
    assert.deepEqual((await asked(GEMINI, { prompt: 'A boat' })).body, {
      contents: [{ role: 'user', parts: [{ text: 'A boat' }] }],
      generationConfig: { responseModalities: ['IMAGE'] },
    });
    const shapes: readonly (readonly [size: string, config: JsonObject, warnings: readonly string[]])[] = [
      ['1024x1024', { aspectRatio: '1:1' }, []],
      ['1536x1024', { aspectRatio: '3:2' }, ['size:changed']],
      ['1792x1024', { aspectRatio: '16:9' }, ['size:changed']],
      ['512x512', { aspectRatio: '1:1' }, ['size:changed']],
      ['auto', {}, []],
    ];
    for (const [size, imageConfig, warnings] of shapes) {
      const said = await asked(GEMINI, { prompt: 'x', size });
      const { generationConfig } = said.body as { generationConfig: JsonObject };
      assert.deepEqual([generationConfig.imageConfig ?? {}, said.warnings], [imageConfig, warnings], size);
    }
    for (const [size, imageSize] of [
      ['2048x2048', '2K'],
      ['4096x2304', '4K'],
      ['1024x1024', undefined],
    ] as const) {
      const { body } = await asked(GEMINI_3, { prompt: 'x', size });
      const { imageConfig } = body.generationConfig as { imageConfig: JsonObject };
      assert.equal(imageConfig.imageSize, imageSize);
    }
  });

  it('is told that a word may stand beside the image where it draws none without', async () => {
    const { body, warnings } = await asked('gemini-2.0-flash-preview-image-generation', { prompt: 'x', size: '8x8' });
    assert.deepEqual(body.generationConfig, { responseModalities: ['TEXT', 'IMAGE'] });
    assert.deepEqual(warnings, ['size:dropped']);
  });

  it('gets the pictures to be edited inside, their bytes in base64, and no mask', async () => {
    const files = [
      uploadOf('image[]', 'a.png', PNG, 'image/png'),
      uploadOf('image[]', 'b.png', PNG.subarray(0, 9), 'image/webp'),
      uploadOf('mask', 'm.png', PNG, 'image/png'),
    ];
    const { body, warnings } = await asked(GEMINI, { prompt: 'Blue', quality: 'high', user: 'u', n: 1 }, files);
    assert.deepEqual((body.contents as readonly JsonObject[])[0]!.parts, [
      { inlineData: { mimeType: 'image/png', data: PNG.toString('base64') } },
      { inlineData: { mimeType: 'image/webp', data: PNG.subarray(0, 9).toString('base64') } },
      { text: 'Blue' },
    ]);
    assert.deepEqual(warnings, ['quality:dropped', 'user:dropped', 'mask:dropped']);
  });

  it('is asked for several at once where it is Imagen', async () => {
    assert.deepEqual((await asked(IMAGEN, { prompt: 'A boat', n: 3, size: '1024x1365', stream: true })).body, {
      instances: [{ prompt: 'A boat' }],
      parameters: { sampleCount: 3, aspectRatio: '3:4' },
    });
    assert.deepEqual((await asked(IMAGEN, { prompt: 'A boat', size: '2048x2048' })).body.parameters, {
      sampleCount: 1,
      aspectRatio: '1:1',
      sampleImageSize: '2K',
    });
    const fast = await asked('imagen-4.0-fast-generate-001', { prompt: 'A boat', size: '2048x2048' });
    assert.deepEqual(fast.body.parameters, { sampleCount: 1, aspectRatio: '1:1' });
    assert.deepEqual(fast.warnings, ['size:changed']);
  });
});

describe("gemini's answer with images", () => {
  it('holds what was drawn, not the drafts, and the tokens of each kind', () => {
    const parts = [
      { text: 'Here it is.' },
      { thought: true, inlineData: { mimeType: 'image/png', data: 'ZHJhZnQ=' } },
      { inlineData: { mimeType: 'image/png', data: 'aW1hZ2U=' } },
    ];
    const usageMetadata = {
      promptTokenCount: 270,
      candidatesTokenCount: 1_300,
      thoughtsTokenCount: 200,
      totalTokenCount: 1_770,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 12 },
        { modality: 'IMAGE', tokenCount: 258 },
      ],
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    };
    assert.deepEqual(answered({ candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata }), {
      data: [{ b64_json: 'aW1hZ2U=' }],
      usage: {
        input_tokens: 270,
        output_tokens: 1_500,
        total_tokens: 1_770,
        input_tokens_details: { text_tokens: 12, image_tokens: 258, cached_tokens: 0 },
        output_tokens_details: { text_tokens: 10, image_tokens: 1_290, reasoning_tokens: 200 },
      },
    });
  });

  it("holds Imagen's images, without those that were held back", () => {
    const predictions = [{ bytesBase64Encoded: 'YQ==', mimeType: 'image/png' }, { raiFilteredReason: 'no' }];
    assert.deepEqual(answered({ predictions }), { data: [{ b64_json: 'YQ==' }] });
  });

  it('says why there is no image: because of what was asked for, or for no such reason', () => {
    const cases: readonly (readonly [answer: JsonObject, code: string, words: RegExp])[] = [
      [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'content_policy_violation', /PROHIBITED_CONTENT/],
      [
        { candidates: [{ finishReason: 'IMAGE_SAFETY', finishMessage: 'Too much.' }] },
        'content_policy_violation',
        /IMAGE_SAFETY.*Too much/,
      ],
      [{ predictions: [{ raiFilteredReason: 'Faces.' }] }, 'content_policy_violation', /Faces/],
      [{}, 'content_policy_violation', /SAFETY/],
      [{ candidates: [{ finishReason: 'STOP', content: { parts: [{ text: 'No.' }] } }] }, 'no_image', /no image/],
    ];
    for (const [answer, code, words] of cases) {
      const { error } = answered(answer) as { error: { code: string; message: string } };
      assert.equal(error.code, code);
      assert.match(error.message, words);
    }
    assert.deepEqual(answered({ error: { message: 'It burns.', status: 'INTERNAL' } }), {
      error: { message: 'It burns.', code: 'INTERNAL' },
    });
    assert.equal(answered({ hello: 'world' }), undefined);
  });
});
