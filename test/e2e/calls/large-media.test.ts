/** A chat request with a large image or file: it comes to the vendor byte by byte, whichever style that speaks. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer } from '../../kit/vendors/script.ts';

const BYTES = Buffer.alloc(3 * 1_024 * 1_024, Buffer.from(Array.from({ length: 251 }, (_, i) => i)));
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const IMAGE = Buffer.concat([PNG, BYTES]).toString('base64');
const TEXT = 'Mind the gap. '.repeat(200_000);

const MESSAGE: JsonObject = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'of-vendor', content: [{ type: 'text', text: 'Hi' }] },
  ...{ stop_reason: 'end_turn', usage: { input_tokens: 5, output_tokens: 1 } },
};

describe('a chat request with a large image', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const channel = (name: string, style: string, priority = 0) => ({
      ...{ name, vendor: 'compatible', url: vendor.url, key: VENDOR_KEY, speaks: [style], priority },
    });
    gateway = await startGateway({
      vendor,
      config: {
        channels: [channel('main', 'chat'), channel('first', 'messages'), channel('second', 'messages', 1)],
        models: { same: { from: ['main'], free: true }, other: { from: ['first', 'second'], free: true } },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  /** What the vendor got last. */
  async function ask(model: string, part: JsonObject): Promise<{ sent: string; got: Buffer; json: JsonObject }> {
    const sent = JSON.stringify({ model, messages: [{ role: 'user', content: [part] }], max_tokens: 64 });
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: sent,
    });
    assert.equal(answer.status, 200, await answer.text());
    const { body, json } = vendor.requests.at(-1)!;
    return { sent, got: body, json };
  }
  const picture = (data: string): JsonObject => ({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${data}` },
  });
  const firstBlock = (json: JsonObject): Json | undefined =>
    ((json.messages as readonly JsonObject[])[0]!.content as readonly Json[])[0];

  it('comes as it was to a vendor of chat', async () => {
    const { sent, got } = await ask('same', picture(IMAGE));
    assert.ok(got.equals(Buffer.from(sent)), 'other bytes');
  });

  it('comes whole to a vendor of another style, also to the second one that is asked', async () => {
    vendor.next(errorAnswer(500), jsonAnswer(200, MESSAGE));
    const { json } = await ask('other', picture(IMAGE));
    const [failed, served] = vendor.requests.slice(-2);
    for (const request of [failed!.json, json])
      assert.deepEqual(firstBlock(request), {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: IMAGE },
      });
    assert.ok(failed!.body.equals(served!.body), 'other bytes');
  });

  it('comes in the usual alphabet where it was written in that of addresses', async () => {
    vendor.next(jsonAnswer(200, MESSAGE));
    const { json } = await ask('other', picture(IMAGE.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')));
    assert.equal(((firstBlock(json) as JsonObject).source as JsonObject).data, IMAGE);
  });

  it('comes as text where the file is one', async () => {
    vendor.next(jsonAnswer(200, MESSAGE));
    const data = Buffer.from(TEXT).toString('base64');
    const file = { filename: 'gap.txt', file_data: `data:text/plain;base64,${data}` };
    const { json } = await ask('other', { type: 'file', file });
    assert.equal(((firstBlock(json) as JsonObject).source as JsonObject).data, TEXT);
  });
});
