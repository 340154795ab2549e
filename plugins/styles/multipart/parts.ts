/** Parses a multipart body while it arrives, with limits, and refuses malformed ones. */
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { coreErrors, invalidField } from '../../../core/contracts/errors.ts';
import type { GatewayError, SpoolFile, Upload } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';

/** Gets the parts. If one of these throws, the body is refused. */
export interface PartTaker {
  /** The maximum bytes of a text with this name. */
  longest(name: string): number;
  text(name: string, text: string): void;
  /** Where to store the file. `fileName` is unchanged. */
  file(name: string, fileName: string, mediaType: string): SpoolFile;
}

/** The maximum bytes of any text. */
export const LONGEST_TEXT = 1_048_576;

const MAX_NAME_BYTES = 100;
const MAX_TEXTS = 64;
const MAX_PARTS = 100;
const BAD_HEAD = 'the head of a part is malformed or larger than 16 KiB';
const TOO_SHORT = 'it ends before its last boundary, or without the blank line after the head of a part';
const UNREAD_PART =
  'each part must begin with `Content-Disposition: form-data; name="…"`, and each boundary be a line of its own';
/** Accepted values of `Content-Transfer-Encoding`; others would need decoding. */
const PLAIN = ['7bit', '8bit', 'binary'];
const REPLACEMENT = '\ufffd';
const NO_TEXT = 'must be a text in UTF-8';
/** Control characters, and the replacement character for invalid UTF-8. */
const NO_NAME = /[\p{Cc}\ufffd]/u;
/** Names with a special meaning in JavaScript objects. */
const RESERVED = /^(__proto__|constructor|prototype)(\[\])?$/;

/**
 * Reads a multipart body to its end; returns its files in order. Rejects at the first error and reads no further. `body`
 * is not destroyed, because a response may still have to be sent.
 */
export function takeParts(body: Readable, boundary: string, taker: PartTaker): Promise<readonly Upload[]> {
  // The parser skips parts that it does not understand without an error. Therefore the number of boundaries must be that
  // of the parts plus one. The body is treated as if a line end preceded it.
  const boundaries = lookFor(Buffer.from(`\r\n--${boundary}`), Buffer.from('\r\n'));
  // Data after the last boundary is not given to the parser, which could wait for the end of a file there forever.
  const closing = lookFor(Buffer.from(`\r\n--${boundary}--`), Buffer.from('\r\n'));
  // The parser replaces invalid UTF-8 by this character: the texts may have no more of them than were sent.
  const replacements = lookFor(Buffer.from(REPLACEMENT));
  const parser = busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    defParamCharset: 'utf8',
    preservePath: true,
    // The parser reports a text of exactly the maximum length as too long.
    limits: { fieldSize: LONGEST_TEXT + 1, fields: MAX_TEXTS },
  });
  const files: Promise<Upload>[] = [];
  let parts = 0;
  let lost = 0;
  let doubtful = '';
  let isPulling = false;
  let over = false;

  return new Promise((resolve, reject) => {
    function fail(reason: unknown): void {
      if (over) return;
      over = true;
      body.off('readable', pullSoon);
      body.off('end', end);
      // Ends the file that is being read, too.
      parser.destroy();
      reject(reason);
    }
    /** Runs in event handlers, where an exception would not be caught. */
    function attempt(work: () => void): void {
      try {
        work();
      } catch (error) {
        fail(error);
      }
    }
    function takePart(take: () => void): void {
      if (over) return;
      parts += 1;
      attempt(take);
    }
    /** Collects tiny chunks, so that a body in a million of them is read in as many steps as packets arrived. */
    function pullSoon(): void {
      if (isPulling) return;
      isPulling = true;
      setImmediate(pull);
    }
    function pull(): void {
      isPulling = false;
      while (!over && !parser.writableNeedDrain) {
        const chunk: Buffer | null = body.read();
        if (chunk === null) return;
        see(chunk);
      }
    }
    function see(chunk: Buffer): void {
      boundaries.see(chunk);
      replacements.see(chunk);
      const isClosed = closing.count > 0;
      const end = closing.see(chunk);
      if (boundaries.count > MAX_PARTS + 1) fail(tooMuch(`The multipart body has more than ${MAX_PARTS} parts.`, ''));
      else if (!isClosed) attempt(() => parser.write(end < 0 ? chunk : chunk.subarray(0, end)));
    }
    function end(): void {
      attempt(() => parser.end());
    }

    parser.on('field', (name: string | undefined, text: string | undefined, info) =>
      takePart(() => {
        const checked = checkName(name);
        checkEncoding(checked, info.encoding);
        const longest = taker.longest(checked);
        if (info.valueTruncated || Buffer.byteLength(text ?? '') > longest) {
          throw tooMuch(`\`${checked}\` is longer than ${longest} bytes. A file is sent with a file name.`, checked);
        }
        // The parser gives up at an unknown charset.
        if (text === undefined) wrong(checked, NO_TEXT);
        const invalid = text.split(REPLACEMENT).length - 1;
        if (invalid > 0 && lost === 0) doubtful = checked;
        lost += invalid;
        taker.text(checked, text);
      }),
    );
    parser.on(
      'file',
      (name: string | undefined, stream, info: { filename?: string; encoding: string; mimeType: string }) => {
        // Stays registered after the end of the parser: an unhandled error would end the process.
        stream.on('error', () => {});
        takePart(() => {
          const checked = checkName(name);
          checkEncoding(checked, info.encoding);
          const kept = keep(stream, taker.file(checked, info.filename ?? '', info.mimeType), checked);
          kept.catch(fail);
          files.push(kept);
        });
      },
    );
    parser.on('fieldsLimit', () => fail(tooMuch(`The multipart body has more than ${MAX_TEXTS} texts.`, '')));
    parser.on('error', (error) => fail(malformed(/header/.test(String(error)) ? BAD_HEAD : TOO_SHORT)));
    parser.on('finish', () => {
      if (boundaries.count !== parts + 1) fail(malformed(UNREAD_PART));
      else if (lost > replacements.count) fail(refusal(doubtful, NO_TEXT));
      // The data may still be on its way to storage.
      else Promise.all(files).then(resolve, fail);
    });
    parser.on('drain', pullSoon);

    // Not `pipeline`, which would destroy the client's connection together with the parser.
    const left = (error?: Error): void => fail(error ?? new Error('it is truncated'));
    body.on('readable', pullSoon);
    body.on('end', end);
    body.on('error', left);
    body.on('close', () => !body.readableEnded && left());
    if (body.destroyed) left();
  });
}

/** Reads the next chunk only when the previous one was written. */
async function keep(stream: Readable, file: SpoolFile, name: string): Promise<Upload> {
  for await (const chunk of stream) await file.write(chunk);
  const upload = await file.end();
  return upload.size > 0 ? upload : wrong(name, 'is empty: send the file itself');
}

function checkName(name: string | undefined): string {
  if (name === undefined)
    throw malformed('each part needs a name, as in `Content-Disposition: form-data; name="model"`');
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    const shortened = name.slice(0, MAX_NAME_BYTES);
    throw tooMuch(
      `\`${shortened}\`… is longer than the ${MAX_NAME_BYTES} bytes that the name of a field may have.`,
      shortened,
    );
  }
  if (NO_NAME.test(name)) throw malformed('the name of a field must be text in UTF-8 without control characters');
  return RESERVED.test(name) ? wrong(name, 'is not a known field') : name;
}

function checkEncoding(name: string, encoding: string): void {
  if (!PLAIN.includes(encoding)) wrong(name, 'must be sent as it is, without a Content-Transfer-Encoding');
}

/** Refuses the body because of a field; `should` ends the sentence that begins with its name. */
export function wrong(param: string, should: string): never {
  throw refusal(param, should);
}

function refusal(param: string, should: string): GatewayError {
  return invalidField(param, should);
}

function malformed(why: string): GatewayError {
  return errors.invalid_form(`The multipart body is malformed: ${why}.`);
}

function tooMuch(message: string, param: string): GatewayError {
  return coreErrors.request_too_large(message).with({ param });
}

/** Starts the search for `mark`; `before` precedes the first chunk. */
function lookFor(mark: Buffer, before: Buffer = Buffer.alloc(0)) {
  const overlap = mark.length - 1;
  let count = 0;
  return {
    /** The offset in the chunk after the first occurrence that ends there; -1: none does. */
    see(chunk: Buffer): number {
      const seam = Buffer.concat([before, chunk.subarray(0, overlap)]);
      const atSeam = seam.indexOf(mark);
      const inside = chunk.indexOf(mark);
      const [first, already] = atSeam >= 0 ? [atSeam, before.length] : [inside, 0];
      count += countFrom(seam, atSeam, mark) + countFrom(chunk, inside, mark);
      // A copy, so that the chunk can be freed.
      before = Buffer.from((chunk.length < overlap ? seam : chunk).subarray(-overlap));
      return first < 0 ? -1 : first + mark.length - already;
    },
    get count() {
      return count;
    },
  };
}

function countFrom(bytes: Buffer, first: number, mark: Buffer): number {
  let total = 0;
  for (let at = first; at >= 0; at = bytes.indexOf(mark, at + 1)) total += 1;
  return total;
}
