/** The guard around addresses that clients name: where it must not lead, whatever is written. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createSecureContext } from 'node:tls';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Fetched } from '../../../core/contracts/formats/style.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import {
  type Allowance,
  fetchGuarded,
  type GuardOptions,
  isPublicAddress,
  type Lookup,
} from '../../../core/outgoing/guarded-fetch.ts';
import { CERTIFICATES } from '../../kit/clients/certificates.ts';

const never = new AbortController().signal;
const plenty = (): Allowance => ({ bytes: 1_000_000 });

const fetchFrom = (url: string, options?: GuardOptions): Promise<Fetched> =>
  fetchGuarded(url, 'messages', never, plenty(), options);

const refusedWith = (url: string, why: RegExp, options?: GuardOptions): Promise<void> =>
  assert.rejects(
    fetchFrom(url, options),
    (error) =>
      error instanceof GatewayError &&
      error.status === 400 &&
      error.code === 'media_not_fetched' &&
      error.param === 'messages' &&
      why.test(error.message),
    url,
  );

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

/** A resolver for what is no name. */
const nobody: Lookup = (name) => assert.fail(`${name} was looked up`);

describe('a public IP address', () => {
  it('is accepted', () => {
    for (const address of [
      '93.184.216.34',
      '8.8.8.8',
      '168.63.129.17',
      '2620:4f:8001::1',
      '2606:2800:220:1:248:1893:25c8:1946',
      '2a00:1450::1',
    ]) {
      assert.equal(isPublicAddress(address), true, address);
    }
  });

  it('is not private, shared, local, reserved or an embedded IPv4 address', () => {
    const inside = [
      '0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254',
      '172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1',
      '203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 192.31.196.1 192.52.193.1 192.175.48.1 168.63.129.16',
      ':: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1',
      '2001:db8::1 2001:2::1 2001:20::1 2002:7f00:1:: 2002:a00:1::1 3fff::1 5f00::1 fc00::1 fd12:3456::1 fe80::1 ff02::1',
      '2001:1::1 2001:3::1 2001:4:112::1 2001:30::1 2620:4f:8000::1 100:0:0:1::1 fec0::1 fd00:ec2::254',
    ].flatMap((line) => line.split(' '));
    for (const address of inside) assert.equal(isPublicAddress(address), false, address);
    for (const text of ['', 'localhost', '127.1', '10.0.0.1/8', 'fe80::1%eth0', '2a00:1450::1%1']) {
      assert.equal(isPublicAddress(text), false, text);
    }
  });
});

/** Every way to write an IPv4 address into a URL that some parser, some day, has taken for something harmless. */
function spellings(address: string): readonly string[] {
  const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number, digits = 0): string => `0x${value.toString(16).padStart(digits, '0')}`;
  const octal = (value: number, digits = 0): string => `0${value.toString(8).padStart(digits, '0')}`;
  const high = ((a << 8) | b).toString(16);
  const low = ((c << 8) | d).toString(16);
  const wide = (digits: string): string => digits.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + +digit));
  return [
    address,
    `${address}.`,
    `${a}.${b}.${(c << 8) | d}`,
    `${a}.${((b << 8) | c) * 256 + d}`,
    `${number}`,
    `${number}.`,
    hex(number),
    hex(number).toUpperCase().replace('0X', '0x'),
    octal(number),
    [a, b, c, d].map((byte) => hex(byte, 2)).join('.'),
    [a, b, c, d].map((byte) => octal(byte, 3)).join('.'),
    [a, b, c, d].map((byte) => octal(byte, 8)).join('.'),
    `${hex(a)}.${octal(b)}.${c}.${d}`,
    `${octal(a)}.${hex(((b << 8) | c) * 256 + d)}`,
    address.replaceAll('.', '\u3002'),
    address.replaceAll('.', '\uff0e'),
    address.replaceAll('.', '\uff61'),
    address.replaceAll('.', '%2e'),
    wide(address),
    wide(address).replaceAll('.', '\u3002'),
    `%3${a.toString()[0]}${address.slice(1)}`,
    `${address[0]}\u00ad${address.slice(1)}`,
    `${address[0]}\u200b${address.slice(1)}`,
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:FFFF:${high}:${low}]`,
    `[::${address}]`,
    `[::ffff:0:${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${address}]`,
    `[2002:${high}:${low}::]`,
    `[2001::${high}:${low}]`,
    `[fe80::${high}:${low}]`,
    `[fd00::${address}]`,
  ];
}

describe('T-SSRF-02: a URL of a client', () => {
  it('is refused in every spelling of an address that is not public, without a DNS lookup', async () => {
    const hosts = [
      '127.0.0.1 0.0.0.0 10.1.2.3 169.254.169.254 172.16.5.4 192.168.1.1 100.100.100.200 168.63.129.16 198.18.0.1'
        .split(' ')
        .flatMap(spellings),
      '0 127.1 0x7f.1 ①②⑦.⓪.⓪.① 10.1 172.16.1 192.168.257 224.0.0.1 255.255.255.255'.split(' '),
      '[::1] [::] [0:0:0:0:0:0:0:1] [fd00:ec2::254] [ff02::1] [2001:db8::1] [fec0::1]'.split(' '),
    ].flat();
    assert.ok(new Set(hosts).size > 300, 'hundreds of spellings');
    for (const host of hosts) {
      for (const scheme of ['http', 'https']) {
        await refusedWith(`${scheme}://${host}/secret`, /not resolve to a public address/, { lookup: nobody });
      }
    }
  });

  it('is refused in spellings that only some parsers accept', async () => {
    const hosts = [
      '1.1.1.1.@10.0.0.1 user@10.0.0.1 :p@10.0.0.1 127.0.0.1:80:80 127.0.0.1%00.example.com 127.0.0.256 0x100000000',
      '[::1 ::1 [::1%25lo] [fe80::1%eth0] [::ffff:127.0.0.1.] 127.0.0.1%0d%0aHost:x 127.0.0.1%20 256.1 08.1.1.1 %',
    ].flatMap((line) => line.split(' '));
    for (const host of hosts) {
      await refusedWith(`http://${host}/secret`, /not a URL|user name or a password/, { lookup: nobody });
    }
    // What stands behind these is a path, and in front of it an address all the same.
    for (const url of [
      'http:127.0.0.1/',
      'http:/127.0.0.1',
      'http:\\\\127.0.0.1\\x',
      ' http://127.0.0.1\n',
      'ht\ttp://127.0\n.0.1/',
      'http://127.0.0.1#@example.com/',
      'http://127.0.0.1?@example.com/',
      'http://127.0.0.1\\@example.com/',
      'HTTP://127.0.0.1:80/',
      'http:////127.0.0.1/',
    ]) {
      await refusedWith(url, /not resolve to a public address/, { lookup: nobody });
    }
  });

  it('is refused if it is not a plain http or https URL', async () => {
    for (const [url, why] of [
      ['file:///etc/passwd', /http and https/],
      ['file://example.com/share', /http and https/],
      ['ftp://example.com/', /http and https/],
      ['gopher://example.com/', /http and https/],
      ['ws://example.com/', /http and https/],
      ['javascript:alert(1)', /http and https/],
      ['blob:http://example.com/x', /http and https/],
      ['data:text/plain,x', /http and https/],
      ['not a url', /not a URL/],
      ['/only/a/path', /not a URL/],
      ['//example.com/', /not a URL/],
      ['http://', /not a URL/],
      ['', /not a URL/],
      ['http://user:password@example.com/', /user name or a password/],
      ['http://user@example.com/', /user name or a password/],
      ['http://:password@example.com/', /user name or a password/],
      ['http://example.com:6379/', /usual ports/],
      ['http://example.com:443/', /usual ports/],
      ['https://example.com:80/', /usual ports/],
      ['http://example.com:0/', /usual ports/],
      [`http://example.com/${'x'.repeat(5_000)}`, /longer/],
    ] as const) {
      await refusedWith(url, why, { lookup: nobody });
    }
  });

  it('is refused if its name resolves to an address that is not public, or also to one', async () => {
    for (const addresses of [
      ['127.0.0.1'],
      ['10.0.0.1'],
      ['93.184.216.34', '127.0.0.1'],
      ['169.254.169.254', '93.184.216.34'],
      ['2606:2800:220:1:248:1893:25c8:1946', '::1'],
      ['::ffff:93.184.216.34'],
      ['::1'],
      ['localhost'],
      [],
    ]) {
      await refusedWith('http://name.example/', /could not be reached at a public address/, {
        lookup: answers(addresses),
      });
    }
  });
});

describe('fetching a URL', () => {
  let server: Server;
  let port: number;
  let answer: RequestListener;
  let reached: string[];
  before(async () => {
    server = createServer((request, response) => {
      reached.push(`${request.headers.host}${request.url}`);
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  /** Here the loopback address plays the public internet; 127.0.0.2 is what must not be reached. */
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
  /** Answers with bytes of its own making. */
  const serveRaw = (write: (socket: Socket, request: IncomingMessage) => void): void =>
    serve((request) => write(request.socket, request));
  const at = (path: string, host = 'a.example'): string => `http://${host}:${port}${path}`;

  it('returns the bytes and their content type, and keeps no connection', async () => {
    let closed: Promise<unknown> | undefined;
    serve(({ socket }, response) => {
      closed = new Promise((resolve) => socket.on('close', resolve));
      response.setHeader('content-type', 'IMAGE/PNG; charset=x').end(Buffer.from([1, 2, 3]));
    });
    const { mediaType, bytes } = await fetchFrom(at('/a?b=c', 'pictures.example'), options());
    assert.equal(mediaType, 'image/png');
    assert.deepEqual([...bytes], [1, 2, 3]);
    await closed;
    assert.deepEqual(reached, [`pictures.example:${port}/a?b=c`]);
  });

  it('ignores an invalid content type, because it is sent to a vendor', async () => {
    for (const [header, type] of [
      ['image/svg+xml;charset=utf-8', 'image/svg+xml'],
      [' application/vnd.x-y.z ', 'application/vnd.x-y.z'],
      ['image/png"; filename="x', 'application/octet-stream'],
      ['image/png\u00e9', 'application/octet-stream'],
      ['image', 'application/octet-stream'],
      ['/', 'application/octet-stream'],
      ['a/b/c', 'application/octet-stream'],
      ['', 'application/octet-stream'],
    ] as const) {
      serve((_request, response) => response.setHeader('content-type', header).end());
      assert.equal((await fetchFrom(at('/'), options())).mediaType, type, header);
    }
    serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nx'));
    assert.equal((await fetchFrom(at('/'), options())).mediaType, 'application/octet-stream');
  });

  it('sends necessary headers only, and no data of one server to the next', async () => {
    const sent: string[][] = [];
    serve((request, response) => {
      sent.push(request.rawHeaders);
      if (request.url !== '/first') response.end('x');
      else response.writeHead(302, { location: '/second#part', 'set-cookie': 'a=b', refresh: '0; url=/third' }).end();
    });
    // Somebody's proxy would connect to where it likes.
    const proxied = ['http_proxy', 'HTTP_PROXY', 'all_proxy'].map((name) => [name, process.env[name]] as const);
    for (const [name] of proxied) process.env[name] = 'http://127.0.0.1:9';
    try {
      await fetchFrom(at('/first#part'), options());
    } finally {
      for (const [name, value] of proxied) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
    assert.deepEqual(reached, [`a.example:${port}/first`, `a.example:${port}/second`]);
    const usual = ['host', `a.example:${port}`, 'connection', 'keep-alive'];
    const asks = ['accept', '*/*', 'accept-encoding', 'identity', 'user-agent', 'turnpike'];
    assert.deepEqual(sent, [
      [...usual, ...asks],
      [...usual, ...asks],
    ]);
  });

  it('verifies the certificate against the host name, and accepts no self-signed one', async () => {
    const [{ name, cert, key }] = CERTIFICATES;
    const asked: string[] = [];
    const listening = createTlsServer(
      {
        SNICallback(servername, done) {
          asked.push(servername);
          done(null, createSecureContext({ cert, key }));
        },
      },
      () => asked.push('a request'),
    );
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
    try {
      const { port: secure } = listening.address() as AddressInfo;
      await refusedWith(`https://${name}:${secure}/`, /could not be reached at a public address/, options());
      assert.deepEqual(asked, [name]);
    } finally {
      listening.close();
    }
  });

  it('T-SSRF-03: follows one redirect to a public address, and no chain', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      serve((request, response) => {
        if (request.url === '/there') response.end('x');
        else response.writeHead(status, { location: '/there' }).end('moved');
      });
      assert.equal((await fetchFrom(at('/'), options())).bytes.toString(), 'x', String(status));
    }
    serve((_request, response) => response.writeHead(302, { location: '/again' }).end());
    await refusedWith(at('/'), /redirects/, options());
    assert.equal(reached.length, 4);
  });

  it('T-SSRF-03: does not follow a redirect to a forbidden address', async () => {
    for (const location of [
      `http://127.0.0.2:${port}/`,
      `//127.0.0.2:${port}/`,
      `\\\\127.0.0.2:${port}\\`,
      `http://2130706434:${port}/`,
      `http://0x7f.2:${port}/`,
      'http://169.254.169.254/latest/meta-data/',
      'http://[::ffff:a9fe:a9fe]/',
      'http://[64:ff9b::a9fe:a9fe]/',
      'file:///etc/passwd',
      'ftp://a.example/',
      'gopher://a.example:6379/_x',
      'data:image/png;base64,AAAA',
      'javascript:1',
      `http://u:p@a.example:${port}/`,
      'http://[::1]/',
    ]) {
      serve((_request, response) => response.writeHead(302, { location }).end());
      await refusedWith(at('/'), /public address|http and https|user name or a password/, options());
      assert.equal(reached.length, 1, location);
    }
    for (const location of ['http://[bad', 'http://']) {
      serve((_request, response) => response.writeHead(302, { location }).end());
      await refusedWith(at('/'), /could not be reached/, options());
    }
    // Of two, nobody knows which one another reader would take.
    serveRaw((socket) =>
      socket.end(
        `HTTP/1.1 302 Found\r\nlocation: /a\r\nlocation: /b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
      ),
    );
    await refusedWith(at('/'), /status 302/, options());
    assert.equal(reached.length, 1);
  });

  it('T-SSRF-03: does not follow a redirect to another port', async () => {
    for (const location of [at('/there'), 'http://a.example:22/', 'https://a.example:80/']) {
      serve((_request, response) => response.writeHead(302, { location }).end());
      let checked = 0;
      const once = {
        ...options(),
        // The first address may have any port, for it is this test's.
        get anyPort() {
          return checked++ === 0;
        },
      };
      await refusedWith(at('/'), /usual ports/, once);
      assert.equal(reached.length, 1, location);
    }
  });

  it('T-SSRF-06: connects to the address that was checked, even if the name resolves differently later', async () => {
    serve((_request, response) => response.end('first'));
    const changing = (): GuardOptions => options({ lookup: answers(['127.0.0.1'], ['127.0.0.2']) });
    assert.equal((await fetchFrom(at('/', 'rebind.example'), changing())).bytes.toString(), 'first');
    // Again for a redirect to the very same name, where that needs another connection.
    serve((_request, response) =>
      response.writeHead(302, { location: at('/', 'rebind.example'), connection: 'close' }).end(),
    );
    await refusedWith(at('/', 'rebind.example'), /public address/, changing());
    assert.equal(reached.length, 1);
    // And for one to another name.
    serve((_request, response) => response.writeHead(302, { location: at('/', 'other.example') }).end());
    await refusedWith(at('/', 'rebind.example'), /public address/, changing());
    assert.equal(reached.length, 1);
  });

  it('T-SSRF-07: fails if the body is too large, with or without content-length', async () => {
    const endless = (socket: Socket): void => {
      const more = (): void => {
        while (!socket.destroyed && socket.write('x'.repeat(1_000)));
      };
      socket.on('drain', more);
      more();
    };
    const frames: readonly [string, string][] = [
      ['declared', 'content-length: 1001'],
      ['beyond any number', 'content-length: 99999999999999'],
      ['until the end of the connection', 'connection: close'],
    ];
    for (const [name, header] of frames) {
      let closed: Promise<unknown> | undefined;
      serveRaw((socket) => {
        closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
        socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`);
        endless(socket);
      });
      await refusedWith(at('/'), /larger than 1000 bytes/, options({ maxBytes: 1_000 }));
      await closed;
      assert.equal(reached.length, 1, name);
    }
    serve((_request, response) => void response.writeHead(200).write(Buffer.alloc(2_000)));
    await refusedWith(at('/'), /larger than 1000 bytes/, options({ maxBytes: 1_000 }));
    for (const framed of [true, false]) {
      serve((_request, response) => {
        if (framed) response.setHeader('content-length', 1_000);
        else response.flushHeaders();
        response.end(Buffer.alloc(1_000));
      });
      assert.equal((await fetchFrom(at('/'), options({ maxBytes: 1_000 }))).bytes.length, 1_000);
    }
  });

  it('T-SSRF-07: fails if all bodies of a request together are too large', async () => {
    const shared: Allowance = { bytes: 3_000 };
    const fetched = (): Promise<Fetched> => fetchGuarded(at('/'), 'messages', never, shared, options());
    serve((_request, response) => response.end(Buffer.alloc(2_000)));
    await fetched();
    await assert.rejects(fetched(), /too large for one request/);
  });

  it('T-SSRF-07: refuses a compressed body, and does not decompress it', async () => {
    const bomb = Buffer.alloc(4_000_000);
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(bomb)],
      ['x-gzip', gzipSync(bomb)],
      ['br', brotliCompressSync(bomb)],
      ['identity, gzip', gzipSync(bomb)],
    ] as const) {
      serve((_request, response) => response.setHeader('content-encoding', encoding).end(bytes));
      await refusedWith(at('/'), /compressed/, options());
    }
    serve((_request, response) => response.setHeader('content-encoding', 'identity').end('x'));
    assert.equal((await fetchFrom(at('/'), options())).bytes.toString(), 'x');
  });

  it('T-SSRF-07: refuses an oversized head, a truncated body and data that is not HTTP', async () => {
    for (const bytes of [
      `HTTP/1.1 200 OK\r\n${`z: ${'y'.repeat(1_000)}\r\n`.repeat(17)}content-length: 1\r\n\r\nx`,
      `HTTP/1.1 200 OK\r\nz: ${'y'.repeat(17_000)}\r\ncontent-length: 1\r\n\r\nx`,
      'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nx',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nx',
      'SSH-2.0-OpenSSH_9.6\r\n',
      '-ERR unknown command\r\n',
      '',
    ]) {
      serveRaw((socket) => socket.end(bytes));
      await refusedWith(at('/'), /could not be reached at a public address/, options());
    }
  });

  it('fails if the status is not a success, and returns nothing of the body', async () => {
    for (const status of [201, 204, 206, 300, 304, 401, 404, 500]) {
      serve((_request, response) => response.writeHead(status).end(status === 204 ? undefined : 'a secret page'));
      await refusedWith(at('/'), new RegExp(`^A URL in .* responded with status ${status}\\.$`), options());
    }
  });

  const slow: readonly [string, (socket: Socket) => void][] = [
    ['a server that says nothing', () => {}],
    ['a head that never ends', drip('HTTP/1.1 200 OK\r\nz: ', 'y')],
    ['interim answers without an end', drip('', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['a body that comes byte by byte', drip('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n', 'x')],
    ['chunks that come byte by byte', drip('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n')],
    ['chunks with endless extensions', drip('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1', ';x')],
  ];
  for (const [name, write] of slow) {
    it(`T-SSRF-07: times out with ${name}`, async () => {
      let closed: Promise<unknown> | undefined;
      serveRaw((socket) => {
        closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
        write(socket);
      });
      const started = performance.now();
      await refusedWith(at('/'), /took too long/, options({ timeoutMs: 80 }));
      assert.ok(performance.now() - started < 10_000, 'the whole of it, not each step');
      await closed;
    });
  }

  it('T-SSRF-07: times out with a slow DNS lookup, and with a server that never completes TLS', async () => {
    const mute = createTcpServer((socket) => socket.on('error', () => {}));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port: silent } = mute.address() as AddressInfo;
    const cases: readonly [string, GuardOptions][] = [
      ['http://slow.example/', { lookup: () => {} }],
      [`https://a.example:${silent}/`, {}],
    ];
    try {
      for (const [url, more] of cases) {
        const started = performance.now();
        await refusedWith(url, /took too long/, options({ timeoutMs: 80, ...more }));
        assert.ok(performance.now() - started < 10_000, url);

        const client = new AbortController();
        const left = fetchGuarded(url, 'messages', client.signal, plenty(), options(more));
        setImmediate(() => client.abort());
        await assert.rejects(left, { name: 'AbortError' });
      }
    } finally {
      mute.close();
    }
  });

  it('stops if the client disconnects, and does not start if it has disconnected', async () => {
    for (const write of [undefined, 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx']) {
      const client = new AbortController();
      let closed: Promise<unknown> | undefined;
      serveRaw((socket) => {
        closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
        if (write !== undefined) socket.write(write);
        setImmediate(() => client.abort());
      });
      const fetched = fetchGuarded(at('/'), 'messages', client.signal, plenty(), options());
      await assert.rejects(fetched, { name: 'AbortError' });
      await closed;
    }
    const gone = AbortSignal.abort();
    await assert.rejects(fetchGuarded(at('/'), 'messages', gone, plenty(), options({ lookup: nobody })), {
      name: 'AbortError',
    });
  });

  it('resolves names without blocking a thread of the process', async () => {
    const names = await nameServer({
      'four.example': ['127.0.0.1'],
      'both.example': ['127.0.0.1', '::1'],
      'several.example': ['127.0.0.1', '127.0.0.2'],
      'six.example': ['::1'],
      'empty.example': [],
    });
    try {
      const { lookup: _, ...asking } = options({ nameServer: names.address });
      serve((_request, response) => response.end('x'));
      assert.equal((await fetchFrom(at('/', 'four.example'), asking)).bytes.toString(), 'x');
      assert.deepEqual(names.asked.sort(), ['four.example 1', 'four.example 28']);
      for (const name of ['both', 'several', 'six', 'empty', 'unknown']) {
        await refusedWith(at('/', `${name}.example`), /could not be reached at a public address/, asking);
      }
      // Names of this machine and its neighbours are nobody's business.
      await refusedWith(at('/', 'localhost'), /could not be reached/, asking);
      await refusedWith(at('/', 'silent.example'), /took too long/, { ...asking, timeoutMs: 80 });
      assert.equal(reached.length, 1);
    } finally {
      names.close();
    }
  });
});

/** Writes a beginning, and then this again and again. */
function drip(beginning: string, again: string): (socket: Socket) => void {
  return (socket) => {
    socket.on('error', () => {});
    socket.write(beginning);
    const timer = setInterval(() => socket.write(again), 5);
    socket.on('close', () => clearInterval(timer));
  };
}

interface NameServer {
  readonly address: string;
  /** Name and type of record: 1 for IPv4, 28 for IPv6. */
  readonly asked: string[];
  close(): void;
}

/** A name server that knows these names; it never answers for `silent.example`. */
async function nameServer(known: Readonly<Record<string, readonly string[]>>): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12);
    const labels: string[] = [];
    for (let at = 12; at < end; at += 1 + query[at]!)
      labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    const name = labels.join('.');
    const type = query.readUInt16BE(end + 1);
    asked.push(`${name} ${type}`);
    if (name === 'silent.example') return;
    const found = (known[name] ?? []).filter((address) => address.includes(':') === (type === 28));
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(known[name] === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    const records = found.flatMap((address) => {
      // Only `::1` is spelled here, of all of IPv6.
      const bytes = type === 28 ? Buffer.concat([Buffer.alloc(15), Buffer.from([1])]) : address.split('.').map(Number);
      return [Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length]), Buffer.from(bytes)];
    });
    socket.send(Buffer.concat([head, query.subarray(12, end + 5), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${socket.address().port}`, asked, close: () => socket.close() };
}
