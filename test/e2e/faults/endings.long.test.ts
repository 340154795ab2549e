/** How exchanges end where something else than the vendor goes wrong: our own code, or a client that does not read. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { definePlugin, type Style } from '../../../core/plugin.ts';
import { chat } from '../../../plugins/styles/chat/index.ts';
import { rawConnection, requestText } from '../../kit/clients/raw-client.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { CHAT_USAGE, chatEvents } from '../../kit/gateway/fixtures.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream } from '../../kit/vendors/script.ts';

/** Resolves when the condition holds; the test runner's own limit ends a wait in vain. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate();
}

describe('a style with a bug', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  const buggy: Style = {
    ...chat,
    name: 'buggy',
    ingress: { ...chat.ingress!, path: '/v1/buggy' },
    relay: {
      ...chat.relay,
      stream: () => ({
        usage: () => undefined,
        textLength: () => 0,
        error: () => undefined,
        close: () => 'broken',
        fail: () => '',
        see() {
          throw new Error('a bug of ours');
        },
      }),
    },
  };
  const plugin = definePlugin({
    name: 'buggy',
    api: 2,
    create: () => ({
      styles: [buggy],
      vendors: [{ name: 'buggy', speaks: { buggy: { path: '/chat/completions', headers: () => ({}) } } }],
    }),
  });
  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({
      plugins: [plugin],
      config: {
        channels: [{ name: 'main', vendor: 'buggy', url: vendor.url, key: 'vendor-key' }],
        models: { 'test-model': { from: ['main'], price: { input: 1, output: 2 } } },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  it('is told as our failure, logged by name, and not blamed on the vendor', async () => {
    // More often than a channel may fail in a row before it is left alone.
    for (let i = 0; i < 8; i++) {
      const response = await fetch(`${gateway.url}/v1/buggy`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'test-model', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
      });
      assert.equal(response.status, 500);
      assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'internal_error');
    }
    assert.equal(vendor.requests.length, 8);
    assert.equal(
      gateway.log.filter((line) => line.includes('a style failed') && line.includes('a bug of ours')).length,
      8,
    );
  });
});

describe('a route with a bug', () => {
  it('is logged under the request id that the client was told', async () => {
    const gateway = await startGateway({
      plugins: [
        definePlugin({
          name: 'broken',
          api: 2,
          create: () => ({
            routes: [
              {
                method: 'GET',
                path: '/broken',
                access: 'public',
                handle() {
                  throw new Error('a bug of ours');
                },
              },
            ],
          }),
        }),
      ],
    });
    try {
      const response = await fetch(`${gateway.url}/broken`);
      assert.equal(response.status, 500);
      assert.doesNotMatch(await response.text(), /bug of ours/);
      const id = response.headers.get('x-request-id');
      const line = gateway.log.find((text) => text.includes('a bug of ours'));
      assert.equal((JSON.parse(line ?? '{}') as { request?: string }).request, id);
    } finally {
      await gateway.stop();
    }
  });
});

describe('a client that does not read, where streams are read to their end', () => {
  it('is let go of, and the answer is read and written down', async () => {
    const clock: FakeClock = fakeClock();
    const filler = 'x'.repeat(900_000);
    const events = chatEvents({ deltas: Array.from({ length: 24 }, () => filler) });
    const vendor = await fakeVendor(eventStream(events));
    const gateway = await startGateway({
      vendor,
      clock,
      config: { listen: { host: '127.0.0.1', port: 0, onDisconnect: { stream: 'drain' } } },
    });
    const client = await rawConnection(gateway.port);
    client.pause();
    const body = JSON.stringify({
      model: 'free-model', // more text than a hold for a few tokens would cover
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
    await client.write(requestText('POST', '/v1/chat/completions', headers, body));
    await until(() => vendor.requests[0]?.state === 'answering');
    const sent = (): number => vendor.requests[0]?.sentBytes ?? 0;
    // Long after it has stopped reading, and the vendor had to stop writing.
    for (let before = -1; sent() !== before; ) {
      before = sent();
      for (let i = 0; i < 200; i++) await setImmediate();
    }
    // The limit of two minutes passes, and none of those for the vendor, who may go on now.
    for (let i = 0; i < 5; i++) {
      clock.advance(30_000);
      await setImmediate();
    }
    await until(() => usageRecords(gateway.storeFile).length > 0);
    const [record] = usageRecords(gateway.storeFile);
    assert.equal(record?.outcome, 'aborted');
    assert.equal(record?.output, CHAT_USAGE.completion);
    client.abort();
    await gateway.stop();
    await vendor.close();
  });
});

describe('a record of a stream', () => {
  it('says how long its attempt took', async () => {
    const vendor = await fakeVendor();
    const gateway = await startGateway({ vendor });
    const response = await gateway.chat({ stream: true });
    await response.text();
    const [record] = usageRecords(gateway.storeFile);
    const attempts = record?.other.attempts as { ms: number | null }[];
    assert.equal(typeof attempts[0]?.ms, 'number');
    await gateway.stop();
    await vendor.close();
  });
});
