/** What guard and pseudonyms see of a multipart request: its texts and the names of its files. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { jsonAnswer } from '../../kit/vendors/script.ts';

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('a multipart request that is inspected', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    vendor.always(jsonAnswer(200, { created: 1, data: [{ b64_json: PICTURE.toString('base64') }] }));
    gateway = await startGateway({
      config: {
        pipeline: [...(defaultConfig([]).pipeline as string[]), 'guard', 'pseudonyms'],
        channels: [
          { name: 'main', vendor: 'compatible', url: vendor.url, key: 'vendor-key-of-main', speaks: ['edits'] },
        ],
        models: { painter: { from: ['main'], free: true } },
        guard: {
          rules: [
            { name: 'refused', words: ['Blue Heron'], where: 'input', action: 'refuse' },
            { name: 'hidden', words: ['Grey Owl'], where: 'input', action: 'redact' },
          ],
        },
        pseudonyms: { find: ['email'] },
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await vendor.close();
  });

  async function edit(prompt: string, fileName: string): Promise<number> {
    const form = new FormData();
    form.set('model', 'painter');
    form.set('prompt', prompt);
    form.set('image', new Blob([PICTURE], { type: 'image/png' }), fileName);
    const headers = { authorization: `Bearer ${gateway.key}` };
    const response = await fetch(`${gateway.url}/v1/images/edits`, { method: 'POST', headers, body: form });
    await response.text();
    return response.status;
  }

  it('is refused for a text, and for the name of a file', async () => {
    assert.equal(await edit('Paint a Blue Heron.', 'a.png'), 403);
    assert.equal(await edit('Paint a bird.', 'Blue Heron.png'), 403);
    assert.equal(vendor.requests.length, 0);
  });

  it('reaches the vendor without what is hidden in its texts and in the names of its files', async () => {
    assert.equal(await edit('Paint a Grey Owl for ann@example.com.', 'Grey Owl of bob@example.com.png'), 200);
    const sent = vendor.requests.at(-1)!.body.toString('latin1');
    assert.match(sent, /Paint a \[redacted\]/);
    assert.doesNotMatch(sent, /Grey Owl|ann@example|bob@example/);
    assert.ok(sent.includes(PICTURE.toString('latin1')), 'its bytes are unchanged');
  });
});
