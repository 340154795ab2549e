/** A vendor whose token was revoked before its end: its request is signed again and repeated, once. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Channel } from '../../../core/contracts/formats/channel.ts';
import { definePlugin } from '../../../core/plugin.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

describe('a vendor that signs and answers 401', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let tokens = 0;
  /** Whether each signature was asked for because the last one was refused. */
  const asked: boolean[] = [];
  const dialect = { chat: { path: '/chat/completions', headers: () => ({}) } };
  const plugin = definePlugin({
    name: 'tokens',
    api: 2,
    create: () => ({
      vendors: [
        {
          name: 'renewed',
          speaks: dialect,
          sign({ refused }) {
            asked.push(refused);
            if (refused) tokens++;
            return { authorization: `Bearer token-${tokens}` };
          },
        },
        { name: 'kept', speaks: dialect, sign: () => ({ authorization: 'Bearer always' }) },
      ],
    }),
  });
  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({
      plugins: [plugin],
      config: {
        channels: ['renewed', 'kept', 'also'].map((name) => ({
          name,
          vendor: name === 'kept' ? 'kept' : 'renewed',
          url: vendor.url,
          key: 'k',
        })),
        models: Object.fromEntries(['renewed', 'kept', 'also'].map((name) => [name, { from: [name], free: true }])),
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await vendor?.close();
  });

  async function call(model: string): Promise<{ readonly status: number; readonly sent: readonly unknown[] }> {
    const { length } = vendor.requests;
    const answer = await gateway.chat({ model });
    await answer.text();
    return { status: answer.status, sent: vendor.requests.slice(length).map(({ headers }) => headers.authorization) };
  }

  it('gets the request again with a new token, and its key is not blamed', async () => {
    vendor.next(errorAnswer(401), wholeAnswer());
    assert.deepEqual(await call('renewed'), { status: 200, sent: ['Bearer token-0', 'Bearer token-1'] });
    assert.deepEqual(asked, [false, true]);
    assert.equal(usageRecords(gateway.storeFile).at(-1)!.attempts[0]?.failure, undefined);
    assert.deepEqual(await call('renewed'), { status: 200, sent: ['Bearer token-1'] });
  });

  it('gets it a second time only', async () => {
    vendor.next(errorAnswer(401), errorAnswer(401));
    const { status, sent } = await call('also');
    assert.deepEqual([status, sent.length], [502, 2]);
  });

  it('does not get it again if the signature is the same', async () => {
    vendor.next(errorAnswer(401));
    assert.deepEqual(await call('kept'), { status: 502, sent: ['Bearer always'] });
  });

  it('gets small requests of plugins again, too', async () => {
    vendor.next(errorAnswer(401), jsonAnswer(200, { ok: true }));
    const { length } = vendor.requests;
    const channel = {
      ...{ name: 'renewed', vendor: 'renewed', url: vendor.url, key: 'k', options: {}, timeout: { connectMs: 5_000 } },
    } as unknown as Channel;
    const reply = await gateway.host.ask(channel, { method: 'GET', path: '/models' });
    assert.deepEqual([reply.status, vendor.requests.length - length], [200, 2]);
  });
});
