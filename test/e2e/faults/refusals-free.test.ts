/** Refusals of a vendor of the messages style, which bills those before any output as nothing, whatever it reports. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, jsonAnswer, type Script } from '../../kit/vendors/script.ts';

const USAGE = { input_tokens: 106, output_tokens: 1 };

function message(content: readonly JsonObject[]): JsonObject {
  const about = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
  return { ...about, content, stop_reason: 'refusal', usage: USAGE };
}

const event = (type: string, more: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

function streamed(text: string | undefined): Script {
  const { stop_reason: reason, ...started } = message([]);
  const content_block = { type: 'text', text: '' };
  return eventStream([
    event('message_start', { message: { ...started, stop_reason: null } }),
    ...(text === undefined
      ? []
      : [
          event('content_block_start', { index: 0, content_block }),
          event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
          event('content_block_stop', { index: 0 }),
        ]),
    event('message_delta', { delta: { stop_reason: reason!, stop_sequence: null }, usage: USAGE }),
    event('message_stop', {}),
  ]);
}

describe('a refusal', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const pipeline = ['accounts', 'auth', 'counters', 'keys', 'limits', 'prices', 'quota', 'models', 'styles'];
    gateway = await startGateway({
      config: {
        pipeline: [...pipeline, 'vendors/anthropic', 'log'],
        channels: [{ name: 'main', vendor: 'anthropic', url: vendor.url, key: VENDOR_KEY }],
        models: { m: { from: [{ main: 'claude-sonnet-4-5' }], price: { input: 1, output: 2 } } },
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await vendor?.close();
  });

  async function charge(path: string, stream: boolean, script: Script): Promise<bigint> {
    vendor.next(script);
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        authorization: `Bearer ${gateway.key}`,
      },
      body: JSON.stringify({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], stream }),
    });
    assert.equal(response.status, 200, await response.text());
    return usageRecords(gateway.storeFile).at(-1)!.charged;
  }

  for (const path of ['/v1/messages', '/v1/chat/completions']) {
    it(`before any output costs nothing, and behind some what was used: ${path}`, async () => {
      assert.equal(await charge(path, false, jsonAnswer(200, message([]))), 0n);
      assert.equal(await charge(path, true, streamed(undefined)), 0n);
      const said = [{ type: 'text', text: 'I' }];
      const whole = await charge(path, false, jsonAnswer(200, message(said)));
      assert.ok(whole > 0n);
      assert.equal(await charge(path, true, streamed('I')), whole);
    });
  }
});
