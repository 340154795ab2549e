/** Takes a form apart as it comes: the parser, its limits, and everything that can go wrong with it. */
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { coreErrors, invalidField } from '../../../core/contracts/errors.ts';
import type { GatewayError, SpoolFile, Upload } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { lookFor } from './occurrences.ts';

/** What becomes of the parts. What these throw refuses the form. */
export interface PartTaker {
  /** The longest text that may come under a name, in bytes. */
  longest(name: string): number;
  text(name: string, text: string): void;
  /** Where the file is to be kept. `fileName` as it came. */
  file(name: string, fileName: string, mediaType: string): SpoolFile;
}

/** No text may be longer than this many bytes, whatever its name. */
export const LONGEST_TEXT = 1_048_576;

const MAX_NAME_BYTES = 100;
const MAX_TEXTS = 64;
const MAX_PARTS = 100;
const BAD_HEAD = 'the head of a part is malformed or larger than 16 KiB';
const TOO_SHORT = 'it ends before its last boundary, or without the blank line after the head of a part';
const UNREAD_PART =
  'each part must begin with `Content-Disposition: form-data; name="…"`, and each boundary be a line of its own';
/** Of `Content-Transfer-Encoding`; the others would have to be decoded. */
const PLAIN = ['7bit', '8bit', 'binary'];
const REPLACEMENT = '\ufffd';
const NO_TEXT = 'must be a text in UTF-8';
/** Control characters, and what stands for bytes that are no text. */
const NO_NAME = /[\p{Cc}\ufffd]/u;
/** Names that mean something else to an object. */
const RESERVED = /^(__proto__|constructor|prototype)(\[\])?$/;

/**
 * Reads a form to its end; tells what became of its files, in their order. Rejects as soon as something is wrong with it, and reads
 * no further then. `body` is left as it is, for an answer may still have to go out beside it.
 */
export function takeParts(body: Readable, boundary: string, taker: PartTaker): Promise<readonly Upload[]> {
  // The parser passes over parts that it does not understand, and tells nobody: what a client sent would be left out in silence. So
  // there must be one boundary more than parts. A body begins as if after a line end.
  const boundaries = lookFor(Buffer.from(`\r\n--${boundary}`), Buffer.from('\r\n'));
  // Behind the last one it may go on, and wait for ever for the end of a file there; so it never sees that.
  const closing = lookFor(Buffer.from(`\r\n--${boundary}--`), Buffer.from('\r\n'));
  // It makes such a character of every byte that is no UTF-8: there may be no more of them in the texts than were sent.
  const replacements = lookFor(Buffer.from(REPLACEMENT));
  const parser = busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
    defParamCharset: 'utf8',
    preservePath: true,
    // It calls a text that is exactly as long as its limit too long.
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
      // Takes the file that is being read with it.
      parser.destroy();
      reject(reason);
    }
    /** All of this runs at times of its own, when nobody else is there to catch. */
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
    /** Not at once: what comes in a million tiny chunks is read in as many as it came in packets, and not byte by byte. */
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
      if (boundaries.count > MAX_PARTS + 1) fail(tooMuch(`The form has more than ${MAX_PARTS} parts.`, ''));
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
        // The parser gives up where it does not know the charset.
        if (text === undefined) wrong(checked, NO_TEXT);
        const found = text.split(REPLACEMENT).length - 1;
        if (found > 0 && lost === 0) doubtful = checked;
        lost += found;
        taker.text(checked, text);
      }),
    );
    parser.on(
      'file',
      (name: string | undefined, stream, info: { filename?: string; encoding: string; mimeType: string }) => {
        // It hears of whatever befalls the parser, even after nobody reads it any more; unheard, an error would end the process.
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
    parser.on('fieldsLimit', () => fail(tooMuch(`The form has more than ${MAX_TEXTS} texts.`, '')));
    parser.on('error', (error) => fail(malformed(/header/.test(String(error)) ? BAD_HEAD : TOO_SHORT)));
    parser.on('finish', () => {
      if (boundaries.count !== parts + 1) fail(malformed(UNREAD_PART));
      else if (lost > replacements.count) fail(refusal(doubtful, NO_TEXT));
      // What was read may still be on its way to where it is kept.
      else Promise.all(files).then(resolve, fail);
    });
    parser.on('drain', pullSoon);

    // Not `pipeline`, which would take the client's connection down together with the parser.
    const left = (error?: Error): void => fail(error ?? new Error('the body broke off'));
    body.on('readable', pullSoon);
    body.on('end', end);
    body.on('error', left);
    body.on('close', () => !body.readableEnded && left());
    if (body.destroyed) left();
  });
}

/** One piece after the other: the next one is read when this one is written. */
async function keep(stream: Readable, file: SpoolFile, name: string): Promise<Upload> {
  for await (const chunk of stream) await file.write(chunk);
  const upload = await file.end();
  return upload.size > 0 ? upload : wrong(name, 'is empty: send the file itself');
}

function checkName(name: string | undefined): string {
  if (name === undefined)
    throw malformed('each part needs a name, as in `Content-Disposition: form-data; name="model"`');
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    const shown = name.slice(0, MAX_NAME_BYTES);
    throw tooMuch(`\`${shown}\`… is longer than the ${MAX_NAME_BYTES} bytes that the name of a field may have.`, shown);
  }
  if (NO_NAME.test(name)) throw malformed('the name of a field must be text in UTF-8 without control characters');
  return RESERVED.test(name) ? wrong(name, 'is not the name of any field') : name;
}

function checkEncoding(name: string, encoding: string): void {
  if (!PLAIN.includes(encoding)) wrong(name, 'must be sent as it is, without a Content-Transfer-Encoding');
}

/** Refuses the form because of a field; `should` ends the sentence that begins with its name. */
export function wrong(param: string, should: string): never {
  throw refusal(param, should);
}

function refusal(param: string, should: string): GatewayError {
  return invalidField(param, should);
}

function malformed(why: string): GatewayError {
  return errors.invalid_form(`The form cannot be read: ${why}.`);
}

function tooMuch(message: string, param: string): GatewayError {
  return coreErrors.request_too_large(message).with({ param });
}
