/** Channels behind a proxy: calls, tests, passthrough requests and WebSockets go through it, and its password is shown nowhere. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { Catalog } from '../../../core/contracts/catalog.ts';
import { type ConnectProxy, connectProxy } from '../../kit/clients/connect-proxy.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { jsonAnswer, streamAnswer } from '../../kit/vendors/script.ts';

const PASSWORD = 'proxy-canary-0c4f12';

describe('channels with an outgoing proxy', () => {
  let vendor: FakeVendor;
  /** That of the environment, that of one channel, and one that refuses. */
  let usual: ConnectProxy;
  let own: ConnectProxy;
  let refusing: ConnectProxy;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const hosts = { 'vendor.test': vendor.port };
    usual = await connectProxy(hosts);
    own = await connectProxy(hosts, { credentials: `user:${PASSWORD}` });
    refusing = await connectProxy(hosts, { behaviour: 403 });
    const { pipeline } = defaultConfig([]) as { pipeline: string[] };
    const channel = { vendor: 'compatible', url: 'http://vendor.test/v1', key: 'vendor-canary-5f0c9e7d1b' };
    gateway = await startGateway({
      env: {
        http_proxy: usual.url,
        NO_PROXY: 'direct.test',
        OWN_PROXY: own.url.replace('://', `://user:${PASSWORD}@`),
      },
      config: {
        pipeline: [...pipeline, 'passthrough'],
        channels: [
          { ...channel, name: 'usual' },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in from the environment
          { ...channel, name: 'own', proxy: '${OWN_PROXY}' },
          { ...channel, name: 'refused', proxy: refusing.url.replace('://', `://user:${PASSWORD}@`) },
          { ...channel, name: 'none', proxy: 'none' },
          { ...channel, name: 'local', url: vendor.url },
          { name: 'demo', vendor: 'demo' },
        ],
        models: Object.fromEntries(
          ['usual', 'own', 'refused', 'none', 'local', 'demo'].map((name) => [name, { from: [name], free: true }]),
        ),
        passthrough: [
          { prefix: '/v1/files', channel: 'own', free: true },
          { prefix: '/v1/batches', channel: 'refused', free: true },
          { prefix: '/v1/realtime', channel: 'usual', free: true },
        ],
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([vendor, usual, own, refusing].map((each) => each.close()));
  });

  const call = async (model: string, more = {}): Promise<number> => {
    const answer = await gateway.chat({ model, ...more });
    await answer.text();
    return answer.status;
  };
  const reasonOf = (): string => {
    const [{ other }] = gateway.rows('SELECT other FROM usage_record ORDER BY id DESC LIMIT 1') as [{ other: string }];
    return (JSON.parse(other) as { attempts: readonly [{ reason: string }] }).attempts[0].reason;
  };

  it('reach the vendor through the proxy of the environment, streamed or not, in one tunnel', async () => {
    assert.equal(await call('usual'), 200);
    vendor.next(streamAnswer());
    assert.equal(await call('usual', { stream: true }), 200);
    assert.deepEqual(usual.targets, ['vendor.test:80']);
  });

  it('reach it through their own proxy, with its password, for calls, tests and passthrough requests', async () => {
    assert.equal(await call('own'), 200);
    const { ok } = await gateway.host.use(Catalog).probe('own');
    assert.ok(ok);
    const headers = { authorization: `Bearer ${gateway.key}` };
    for (let i = 0; i < 2; i++) {
      vendor.next(jsonAnswer(200, { data: [] }));
      assert.equal((await fetch(`${gateway.url}/v1/files`, { headers })).status, 200);
    }
    // One tunnel for calls and tests, one for passthrough requests.
    assert.deepEqual(own.targets, ['vendor.test:80', 'vendor.test:80']);
    assert.ok(vendor.requests.every(({ headers: sent }) => sent['proxy-authorization'] === undefined));
  });

  it('join a WebSocket through it', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    await once(socket, 'open');
    socket.send('hello');
    const [message] = await once(socket, 'message');
    assert.equal(String(message), 'hello');
    socket.close();
    await once(socket, 'close');
    assert.equal(usual.targets.length, 2);
  });

  it('connect directly with `none`, and to this machine', async () => {
    assert.equal(await call('none'), 502);
    assert.equal(reasonOf(), 'the host name is unknown');
    assert.equal(await call('local'), 200);
    assert.equal(await call('demo'), 200);
    assert.equal(usual.targets.length, 2);
  });

  it('report which proxy refused a call, and its password nowhere', async () => {
    const reason = `the proxy ${refusing.url} refuses the connection (status 403)`;
    const answer = await gateway.chat({ model: 'refused' });
    assert.equal(answer.status, 502);
    assert.doesNotMatch(await answer.text(), /127\.0\.0\.1/);
    assert.equal(reasonOf(), reason);
    const headers = { authorization: `Bearer ${gateway.key}` };
    assert.equal((await fetch(`${gateway.url}/v1/batches`, { headers })).status, 502);
    assert.equal(reasonOf(), reason);
    const seen = JSON.stringify([gateway.log, gateway.host.use(Catalog).channels()]);
    assert.match(seen, /refuses the connection \(status 403\)/);
    for (const secret of [PASSWORD, Buffer.from(`user:${PASSWORD}`).toString('base64')])
      assert.ok(!seen.includes(secret));
  });

  it('lead plugins through it when they fetch', async () => {
    const before = usual.targets.length;
    vendor.next(jsonAnswer(200, { fetched: true }));
    const answer = await gateway.host.fetch('http://vendor.test/key?x=1', { headers: { 'x-mine': '1' } });
    assert.deepEqual([answer.status, await answer.json()], [200, { fetched: true }]);
    assert.equal(usual.targets.length, before + 1);
    assert.equal(vendor.requests.at(-1)!.headers['x-mine'], '1');
    await assert.rejects(gateway.host.fetch('http://direct.test/'));
    assert.equal(usual.targets.length, before + 1);
  });
});

describe('an outgoing proxy in gateway.yaml', () => {
  it('must be the URL of an HTTP proxy', async () => {
    const channels = [
      { name: 'a', vendor: 'compatible', url: 'http://127.0.0.1:9/v1', key: 'k', proxy: 'socks5://x:1' },
    ];
    await assert.rejects(
      startGateway({ config: { channels, models: {}, upstream: { proxy: 'proxy.example:3128' } } }),
      (error: Error) => {
        assert.match(error.message, /channels\[0\]\.proxy: must be a URL of an HTTP proxy, or `none`/);
        assert.match(error.message, /upstream\.proxy: must be a URL of an HTTP proxy, or `none`/);
        return true;
      },
    );
  });
});
