/** The guard around addresses that people want to be told at: the same walls, and no way to see behind them. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type GuardOptions, type Lookup, postGuarded } from '../../../core/outgoing/guarded-fetch.ts';

/** A resolver that answers each question with the next of these. */
function answers(...addresses: readonly (readonly string[])[]): Lookup {
  let asked = 0;
  return (_name, _options, found) => {
    const some = addresses[Math.min(asked++, addresses.length - 1)]!;
    found(
      null,
      some.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

describe('posting to a configured URL', () => {
  let server: Server;
  let port = 0;
  let reached: { readonly request: IncomingMessage; readonly body: string }[] = [];
  let answer: RequestListener = () => {};
  before(async () => {
    server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      reached.push({ request, body });
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  const options = (more: GuardOptions = {}): GuardOptions => ({
    anyPort: true,
    isPublic: (address) => address === '127.0.0.1',
    lookup: answers(['127.0.0.1']),
    ...more,
  });
  const serve = (listener: RequestListener): void => {
    reached = [];
    answer = listener;
  };
  const at = (path: string, host = 'a.example'): string => `http://${host}:${port}${path}`;

  it('sends the body unchanged, and returns the status only', async () => {
    serve((_request, response) => response.writeHead(202, { 'x-secret': 'inside' }).end('a secret page'));
    const status = await postGuarded(
      at('/hook?a=b'),
      '{"é":1}',
      { 'content-type': 'application/json', 'x-a': 'b' },
      options(),
    );
    assert.equal(status, 202);
    const [{ request, body }] = reached as [(typeof reached)[number]];
    assert.equal(body, '{"é":1}');
    assert.equal(`${request.method} ${request.url}`, 'POST /hook?a=b');
    assert.equal(request.headers.host, `a.example:${port}`);
    assert.equal(request.headers['content-type'], 'application/json');
    assert.equal(request.headers['x-a'], 'b');
    assert.equal(request.headers['user-agent'], 'turnpike');
    assert.equal(request.headers['content-length'], '8');
  });

  it('refuses every notation of an internal address [T-SSRF-02]', async () => {
    serve((_request, response) => response.end());
    for (const url of [
      'http://127.0.0.1/',
      `http://127.0.0.1:${port}/`,
      'http://2130706433/',
      'http://0x7f.1/',
      'http://0177.0.0.1/',
      'http://127.1/',
      'http://0/',
      'http://[::1]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[64:ff9b::7f00:1]/',
      'http://169.254.169.254/latest/meta-data/',
      'http://10.0.0.1/',
      'http://192.168.1.1/',
      'http://168.63.129.16/',
      'http://１２７.0.0.1/',
    ]) {
      await assert.rejects(postGuarded(url, '', {}, { anyPort: true }), /public address/, url);
    }
    for (const url of ['file:///etc/passwd', 'ftp://a.example/', 'gopher://a.example/', 'data:,x', 'not a URL', ''])
      await assert.rejects(postGuarded(url, '', {}, options()), /only http and https|not a URL/, url);
    await assert.rejects(postGuarded(`http://u:p@a.example:${port}/`, '', {}, options()), /user name or a password/);
    await assert.rejects(postGuarded('http://a.example:22/', '', {}, { ...options(), anyPort: false }), /usual ports/);
    await assert.rejects(postGuarded(at(`/${'x'.repeat(5_000)}`), '', {}, options()), /longer than/);
    // Names that lead inside: one address of several suffices.
    for (const found of [['127.0.0.2'], ['127.0.0.1', '127.0.0.2'], ['::1'], []])
      await assert.rejects(postGuarded(at('/'), '', {}, options({ lookup: answers(found) })), /public address/);
    assert.equal(reached.length, 0);
  });

  it('does not follow redirects [T-SSRF-03]', async () => {
    for (const code of [301, 302, 303, 307, 308]) {
      for (const location of ['/there', `http://127.0.0.2:${port}/`, 'http://169.254.169.254/', 'file:///etc/passwd']) {
        serve((_request, response) => response.writeHead(code, { location }).end());
        assert.equal(await postGuarded(at('/'), 'x', {}, options()), code);
        assert.equal(reached.length, 1, location);
      }
    }
  });

  it('connects to the address that was checked, even if the name resolves differently later [T-SSRF-06]', async () => {
    const changing = answers(['127.0.0.1'], ['127.0.0.2']);
    serve((_request, response) => response.end());
    assert.equal(await postGuarded(at('/', 'rebind.example'), '', {}, options({ lookup: changing })), 200);
    await assert.rejects(
      postGuarded(at('/', 'rebind.example'), '', {}, options({ lookup: changing })),
      /public address/,
    );
    assert.equal(reached.length, 1);
  });

  it('has a time limit, and ignores the body of the response [T-SSRF-07]', async () => {
    let closed: Promise<unknown> | undefined;
    const raw = (write: (socket: Socket) => void): void =>
      serve(({ socket }) => {
        closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
        write(socket);
      });
    for (const beginning of ['', 'HTTP/1.1 200 OK\r\nz: y', 'HTTP/1.1 103 Early Hints\r\n\r\n']) {
      raw((socket) => void socket.write(beginning));
      await assert.rejects(postGuarded(at('/'), '', {}, options({ timeoutMs: 80 })), /took too long/, beginning);
      await closed;
    }
    await assert.rejects(postGuarded(at('/'), '', {}, options({ timeoutMs: 80, lookup: () => {} })), /took too long/);
    // An answer without an end is left where it is.
    raw((socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write('x'.repeat(10_000)));
      };
      socket.on('drain', more);
      socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n');
      more();
    });
    assert.equal(await postGuarded(at('/'), '', {}, options()), 200);
    await closed;
    raw((socket) => void socket.end(`HTTP/1.1 200 OK\r\nz: ${'y'.repeat(17_000)}\r\n\r\n`));
    await assert.rejects(postGuarded(at('/'), '', {}, options()), /could not be reached at a public address/);
  });

  it('has the same error for a closed port and for an internal address', async () => {
    const why = async (url: string, more: GuardOptions): Promise<string> =>
      postGuarded(url, '', {}, options(more)).then(
        () => 'reached',
        (error: Error) => error.message,
      );
    const nobody = await why('http://a.example:1/', {});
    assert.equal(await why(at('/'), { lookup: answers(['127.0.0.2']) }), nobody);
    assert.equal(await why(at('/'), { lookup: (_name, _options, found) => found(new Error('ENOTFOUND'), []) }), nobody);
  });
});
