/** Plugins outside the checkout, and what the vendors of two of them do on the wire: signatures and binary frames, written by the specifications. */
import { createHash, createHmac } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import type { Json } from '../../../core/contracts/formats/json.ts';
import type { VendorRequest } from '../../kit/vendors/fake-vendor.ts';

/** A folder far from the checkout with the plugins of `outside/`, in which `turnpike` is found as if it had been installed. */
export function outsideFolder(): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-outside-'));
  cpSync(new URL('../outside', import.meta.url), join(dir, 'vendors'), { recursive: true });
  mkdirSync(join(dir, 'node_modules'));
  symlinkSync(fileURLToPath(new URL('../../..', import.meta.url)), join(dir, 'node_modules/turnpike'), 'dir');
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

// ---- Signature Version 4, as the vendor checks it

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** What a signature covers, as it came. */
export type Signed = Pick<VendorRequest, 'method' | 'path' | 'headers' | 'body'>;

/** Why the signature of a request is wrong; undefined if it is right. */
export function signatureFault({ method, path, headers, body }: Signed, secret: string): string | undefined {
  const [, scope = '', signedNames = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const names = signedNames.split(';');
  if (!names.includes('host') || !names.includes('x-amz-date')) return 'the host or the date is not signed';
  if ((headers['x-amz-content-sha256'] ?? digest(body)) !== digest(body)) return 'the hash is not that of the body';
  const [pathname = '', search = ''] = path.split('?');
  const canonical = [
    method,
    pathname.split('/').map(encodeURIComponent).join('/'),
    search.split('&').sort().join('&'),
    ...names.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    signedNames,
    digest(body),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, digest(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, toSign).toString('hex') === signature ? undefined : 'the signature does not match';
}

// ---- frames of `application/vnd.amazon.eventstream`

/** A frame with text headers. */
export function frameOf(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const size = Buffer.alloc(2);
      size.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), size, Buffer.from(value)]);
    }),
  );
  const body = Buffer.from(payload);
  const frame = Buffer.alloc(16 + head.length + body.length);
  frame.writeUInt32BE(frame.length, 0);
  frame.writeUInt32BE(head.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  head.copy(frame, 12);
  body.copy(frame, 12 + head.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4);
  return frame;
}

/** The beginning of a frame of this length without headers. */
export function preludeOf(length: number): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(length, 0);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  return prelude;
}

/** An event of a Converse stream, padded as the vendor pads its events. */
export function converseFrame(type: string, value: Record<string, Json>): Buffer {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' };
  return frameOf(headers, JSON.stringify({ ...value, p: 'abcdefgh' }));
}

/** An exception in the place of an event. */
export function exceptionFrame(type: string, message: string): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' };
  return frameOf(headers, JSON.stringify({ message }));
}
