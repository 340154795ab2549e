/** Calls over TLS: which certificates are believed, and what the server sees of the client. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CERTIFICATES, type Certificate, LOCALHOST } from '../../kit/clients/certificates.ts';
import { type Ending, open, send } from './told.ts';

const CALL_EACH = fileURLToPath(new URL('./call-each.ts', import.meta.url));

/** What a server saw of a connection. */
interface Seen {
  readonly servername: string | false;
  readonly protocol: string | false | null;
  readonly resumed: boolean;
}

describe('TLS', () => {
  const servers: Server[] = [];
  const seen: Seen[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-tls-'));
  const [wrongName, untrusted] = CERTIFICATES;
  const ports = new Map<Certificate, number>();

  before(async () => {
    for (const certificate of [LOCALHOST, wrongName, untrusted]) {
      const server = createServer({
        cert: certificate.cert,
        key: certificate.key,
        ALPNProtocols: ['h2', 'http/1.1'],
      });
      server.on('secureConnection', (socket: TLSSocket & { servername: string | false }) =>
        seen.push({
          servername: socket.servername,
          protocol: socket.alpnProtocol,
          resumed: socket.isSessionReused(),
        }),
      );
      server.on('request', (request, response) => {
        // Without a length, it ends with the connection.
        if (request.url === '/until-close') response.removeHeader('transfer-encoding');
        request.pipe(response);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      servers.push(server);
      ports.set(certificate, (server.address() as AddressInfo).port);
    }
    writeFileSync(join(folder, 'ca.pem'), LOCALHOST.cert + wrongName.cert);
  });
  after(() => {
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true });
  });

  it('refuses a self-signed certificate', async () => {
    const upstream = open();
    const ending = await send(upstream, { origin: `https://localhost:${ports.get(LOCALHOST)}` }).ended;
    await upstream.close();
    assert.ok(typeof ending === 'object');
    assert.deepEqual([ending.kind, ending.stale, ending.unsent], ['connect', false, true]);
    assert.match(ending.reason, /DEPTH_ZERO_SELF_SIGNED_CERT/);
  });

  it('trusts certificates of NODE_EXTRA_CA_CERTS only, sends SNI, and resumes its session', async () => {
    seen.length = 0;
    const good = `https://localhost:${ports.get(LOCALHOST)}/`;
    const urls = [
      good,
      good,
      `https://127.0.0.1:${ports.get(LOCALHOST)}/until-close`,
      `https://localhost:${ports.get(untrusted)}/`,
      `https://localhost:${ports.get(wrongName)}/`,
    ];
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', CALL_EACH, ...urls], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
    });
    const outcomes = JSON.parse(stdout) as { readonly ending: Ending; readonly bytes: number }[];
    const [first, second, byAddress, unknown, otherName] = outcomes.map(({ ending }) => ending);
    assert.deepEqual([first, second, byAddress], ['end', 'end', 'end']);
    assert.deepEqual(
      outcomes.map(({ bytes }) => bytes),
      [1 << 20, 1 << 20, 1 << 20, 0, 0],
    );
    assert.deepEqual(
      seen.slice(0, 3).map(({ servername, protocol }) => [servername, protocol]),
      [
        ['localhost', 'http/1.1'],
        ['localhost', 'http/1.1'],
        [false, 'http/1.1'],
      ],
    );
    assert.deepEqual(
      seen.slice(0, 2).map(({ resumed }) => resumed),
      [false, true],
    );
    for (const [ending, reason] of [
      [unknown, /DEPTH_ZERO_SELF_SIGNED_CERT/],
      [otherName, /ERR_TLS_CERT_ALTNAME_INVALID/],
    ] as const) {
      assert.ok(typeof ending === 'object' && ending.kind === 'connect', JSON.stringify(ending));
      assert.match(ending.reason, reason);
    }
  });
});
