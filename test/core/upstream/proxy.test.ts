/** Calls through an HTTP proxy: tunnels that are reused, and what a call that gets none reports. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createOutgoingProxies, type OutgoingProxy } from '../../../core/upstream/proxy.ts';
import type { Upstream, UpstreamListener, UpstreamRequest } from '../../../core/upstream/upstream.ts';
import { CERTIFICATES, LOCALHOST } from '../../kit/clients/certificates.ts';
import { type ConnectProxy, connectProxy } from '../../kit/clients/connect-proxy.ts';
import { closedPort, type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { bytes, cutAt, fin, head, hold, jsonAnswer, sized } from '../../kit/vendors/script.ts';
import { type Ending, open, send as sendTo, type Told } from './told.ts';

const PASSWORD = 'pass-canary 1';
const proxyAt = (url: string): OutgoingProxy =>
  createOutgoingProxies(undefined, {}, assert.fail).for(new URL('http://vendor.test'), url)!;
/** Waits for a condition that no event announces. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await setImmediate();
};
const withUser = (url: string): string => url.replace('://', `://user:${encodeURIComponent(PASSWORD)}@`);

describe('the client with a proxy', () => {
  let vendor: FakeVendor;
  let upstream: Upstream;
  let proxy: ConnectProxy;
  const proxies: ConnectProxy[] = [];
  const started = async (...given: Parameters<typeof connectProxy>): Promise<ConnectProxy> => {
    const made = await connectProxy(...given);
    proxies.push(made);
    return made;
  };
  before(async () => {
    vendor = await fakeVendor(jsonAnswer(200, { ok: true }));
  });
  after(() => vendor.close());
  beforeEach(async () => {
    upstream = open();
    proxy = await started({ 'vendor.test': vendor.port });
  });
  afterEach(async () => {
    await upstream.close();
    vendor.forget();
    await vendor.waitFor(() => vendor.openConnections === 0);
    await Promise.all(proxies.splice(0).map((each) => each.close()));
  });

  function send(through: string, more: Partial<UpstreamRequest> = {}, on: Partial<UpstreamListener> = {}): Told {
    return sendTo(upstream, { origin: 'http://vendor.test', proxy: proxyAt(through), ...more }, on);
  }
  const refused = (reason: string) => ({ kind: 'connect', reason, stale: false, unsent: true });

  it('opens one tunnel to a host, and reuses it', async () => {
    for (let i = 0; i < 3; i++) {
      const told = send(proxy.url, { body: Buffer.alloc(200_000, 'x') });
      assert.equal(await told.ended, 'end');
      assert.deepEqual([told.status, told.body], [200, '{"ok":true}']);
      assert.equal(vendor.requests.at(-1)!.body.length, 200_000);
    }
    assert.deepEqual(proxy.targets, ['vendor.test:80']);
    assert.equal(proxy.otherRequests, 0);
    assert.equal(vendor.requests.at(-1)!.headers.host, 'vendor.test');
    assert.equal(new Set(vendor.requests.slice(-3).map(({ connection }) => connection)).size, 1);
  });

  it('does not use the tunnel of another proxy, nor a direct connection', async () => {
    const other = await started({ 'vendor.test': vendor.port });
    const origin = `http://127.0.0.1:${vendor.port}`;
    const local = await started({ '127.0.0.1': vendor.port });
    await send(proxy.url).ended;
    await send(other.url).ended;
    await sendTo(upstream, { origin }).ended;
    await send(local.url, { origin }).ended;
    assert.deepEqual(
      [proxy, other, local].map(({ targets }) => targets),
      [['vendor.test:80'], ['vendor.test:80'], [`127.0.0.1:${vendor.port}`]],
    );
    assert.equal(new Set(vendor.requests.slice(-4).map(({ connection }) => connection)).size, 4);
  });

  it('delivers a large answer in order, while the call is paused in between', async () => {
    const text = Array.from({ length: 60_000 }, (_, i) => `${i} `).join('');
    vendor.next(sized(200, 'text/plain', text));
    const told: Told = send(
      proxy.url,
      {},
      {
        head() {
          told.call.pause();
          void setImmediate().then(() => told.call.resume());
        },
      },
    );
    assert.equal(await told.ended, 'end');
    assert.equal(told.body, text);
  });

  it('delivers an answer that ends with its connection', async () => {
    vendor.next([head(200), bytes('whole'), fin()]);
    const told = send(proxy.url);
    assert.deepEqual([await told.ended, told.body], ['end', 'whole']);
  });

  it('reports an answer that breaks off', async () => {
    vendor.next(cutAt(sized(200, 'text/plain', 'hello'), 30, fin()));
    const ending = await send(proxy.url).ended;
    assert.ok(typeof ending === 'object');
    assert.equal(ending.kind, 'broken');
  });

  it('sends the user and the password to the proxy alone', async () => {
    const strict = await started({ 'vendor.test': vendor.port }, { credentials: `user:${PASSWORD}` });
    assert.equal(await send(withUser(strict.url)).ended, 'end');
    assert.equal(strict.authorizations.length, 1);
    const { rawHeaders } = vendor.requests.at(-1)!;
    assert.ok(rawHeaders.every(([name]) => name.toLowerCase() !== 'proxy-authorization'));
  });

  it('names the proxy that requires a password, or does not accept it, and not the password', async () => {
    const strict = await started({}, { credentials: 'another:one' });
    const name = `the proxy ${strict.url}`;
    assert.deepEqual(await send(strict.url).ended, refused(`${name} requires a user and a password (status 407)`));
    const wrong = await send(withUser(strict.url)).ended;
    assert.deepEqual(wrong, refused(`${name} does not accept the user and password (status 407)`));
  });

  it('names the proxy that refuses, does not exist, or does not speak HTTP', async () => {
    const refusing = await started({}, { behaviour: 403 });
    const nowhere = `http://127.0.0.1:${await closedPort()}`;
    const cases: readonly (readonly [string, string])[] = [
      [refusing.url, `the proxy ${refusing.url} refuses the connection (status 403)`],
      [nowhere, `the proxy ${nowhere} cannot be used: the connection was refused`],
    ];
    for (const [url, reason] of cases) assert.deepEqual(await send(url).ended, refused(reason));
    vendor.next([bytes('SSH-2.0-none\r\n\r\n'), fin()]);
    const odd = await send(vendor.url.replace('/v1', '')).ended;
    assert.ok(typeof odd === 'object');
    assert.equal(odd.kind, 'connect');
    assert.match(odd.reason, new RegExp(`^the proxy http://127.0.0.1:${vendor.port} cannot be used`));
  });

  it('gives up a proxy that does not answer in time', async () => {
    const silent = await started({}, { behaviour: 'silent' });
    const ending = await send(silent.url, { connectMs: 100 }).ended;
    assert.deepEqual(ending, refused(`the connection took too long through the proxy ${silent.url}`));
  });

  it('leaves no connection to a proxy that has not answered when a call is aborted, or the client is closed', async () => {
    const silent = await started({}, { behaviour: 'silent' });
    const aborted = send(silent.url);
    await until(() => silent.targets.length === 1);
    aborted.call.abort();
    const closed = send(silent.url, { fresh: true });
    await until(() => silent.targets.length === 2);
    await upstream.close();
    const ending = await closed.ended;
    assert.ok(typeof ending === 'object' && ending.kind === 'connect');
    assert.equal(aborted.endings, 0);
    await until(() => silent.openConnections === 0);
  });

  it('closes the tunnel of a call that is aborted while the vendor answers', async () => {
    vendor.next([head(200, { 'content-length': '5' }), bytes('he'), hold('rest')]);
    const told = send(proxy.url);
    await until(() => told.bytes === 2);
    told.call.abort();
    await until(() => proxy.openConnections === 0 && vendor.openConnections === 0);
    vendor.release('rest');
  });
});

describe('TLS through a proxy', () => {
  const [certificate] = CERTIFICATES;
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-tunnel-'));
  const names: (string | false)[] = [];
  const server = createServer({ cert: certificate.cert, key: certificate.key });
  server.on('secureConnection', (socket: TLSSocket & { servername: string | false }) => names.push(socket.servername));
  server.on('request', (request, response) => {
    if (request.url === '/until-close') response.removeHeader('transfer-encoding');
    request.pipe(response);
  });
  let port = 0;
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    writeFileSync(join(folder, 'ca.pem'), LOCALHOST.cert + certificate.cert);
  });
  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  for (const secure of [false, true]) {
    it(`checks the certificate of the vendor inside the tunnel of a proxy with ${secure ? 'https' : 'http'}`, async () => {
      names.length = 0;
      const proxy = await connectProxy(
        { 'one.test': port, 'other.test': port },
        { secure, credentials: 'user:secret' },
      );
      const urls = ['https://one.test/', 'https://one.test:8443/until-close', 'https://other.test/'];
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', fileURLToPath(new URL('./call-each.ts', import.meta.url)), ...urls],
        {
          env: {
            ...process.env,
            NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
            TEST_PROXY: proxy.url.replace('://', '://user:secret@'),
          },
        },
      );
      await proxy.close();
      const outcomes = JSON.parse(stdout) as { readonly ending: Ending; readonly bytes: number }[];
      assert.deepEqual(
        outcomes.slice(0, 2).map(({ ending, bytes: count }) => [ending, count]),
        [
          ['end', 1 << 20],
          ['end', 1 << 20],
        ],
      );
      const { ending } = outcomes[2]!;
      assert.ok(typeof ending === 'object');
      assert.match(ending.reason, /ERR_TLS_CERT_ALTNAME_INVALID/);
      assert.deepEqual(proxy.targets, ['one.test:443', 'one.test:8443', 'other.test:443']);
      // The client refuses the third certificate before the server takes the connection for established.
      assert.deepEqual(names, ['one.test', 'one.test']);
    });
  }
});
