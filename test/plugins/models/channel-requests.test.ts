/** What a channel adds to every request to it: headers, query parameters, the model in its address, another place for its key. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { Catalog } from '../../../core/contracts/catalog.ts';
import type { Json } from '../../../core/contracts/formats/json.ts';
import { Running } from '../../../core/contracts/running.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, streamAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const KEY = 'azure-canary-3f81c2';
const TOKEN = 'header-canary-77aa01';
const WRITTEN = 'written-canary-10dd42';

describe('a channel', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const base = `http://127.0.0.1:${vendor.port}`;
    const { pipeline } = defaultConfig([]) as { pipeline: string[] };
    gateway = await startGateway({
      env: { GATE_ID: TOKEN },
      config: {
        pipeline: [...pipeline, 'passthrough'],
        channels: [
          {
            name: 'plain',
            vendor: 'compatible',
            url: vendor.url,
            key: KEY,
            speaks: ['chat', 'messages'],
            headers: { 'HTTP-Referer': 'https://me.example', 'anthropic-version': '2030-01-01', 'x-empty': '' },
            query: { 'api-version': 'one two', empty: '' },
          },
          {
            name: 'counting',
            vendor: 'openai',
            url: vendor.url,
            key: KEY,
            // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in from the environment
            headers: { 'X-Gate': '${GATE_ID}', 'x-gate-token': WRITTEN, 'User-Agent': 'gate/1' },
            query: { tenant: '7' },
          },
          {
            name: 'azure',
            vendor: 'compatible',
            url: `${base}/openai/deployments/{model}`,
            query: { 'api-version': '2024-10-21' },
            auth: { header: 'api-key' },
            key: KEY,
            speaks: ['chat', 'embeddings', 'transcription'],
          },
          { name: 'worded', vendor: 'compatible', url: vendor.url, key: KEY, auth: { scheme: 'Token' } },
          {
            name: 'elsewhere',
            vendor: 'compatible',
            url: vendor.url,
            key: KEY,
            speaks: ['messages'],
            auth: { header: 'X-Key', scheme: 'Key' },
            headers: { authorization: 'Basic Z2F0ZTpnYXRl' },
          },
        ],
        models: {
          plain: { from: ['plain'], free: true },
          counting: { from: ['counting'], free: true },
          'azure-gpt': { from: [{ azure: 'team/gpt 5' }], free: true },
          'dep-*': { from: [{ azure: 'eu-*' }], free: true },
          worded: { from: ['worded'], free: true },
          elsewhere: { from: ['elsewhere'], free: true },
        },
        passthrough: [
          { prefix: '/v1/files', channel: 'counting', free: true },
          { prefix: '/v1/realtime', channel: 'plain', free: true },
        ],
      },
    });
  });
  afterEach(() => vendor.forget());
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const bearer = () => ({ authorization: `Bearer ${gateway.key}` });
  const post = (path: string, body: Record<string, Json>): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { ...bearer(), 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    });
  const messages = [{ role: 'user', content: 'Hi' }];
  const last = (): VendorRequest => vendor.requests.at(-1) ?? assert.fail('there was no request');
  const times = (name: string): number => last().rawHeaders.filter(([each]) => each.toLowerCase() === name).length;

  it('sends its headers and query parameters with a call, and none that is empty', async () => {
    vendor.next(wholeAnswer());
    assert.equal((await gateway.chat({ model: 'plain' })).status, 200);
    const { path, headers } = last();
    assert.equal(path, '/v1/chat/completions?api-version=one%20two');
    assert.equal(headers['http-referer'], 'https://me.example');
    assert.equal(headers.authorization, `Bearer ${KEY}`);
    assert.ok(!('x-empty' in headers));
  });

  it("replaces the vendor's headers of the same name, and sends none twice", async () => {
    vendor.next(errorAnswer(400));
    await post('/v1/messages', { model: 'plain', max_tokens: 9, messages });
    assert.equal(last().headers['anthropic-version'], '2030-01-01');
    assert.equal(times('anthropic-version'), 1);
    vendor.next(errorAnswer(400));
    await gateway.chat({ model: 'counting' });
    assert.equal(last().headers['user-agent'], 'gate/1');
    assert.equal(times('user-agent'), 1);
  });

  it('sends them with questions beside calls', async () => {
    vendor.next(jsonAnswer(200, { input_tokens: 5 }));
    const counted = await post('/v1/messages/count_tokens', { model: 'counting', messages });
    assert.deepEqual(await counted.json(), { input_tokens: 5 });
    assert.equal(last().path, '/v1/responses/input_tokens?tenant=7');
    assert.equal(last().headers['x-gate'], TOKEN);
    assert.equal(last().headers['user-agent'], 'gate/1');
  });

  it("sends them on passthrough routes, where its query parameters replace the client's", async () => {
    vendor.next(jsonAnswer(200, {}));
    await fetch(`${gateway.url}/v1/files?limit=3&tenant=8`, { headers: bearer() });
    assert.equal(last().path, '/v1/files?limit=3&tenant=7');
    assert.deepEqual([last().headers['x-gate'], last().headers['user-agent']], [TOKEN, 'gate/1']);
    vendor.next(jsonAnswer(200, {}));
    await fetch(`${gateway.url}/v1/files`, { method: 'POST', headers: bearer(), body: 'hello' });
    assert.deepEqual(
      [last().path, last().body.toString(), last().headers['x-gate']],
      ['/v1/files?tenant=7', 'hello', TOKEN],
    );
  });

  it('sends them with websockets', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?model=m`, { headers: bearer() });
    await once(socket, 'open');
    assert.equal(last().path, '/v1/realtime?model=m&api-version=one%20two');
    assert.equal(last().headers['http-referer'], 'https://me.example');
    socket.close();
    await once(socket, 'close');
  });

  it('reaches deployments whose address has the model, without code (Azure)', async () => {
    vendor.next(wholeAnswer(), streamAnswer());
    assert.equal((await gateway.chat({ model: 'azure-gpt' })).status, 200);
    assert.equal(last().path, '/openai/deployments/team%2Fgpt%205/chat/completions?api-version=2024-10-21');
    assert.equal(last().headers['api-key'], KEY);
    assert.ok(!('authorization' in last().headers));
    assert.match(await (await gateway.chat({ model: 'azure-gpt', stream: true })).text(), /\[DONE\]/);

    vendor.next(
      jsonAnswer(200, { object: 'list', data: [], model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } }),
    );
    await post('/v1/embeddings', { model: 'dep-small', input: 'a' });
    assert.equal(last().path, '/openai/deployments/eu-small/embeddings?api-version=2024-10-21');
    // Another model of the channel is not sent to the address of the one before.
    await post('/v1/embeddings', { model: 'dep-large', input: 'a' });
    assert.equal(last().path, '/openai/deployments/eu-large/embeddings?api-version=2024-10-21');

    const form = new FormData();
    form.set('model', 'azure-gpt');
    form.set('file', new Blob(['sound']), 'a.mp3');
    await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers: bearer(), body: form });
    assert.equal(last().path, '/openai/deployments/team%2Fgpt%205/audio/transcriptions?api-version=2024-10-21');
    assert.equal(last().headers['api-key'], KEY);

    const probe = await gateway.host.use(Catalog).probe('azure');
    assert.equal(last().path.startsWith('/openai/deployments/'), true, probe.message);
  });

  it('sends its key with another scheme, or in another header, and never twice', async () => {
    await gateway.chat({ model: 'worded' });
    assert.equal(last().headers.authorization, `Token ${KEY}`);
    vendor.next(errorAnswer(400));
    await post('/v1/messages', { model: 'elsewhere', max_tokens: 9, messages });
    const { headers } = last();
    // The header that no longer has the key is free for the operator.
    assert.deepEqual(
      [headers['x-key'], headers.authorization, headers['x-api-key']],
      [`Key ${KEY}`, 'Basic Z2F0ZTpnYXRl', undefined],
    );
  });

  it('keeps the secrets in its headers out of the log, the shown configuration and the answers', async () => {
    gateway.host.log.info(`${TOKEN} and ${WRITTEN}`);
    assert.doesNotMatch(gateway.log.join('\n'), /header-canary|written-canary/);
    const { running } = await gateway.host.use(Running).configuration();
    assert.doesNotMatch(running.text, /written-canary/);
    assert.match(running.text, /\$\{GATE_ID\}/);
    vendor.next(errorAnswer(400, `The gate does not know ${WRITTEN}.`));
    const response = await gateway.chat({ model: 'counting' });
    assert.equal(response.status, 400);
    assert.doesNotMatch(await response.text(), /written-canary/);
  });
});

describe('a channel of gateway.yaml', () => {
  const refusalOf = async (fields: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<string> => {
    const { pipeline } = defaultConfig([]) as { pipeline: string[] };
    const channel = { name: 'a', vendor: 'compatible', url: 'http://127.0.0.1:9/v1', key: 'k', ...fields };
    const config = { pipeline: [...pipeline, 'passthrough'], channels: [channel], models: {}, ...more };
    const refused = await startGateway({ config }).then(
      async (gateway) => {
        await gateway.stop();
        return undefined;
      },
      (error: Error) => error,
    );
    return refused?.message ?? assert.fail(`it was accepted: ${JSON.stringify(fields)}`);
  };

  it('has no header that frames a message, concerns one connection, or is the gateway’s own', async () => {
    for (const name of [
      'Content-Length',
      'Host',
      'connection',
      'Transfer-Encoding',
      'content-type',
      'Proxy-Authorization',
      'Sec-WebSocket-Key',
    ]) {
      assert.match(await refusalOf({ headers: { [name]: '1' } }), /headers.*this header cannot be set/, name);
    }
  });

  it('has no header that would forge another', async () => {
    for (const value of ['a\r\nx-evil: 1', 'a\nb', 'a\u0000b', 'Ā']) {
      assert.match(await refusalOf({ headers: { 'x-a': value } }), /must be a value of a header/);
    }
    for (const name of ['x a', 'x:a', 'x\r\na', '', 'é']) {
      assert.match(await refusalOf({ headers: { [name]: '1' } }), /headers/, JSON.stringify(name));
    }
  });

  it('has every header once, and the credential in `key` alone', async () => {
    assert.match(await refusalOf({ headers: { 'x-a': '1', 'X-A': '2' } }), /is listed twice/);
    assert.match(await refusalOf({ headers: { Authorization: 'Bearer x' } }), /write it in `key`/);
    const api = { auth: { header: 'API-Key' }, headers: { 'api-key': 'x' } };
    assert.match(await refusalOf(api), /write it in `key`/);
  });

  it('names nothing but the model in its address, and that in its path', async () => {
    for (const url of [
      'https://{model}.example',
      'https://a.example/{deployment}',
      'https://a.example/{model',
      'https://a.example/?m={model}',
    ]) {
      assert.match(await refusalOf({ url }), /must be a URL without user and query/, url);
    }
  });

  it('serves no passthrough route if its address has the model', async () => {
    const more = { passthrough: [{ prefix: '/v1/files', channel: 'a', free: true }] };
    assert.match(
      await refusalOf({ url: 'https://a.example/{model}' }, more),
      /passthrough\[0\]\.channel: .*has no model/,
    );
  });
});
