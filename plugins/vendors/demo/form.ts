/**
 * Reads the multipart bodies that the demo vendor gets. The gateway has encoded them, so they are well-formed; of a
 * file, only the start is kept.
 */
import { createHash } from 'node:crypto';
import type { Json } from '../../../core/plugin.ts';
import type { DemoFile, DemoRequest } from './endpoint.ts';

/** The bytes of a file that are kept; no text is longer. */
const START_BYTES = 1_048_576;
const HEAD_END = '\r\n\r\n';

/** The texts of a multipart body, and the metadata of its files. Rejects if it is truncated. */
export async function readForm(form: AsyncIterable<Buffer>, contentType: string): Promise<DemoRequest> {
  const mark = `\r\n--${contentType.slice(contentType.indexOf('=') + 1)}`;
  const body: Record<string, Json> = {};
  const files: DemoFile[] = [];
  // The body is treated as if a line end preceded it; data before the first boundary is ignored.
  let rest: Buffer = Buffer.from('\r\n');
  let part: Part | undefined = createPart('');
  for await (const chunk of form) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = 0; end !== -1; ) {
      if (part === undefined) {
        end = rest.indexOf(HEAD_END);
        if (end === -1) continue;
        part = createPart(rest.toString('utf8', 0, end));
        rest = rest.subarray(end + HEAD_END.length);
      } else {
        end = rest.indexOf(mark);
        const passed = end === -1 ? Math.max(0, rest.length - mark.length) : end;
        part.see(rest.subarray(0, passed));
        rest = rest.subarray(passed);
        if (end === -1) continue;
        const { field, fileName, size, start, digest } = part.end();
        if (fileName !== undefined) files.push({ field, fileName, size, start, digest });
        else if (field !== '') body[field] = start.toString();
        rest = rest.subarray(mark.length);
        part = undefined;
      }
    }
  }
  if (part !== undefined || rest.toString('latin1', 0, 2) !== '--') throw new Error('the form has no end');
  return { body, files };
}

/** A part while it arrives. */
interface Part {
  see(bytes: Buffer): void;
  /** Without a file name, it is a text. */
  end(): Omit<DemoFile, 'fileName'> & { readonly fileName: string | undefined };
}

function createPart(head: string): Part {
  const [, field = '', fileName] = /form-data; name="([^"]*)"(?:; filename="([^"]*)")?/.exec(head) ?? [];
  const hash = createHash('sha256');
  const start: Buffer[] = [];
  let size = 0;
  return {
    see(bytes) {
      hash.update(bytes);
      // A copy, so that the chunk can be freed.
      if (size < START_BYTES) start.push(Buffer.from(bytes.subarray(0, START_BYTES - size)));
      size += bytes.length;
    },
    end: () => ({ field, fileName, size, start: Buffer.concat(start), digest: hash.digest('hex') }),
  };
}
