/** The console's files, from a small build that a test makes up, behind proxies of all kinds. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

const SCRIPT = 'console.log("the console");'.repeat(50);
const INDEX =
  '<!doctype html><base href="./" /><meta name="csp-nonce" content="%NONCE%"><script src="./assets/a-1.js"></script>';

describe('the files of the console', () => {
  const dist = mkdtempSync(join(tmpdir(), 'turnpike-test-'));
  let gateway: TestGateway;
  before(async () => {
    mkdirSync(join(dist, 'assets'));
    writeFileSync(join(dist, 'index.html'), INDEX);
    writeFileSync(join(dist, 'assets/a-1.js'), SCRIPT);
    writeFileSync(join(dist, 'icon.svg'), '<svg/>');
    writeFileSync(join(dist, 'assets/a-1.js.br'), brotliCompressSync(SCRIPT));
    writeFileSync(join(dist, 'assets/a-1.js.gz'), gzipSync(SCRIPT));
    writeFileSync(join(dist, '.stamp'), 'not for anybody');
    gateway = await start({ TURNPIKE_CONSOLE_FILES: dist });
  });
  after(async () => {
    await gateway.stop();
    rmSync(dist, { recursive: true });
  });

  function start(env: Record<string, string>): Promise<TestGateway> {
    return startGateway({ config: { pipeline: CONSOLE_PIPELINE, console: PATIENT }, env: { ...ROOT_ENV, ...env } });
  }

  /** Undecoded, as it came: fetch unpacks. */
  function raw(path: string, headers: Record<string, string> = {}) {
    return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
      ask(`${gateway.url}${path}`, { headers }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
        );
      })
        .on('error', reject)
        .end();
    });
  }

  it('are kept for good where their content is in their name, and packed as the browser takes them', async () => {
    const plain = await raw('/console/assets/a-1.js');
    assert.equal(plain.body.toString(), SCRIPT);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(plain.headers['x-content-type-options'], 'nosniff');
    assert.equal(plain.headers.vary, 'accept-encoding');
    const packed = async (accepted: string) => {
      const { headers, body } = await raw('/console/assets/a-1.js', { 'accept-encoding': accepted });
      const coding = String(headers['content-encoding'] ?? 'none');
      const text = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
      assert.equal(text.toString(), SCRIPT, accepted);
      return coding;
    };
    assert.equal(await packed('gzip, deflate, br, zstd'), 'br');
    assert.equal(await packed('gzip'), 'gzip');
    assert.equal(await packed('br;q=0, gzip;q=0.5'), 'gzip');
    assert.equal(await packed('br;q=0.0'), 'none');
    assert.equal(await packed('zebra'), 'none');
    assert.equal(await packed('BR'), 'br');
    assert.equal(await packed('gzip;q=1, br;q=0.5'), 'gzip');
    assert.equal(await packed('*'), 'br');
    assert.equal(await packed('identity, br;q=0.5'), 'none');
  });

  it('are not sent again to a browser that has them', async () => {
    const first = await raw('/console/icon.svg');
    assert.equal(first.headers['cache-control'], 'no-cache');
    const tag = String(first.headers.etag);
    const again = await raw('/console/icon.svg', { 'if-none-match': tag });
    assert.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, tag]);
    assert.equal((await raw('/console/icon.svg', { 'if-none-match': '"other"' })).status, 200);
  });

  it('have one page for every address below, which runs no script but ours', async () => {
    for (const path of ['/console/', '/console/keys', '/console/logs?model=a']) {
      const { status, headers, body } = await raw(path);
      assert.equal(status, 200, path);
      assert.match(body.toString(), /<base href="\.\/" \/>/);
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /default-src 'none'; script-src 'self';/);
      assert.doesNotMatch(policy, /unsafe|https?:/);
      assert.match(policy, /; form-action 'self'(;|$)/, 'forms go nowhere else [T-CSP-01]');
      const [, nonce = ''] = /'nonce-([^']+)'/.exec(policy) ?? [];
      assert.ok(body.includes(`content="${nonce}"`) && nonce.length === 24, 'the page must know its nonce');
      assert.match(String(headers['cache-control']), /no-cache/);
    }
    const nonces = await Promise.all([raw('/console/'), raw('/console/')]);
    assert.notEqual(nonces[0].body.toString(), nonces[1].body.toString());
  });

  it('say how far up their folder is, so that any path may lie before it', async () => {
    assert.match((await raw('/console/users/7')).body.toString(), /<base href="\.\.\/" \/>/);
    assert.match((await raw('/console/users/7/keys')).body.toString(), /<base href="\.\.\/\.\.\/" \/>/);
    for (const path of ['/', '/login', '/console']) {
      const { status, headers } = await raw(path);
      assert.equal(`${status} ${headers.location}`, '302 console/', path);
    }
    assert.equal((await raw('/console?a=b')).headers.location, 'console/?a=b');
  });

  it('are found through a proxy that puts the gateway below a path and speaks https', async () => {
    const proxy = createServer((from, to) => {
      const path = (from.url ?? '').replace(/^\/some\/where/, '');
      const onward = ask(
        `${gateway.url}${path}`,
        { headers: { ...from.headers, 'x-forwarded-proto': 'https' } },
        (answer) => {
          to.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(to);
        },
      );
      from.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    try {
      const begin = await fetch(`http://127.0.0.1:${port}/some/where/`);
      assert.equal(new URL(begin.url).pathname, '/some/where/console/');
      const deep = new URL(`http://127.0.0.1:${port}/some/where/console/users/7`);
      const html = await (await fetch(deep)).text();
      const [, base = ''] = /<base href="([^"]+)"/.exec(html) ?? [];
      const [, script = ''] = /<script src="([^"]+)"/.exec(html) ?? [];
      assert.equal(await (await fetch(new URL(script, new URL(base, deep)))).text(), SCRIPT);
    } finally {
      proxy.close();
      proxy.closeAllConnections();
    }
  });

  it('are no others than those that were built', async () => {
    for (const path of [
      '/console/.stamp',
      '/console/assets/a-1.js.br',
      '/console/assets/',
      '/console/assets/gone-2.js',
      '/console/../package.json',
      '/console/%2e%2e/package.json',
      '/console/..%2fpackage.json',
      '/console/constructor.js',
      '/console/favicon.ico',
    ]) {
      const { status, body } = await raw(path);
      assert.equal(status, 404, path);
      assert.doesNotMatch(body.toString(), /<base|devDependencies|not for anybody/, path);
    }
  });

  it('say what to do where there are none', async () => {
    const without = await start({ TURNPIKE_CONSOLE_FILES: join(dist, 'nothing') });
    try {
      const answer = await fetch(`${without.url}/console/keys`);
      assert.equal(answer.status, 503);
      assert.match(await answer.text(), /npm run build:console/);
    } finally {
      await without.stop();
    }
  });
});
