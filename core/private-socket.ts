/** Unix sockets of a gateway, for its user alone. */
import { createHash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a unix socket's path may hold on every system, in bytes. */
const MAX_PATH = 100;

/** A unix socket beside a database; `name` tells those of one database apart. */
export function socketPath(storeFile: string, name: string): string {
  const hash = `${createHash('sha256').update(storeFile).digest('hex').slice(0, 24)}${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\turnpike-${hash}`;
  const beside = `${storeFile}${name}.sock`;
  return Buffer.byteLength(beside) <= MAX_PATH ? beside : join(tmpdir(), `turnpike-${hash}.sock`);
}

/** Has a server listen at a path, where only the user of this process may connect. Whoever left a socket there is gone: the store is ours. */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  if (process.platform !== 'win32') rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  if (process.platform !== 'win32') chmodSync(path, 0o600);
}
