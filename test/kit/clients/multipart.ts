/** Forms with files, written and read by hand: what a client sends, legal and broken, and what a vendor got. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** One part of a form: a text, a file, or whatever bytes stand between two boundaries. */
export type FormPart =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly bytes: Buffer; readonly fileName?: string; readonly mediaType?: string }
  /** The head without its blank line; a body of its own. */
  | { readonly head: string; readonly bytes: Buffer }
  /** Everything after the boundary's line. */
  | { readonly raw: Buffer | string };

/** A form as it is sent. */
export interface WrittenForm {
  readonly contentType: string;
  readonly body: Buffer;
}

/** What a form says. */
export interface ReadForm {
  /** In a list where a name came more than once. */
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
  readonly files: readonly ReadFile[];
}

/** A file of a form. */
export interface ReadFile {
  readonly field: string;
  readonly fileName: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** Writes a form. `end`: what stands where the last boundary would, for forms that are cut off. */
export function writeForm(
  parts: readonly FormPart[],
  { boundary = 'a-boundary-of-a-test', end = `--${boundary}--\r\n` }: { boundary?: string; end?: string } = {},
): WrittenForm {
  const pieces = parts.map((part) => Buffer.concat([Buffer.from(`--${boundary}\r\n`), writePart(part)]));
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([...pieces, Buffer.from(end)]),
  };
}

/** Reads a form that must be without fault, as a vendor would. */
export function readForm(contentType: string, body: Buffer): ReadForm {
  const boundary = /^multipart\/form-data; boundary=("?)([\w'()+,\-./:=? ]{1,70})\1$/.exec(contentType)?.[2];
  assert.ok(boundary !== undefined, `a form names its boundary: ${contentType}`);
  const fields: Record<string, string | readonly string[]> = {};
  const files: ReadFile[] = [];
  for (const part of splitParts(body, boundary)) {
    const headEnd = part.indexOf('\r\n\r\n');
    assert.ok(headEnd >= 0, 'the head of a part ends with a blank line');
    const head = part.toString('utf8', 0, headEnd);
    const bytes = Buffer.from(part.subarray(headEnd + 4));
    const field = /^content-disposition: form-data;(?:.*;)? *name="([^"]*)"/im.exec(head)?.[1];
    assert.ok(field !== undefined, `a part has a name: ${head}`);
    const fileName = /^content-disposition:.*; *filename="([^"]*)"/im.exec(head)?.[1];
    if (fileName === undefined) {
      const earlier = fields[field];
      const text = bytes.toString();
      fields[field] = earlier === undefined ? text : [earlier, text].flat();
      continue;
    }
    files.push({ field, fileName, mediaType: /^content-type: *(.+)$/im.exec(head)?.[1]?.trim() ?? '', bytes });
  }
  return { fields, files };
}

/** What is left in a directory: files by name, and those that have lost their name and are still open. */
export function leftIn(directory: string): readonly string[] {
  const named = existsSync(directory) ? readdirSync(directory) : [];
  return [...named, ...openFiles().filter((path) => path.startsWith(join(directory, '/')))];
}

/** Where the system does not tell, nothing is open. */
function openFiles(): readonly string[] {
  const all = '/proc/self/fd';
  if (!existsSync(all)) return [];
  return readdirSync(all).flatMap((fd) => {
    try {
      return [readlinkSync(join(all, fd))];
    } catch {
      return []; // It was the one that the list was read with.
    }
  });
}

function writePart(part: FormPart): Buffer {
  if ('raw' in part) return Buffer.from(part.raw as string);
  if ('head' in part) return Buffer.concat([Buffer.from(`${part.head}\r\n\r\n`), part.bytes, Buffer.from('\r\n')]);
  const named = `Content-Disposition: form-data; name="${part.name}"`;
  if ('text' in part) return Buffer.from(`${named}\r\n\r\n${part.text}\r\n`);
  const { bytes, fileName = 'a file.bin', mediaType = 'application/octet-stream' } = part;
  const head = `${named}; filename="${fileName}"\r\nContent-Type: ${mediaType}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n')]);
}

function splitParts(body: Buffer, boundary: string): readonly Buffer[] {
  const mark = Buffer.from(`\r\n--${boundary}`);
  const all = Buffer.concat([Buffer.from('\r\n'), body]);
  const parts: Buffer[] = [];
  let at = all.indexOf(mark);
  assert.equal(at, 0, 'a form begins with its boundary');
  for (;;) {
    const start = at + mark.length;
    const after = all.toString('latin1', start, start + 2);
    if (after === '--') break;
    assert.equal(after, '\r\n', 'a boundary is a line of its own');
    at = all.indexOf(mark, start);
    assert.ok(at >= 0, 'a form ends with its boundary');
    parts.push(all.subarray(start + 2, at));
  }
  return parts;
}
