/** Encrypts backup files with AES-256-GCM, by a key that is derived from the master key or a passphrase. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** What a file is encrypted with. */
export type BackupSecret = { readonly masterKey: Buffer } | { readonly passphrase: string };

// The header is authenticated, too: magic, kind of secret, salt, nonce. The tag follows the content.
const MAGIC = Buffer.from('turnpike backup 1\n');
const KIND = { masterKey: 'm'.charCodeAt(0), passphrase: 'p'.charCodeAt(0) } as const;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = MAGIC.length + 1 + SALT_BYTES + NONCE_BYTES;
const KEY_BYTES = 32;
/** About a second, and 128 MiB of memory: a passphrase is guessed as slowly. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 };
/** AES-GCM is secure for 64 GiB with one nonce. */
const MOST_BYTES = 60 * 1_024 ** 3;

/** Encrypts the file `from` as the new file `to`, which only this user can read. */
export async function encryptFile(from: string, to: string, secret: BackupSecret): Promise<void> {
  const { size } = await stat(from);
  if (size > MOST_BYTES)
    throw new Error('backups above 60 GiB cannot be encrypted by the gateway: leave out `encrypt`');
  const [salt, nonce] = [randomBytes(SALT_BYTES), randomBytes(NONCE_BYTES)];
  const kind = 'masterKey' in secret ? KIND.masterKey : KIND.passphrase;
  const header = Buffer.concat([MAGIC, Buffer.of(kind), salt, nonce]);
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret, salt), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(header);
  const written = createWriteStream(to, { flags: 'wx', mode: 0o600 });
  written.write(header);
  await pipeline(createReadStream(from), cipher, written, { end: false });
  await new Promise<void>((done, failed) => {
    written.on('error', failed);
    written.end(cipher.getAuthTag(), done);
  });
}

/** Whether a file was written by `encryptFile`, and the secret that it needs; undefined: it is not encrypted. */
export async function encryptionOf(file: string): Promise<'master-key' | 'passphrase' | undefined> {
  const header = await headerOf(file);
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  return header[MAGIC.length] === KIND.masterKey ? 'master-key' : 'passphrase';
}

/**
 * Decrypts the file `from` as the new file `to`. Throws, and leaves no file, if it was changed or encrypted with
 * another secret.
 */
export async function decryptFile(from: string, to: string, secret: BackupSecret): Promise<void> {
  const { size } = await stat(from);
  const header = await headerOf(from);
  const salt = header.subarray(MAGIC.length + 1, MAGIC.length + 1 + SALT_BYTES);
  const nonce = header.subarray(-NONCE_BYTES);
  const end = size - TAG_BYTES;
  if (header.length < HEADER_BYTES || end < HEADER_BYTES) throw new Error(`${from} is incomplete`);
  const tag = await readAt(from, end, TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secret, salt), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(header);
  decipher.setAuthTag(tag);
  try {
    // `end` of a stream is inclusive, and below `start` it would be refused.
    const content = end === HEADER_BYTES ? [] : createReadStream(from, { start: HEADER_BYTES, end: end - 1 });
    await pipeline(content, decipher, createWriteStream(to, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    await rm(to, { force: true });
    if (!/authenticate/.test(String(error))) throw error;
    throw new Error(`${from} was encrypted with another master key or passphrase, or is damaged`, { cause: error });
  }
}

function keyOf(secret: BackupSecret, salt: Buffer): Buffer {
  return 'masterKey' in secret
    ? Buffer.from(hkdfSync('sha256', secret.masterKey, salt, 'turnpike backups', KEY_BYTES))
    : scryptSync(secret.passphrase, salt, KEY_BYTES, SCRYPT);
}

const headerOf = (file: string): Promise<Buffer> => readAt(file, 0, HEADER_BYTES);

/** Fewer bytes if the file ends before. */
async function readAt(file: string, position: number, length: number): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
