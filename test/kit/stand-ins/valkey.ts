/** A Valkey (or Redis) server for tests: private, in a temporary folder, reachable from this machine only, and nothing of it lasts. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import type { Certificate } from '../clients/certificates.ts';
import { until } from '../until.ts';

const PROGRAMS = ['valkey-server', 'redis-server'];

/** A server that runs. */
export interface ValkeyServer {
  readonly port: number;
  /** `valkey://127.0.0.1:PORT`, with the password if it has one. */
  readonly url: string;
  /** The same with TLS, if it has a certificate; else undefined. */
  readonly tlsUrl: string | undefined;
  /** Sends it one command. */
  command(...args: readonly string[]): Promise<unknown>;
  /** Ends it as a crash would; what it held is gone. */
  kill(): Promise<void>;
  /** Starts it again at the same address, and empty. */
  start(): Promise<void>;
  /** It does nothing more until `thaw`; connections stay. */
  freeze(): void;
  thaw(): void;
  /** Ends it and leaves nothing behind. */
  remove(): Promise<void>;
}

/** Why there is no server for tests on this machine; undefined if there is one. `TURNPIKE_TEST_VALKEY` makes it an error. */
export function noValkey(): string | undefined {
  if (program() !== undefined) return undefined;
  const reason = `neither ${PROGRAMS.join(' nor ')} is installed`;
  if (process.env.TURNPIKE_TEST_VALKEY) throw new Error(reason);
  return reason;
}

/** Makes a server and starts it. With a certificate for `localhost`, it takes TLS at a second port. */
export async function startValkey(
  options: { readonly password?: string; readonly certificate?: Certificate } = {},
): Promise<ValkeyServer> {
  const { password, certificate } = options;
  const found = program();
  if (found === undefined) throw new Error(noValkey());
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-valkey-'));
  const port = await freePort();
  const tlsPort = certificate && (await freePort());
  const config = join(folder, 'server.conf');
  const lines = [`port ${port}`, 'bind 127.0.0.1', 'save ""', 'appendonly no', `dir ${folder}`];
  if (password !== undefined) lines.push(`requirepass ${password}`);
  if (certificate !== undefined) {
    writeFileSync(join(folder, 'cert.pem'), certificate.cert);
    writeFileSync(join(folder, 'key.pem'), certificate.key);
    lines.push(`tls-port ${tlsPort}`, 'tls-cert-file cert.pem', 'tls-key-file key.pem', 'tls-auth-clients no');
  }
  writeFileSync(config, lines.join('\n'));
  let child: ChildProcess | undefined;
  /** Made when it is first needed. */
  let client: ReturnType<typeof createClient> | undefined;

  async function start(): Promise<void> {
    // Ctrl-C in a terminal ends those that need it first.
    child = spawn(found!, [config], { cwd: folder, detached: true, stdio: 'ignore' });
    await until(`${found} answers`, () => {
      if (child!.exitCode !== null) throw new Error(`${found} ended with ${child!.exitCode}`);
      return answers(port);
    });
  }

  async function kill(): Promise<void> {
    client?.destroy();
    client = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  await start();
  // A test that is broken off leaves no server behind.
  process.once('exit', () => child?.kill('SIGKILL'));
  const who = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
  return {
    port,
    url: `valkey://${who}127.0.0.1:${port}`,
    tlsUrl: tlsPort === undefined ? undefined : `valkeys://${who}localhost:${tlsPort}`,
    async command(...words) {
      if (client === undefined) {
        client = createClient({
          socket: { host: '127.0.0.1', port, reconnectStrategy: false },
          RESP: 2,
          ...(password !== undefined && { password }),
        });
        client.on('error', () => {});
        await client.connect();
      }
      return client.sendCommand(words);
    },
    kill,
    start,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async remove() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function program(): string | undefined {
  return PROGRAMS.find((each) => spawnSync(each, ['--version'], { stdio: 'ignore' }).status === 0);
}

/** Whether somebody answers at a port. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    // Answered even where a password is wanted.
    socket.write('PING\r\n');
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
