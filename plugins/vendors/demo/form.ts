/**
 * Reads the multipart bodies that the demo vendor gets. The gateway has encoded them, so they are well-formed; of a
 * file, only the start is kept.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import type { Json } from '../../../core/plugin.ts';
import type { DemoFile, DemoRequest } from './endpoint.ts';

/** The bytes of a file that are kept; the head of an image is shorter. */
const START_BYTES = 1_024;

/** The texts of a multipart body, and the metadata of its files. Rejects if it is truncated. */
export async function readForm(form: Readable, contentType: string): Promise<DemoRequest> {
  const body: Record<string, Json> = {};
  const files: DemoFile[] = [];
  const parser = busboy({ headers: { 'content-type': contentType }, defParamCharset: 'utf8', preservePath: true });
  parser.on('field', (field, text) => {
    body[field] = text;
  });
  parser.on('file', (field, file, { filename }) => {
    const hash = createHash('sha256');
    let start = Buffer.alloc(0);
    let size = 0;
    file.on('data', (bytes: Buffer) => {
      hash.update(bytes);
      if (size < START_BYTES) start = Buffer.concat([start, bytes.subarray(0, START_BYTES - size)]);
      size += bytes.length;
    });
    file.on('end', () => files.push({ field, fileName: filename, size, start, digest: hash.digest('hex') }));
    // The parser reports it, too.
    file.on('error', () => {});
  });
  await pipeline(form, parser);
  return { body, files };
}
