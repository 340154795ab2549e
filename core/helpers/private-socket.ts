/** Unix sockets of a gateway, accessible to its user only. */
import { createHash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Maximum length of a unix socket path on all systems, in bytes. */
const MAX_PATH = 100;

/** A unix socket next to a database; `name` distinguishes those of one database. */
export function socketPath(storeFile: string, name: string): string {
  const hash = `${createHash('sha256').update(storeFile).digest('hex').slice(0, 24)}${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\turnpike-${hash}`;
  const beside = `${storeFile}${name}.sock`;
  return Buffer.byteLength(beside) <= MAX_PATH ? beside : join(tmpdir(), `turnpike-${hash}.sock`);
}

/** Makes a server listen at a path, for its user only. An existing socket is stale: this process owns the store. */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  if (process.platform !== 'win32') rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  if (process.platform !== 'win32') chmodSync(path, 0o600);
}
