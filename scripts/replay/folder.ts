/** Reads a folder of recorded vendor traffic in various line formats. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { isObject, objectOf, parsed } from './json.ts';

/** The styles of recorded vendors. */
export type VendorStyle = 'chat' | 'responses' | 'messages' | 'gemini';

/** One recorded exchange: vendor, style, request, and the answer's bytes. */
export interface Recorded {
  /** `openai-chat` */
  readonly file: string;
  /** The line's; followed by `#2` if a line contains several answers. */
  readonly id: string;
  readonly style: VendorStyle;
  /** The vendor's name for the model; empty if unknown. */
  readonly model: string;
  /** Undefined if only the answer was recorded. */
  readonly request: JsonObject | undefined;
  readonly status: number;
  readonly contentType: string;
  readonly stream: boolean;
  readonly body: Buffer;
}

/** The exchanges of a folder, and the skipped lines. */
export interface Folder {
  readonly exchanges: readonly Recorded[];
  readonly skipped: readonly { readonly file: string; readonly id: string; readonly reason: string }[];
}

/** The files that are read, in all subfolders; compressed or not. */
const RECORDINGS = /\.jsonl(\.gz)?$/;

/** Reads every line of every `*.jsonl` of a folder. The style of a line follows from its path, format or shape. */
export function readFolder(dir: string): Folder {
  const exchanges: Recorded[] = [];
  const skipped: Folder['skipped'][number][] = [];
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && RECORDINGS.test(entry.name))
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)));
  for (const path of files.sort()) {
    const file = path.replace(RECORDINGS, '');
    let place = 'the file';
    // Unreadable files are skipped: a truncated one does not hide the others.
    const attempt = (read: () => void): void => {
      try {
        read();
      } catch (error) {
        skipped.push({ file, id: place, reason: `cannot be read: ${error instanceof Error ? error.message : error}` });
      }
    };
    attempt(() => {
      const bytes = readFileSync(join(dir, path));
      for (const [at, line] of [...linesIn(path.endsWith('.gz') ? gunzipSync(bytes) : bytes)].entries()) {
        place = `line ${at + 1}`;
        attempt(() => {
          const text = line.toString().replace(/^\ufeff/, '');
          if (text.trim() === '') return;
          const read = readLine(text, file, place);
          if ('reason' in read) skipped.push({ file, ...read });
          else exchanges.push(...read.exchanges);
        });
      }
    });
  }
  return { exchanges, skipped };
}

/** Line by line: a whole file may be longer than a string can be. */
function* linesIn(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, start);
    yield bytes.subarray(start, end === -1 ? bytes.length : end);
    start = end === -1 ? bytes.length : end + 1;
  }
}

const LINE_FEED = 0x0a;

/** The exchanges of a line, or why it cannot be played. */
export type ReadLine = { readonly exchanges: readonly Recorded[] } | { readonly id: string; readonly reason: string };

/** Reads one line; `place` replaces a missing id. */
export function readLine(text: string, file: string, place: string): ReadLine {
  const value = parsed(text);
  if (value === undefined) return { id: place, reason: 'not JSON' };
  const line = objectOf(value);
  const id = typeof line.id === 'string' ? line.id : place;
  const style = styleOf(line);
  if (typeof style !== 'string') return { id, ...style };
  const request = isObject(line.request) ? line.request : undefined;
  const status = statusOf(line);
  if (status === undefined) return { id, reason: `no answer has the status ${String(line.status)}` };
  const answers = answersOf(line, style);
  if (answers.length === 0) return { id, reason: 'no answer was recorded' };
  // Cut to what a header can contain.
  const [contentType] = typeof line.contentType === 'string' ? line.contentType.split(/[^\x20-\x7e]/) : [];
  return {
    exchanges: answers.map(({ body, stream }, i) => ({
      file,
      id: i === 0 ? id : `${id}#${i + 1}`,
      style,
      model: modelOf(line, request),
      request,
      status,
      contentType: contentType || (stream ? 'text/event-stream' : 'application/json'),
      stream,
      body: Buffer.from(body),
    })),
  };
}

/** All success statuses are 200 here; undefined for a status without a body. */
function statusOf({ status = 200 }: JsonObject): number | undefined {
  const code = Number(status);
  if (!Number.isInteger(code) || code < 200 || code > 599 || code === 204 || code === 304) return undefined;
  return code < 300 ? 200 : code;
}

/** By its path if there is one, otherwise by the name of its format, otherwise by the shape of the request. */
function styleOf({ path, format, request }: JsonObject): VendorStyle | { readonly reason: string } {
  const [target = ''] = typeof path === 'string' ? path.split('?') : [];
  if (/\/chat\/completions$/.test(target)) return 'chat';
  if (/\/responses$/.test(target)) return 'responses';
  if (/\/messages$/.test(target)) return 'messages';
  if (/:(generateContent|streamGenerateContent)$/.test(target)) return 'gemini';
  if (target !== '') return { reason: `no conversation goes to ${target}` };
  const called = typeof format === 'string' ? format.toLowerCase() : '';
  if (/responses/.test(called)) return 'responses';
  if (/messages|anthropic/.test(called)) return 'messages';
  if (/gemini|google|generatecontent/.test(called)) return 'gemini';
  if (/^chat|completions/.test(called)) return 'chat';
  const body = objectOf(request);
  if (body.contents !== undefined) return 'gemini';
  if (body.messages !== undefined) return body.max_tokens !== undefined && body.n === undefined ? 'messages' : 'chat';
  return { reason: called === '' ? 'neither path nor format' : `the format ${called} is not known` };
}

function modelOf(line: JsonObject, request: JsonObject | undefined): string {
  const [, inPath = ''] = typeof line.path === 'string' ? (/\/models\/([^/:?]+):/.exec(line.path) ?? []) : [];
  const model = typeof request?.model === 'string' ? request.model : inPath;
  // It is used in a gateway's file, which refuses invalid names.
  return /^[\w.:@/+-]{1,100}$/.test(model) ? model : '';
}

/** The bytes of each answer in a line. */
function answersOf(line: JsonObject, style: VendorStyle): { readonly body: string; readonly stream: boolean }[] {
  const { sse, response, events } = line;
  if (typeof sse === 'string') return [{ body: sse, stream: true }];
  if (Array.isArray(events)) {
    const all = events as readonly Json[];
    return splitAnswers(all, style).map((part) => ({ body: streamOf(part, style), stream: true }));
  }
  // One vendor streams a JSON list unless events are requested.
  const isGeminiStream = typeof line.path === 'string' && /:streamGenerateContent(\?|$)/.test(line.path);
  if (isGeminiStream && Array.isArray(response))
    return [{ body: streamOf(response as readonly Json[], style), stream: true }];
  if (response === undefined || response === null) return [];
  // Error pages of proxies are not JSON.
  const isPage = typeof response === 'string' && !/json/.test(String(line.contentType ?? 'json'));
  return [{ body: isPage ? response : JSON.stringify(response), stream: false }];
}

/** The event types that end an answer. */
const LAST: ReadonlySet<Json | undefined> = new Set([
  'message_stop',
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** A list of events may contain several answers. */
function splitAnswers(events: readonly Json[], style: VendorStyle): readonly (readonly Json[])[] {
  if (style === 'chat' || style === 'gemini') return [events];
  const answers: Json[][] = [[]];
  for (const [at, event] of events.entries()) {
    answers.at(-1)!.push(event);
    if (LAST.has(objectOf(event).type) && at < events.length - 1) answers.push([]);
  }
  return answers;
}

/** Events as the vendors of a style encode them. */
function streamOf(events: readonly Json[], style: VendorStyle): string {
  const data = events.map((event) => `data: ${JSON.stringify(event)}`);
  if (style === 'gemini') return data.map((line) => `${line}\r\n\r\n`).join('');
  if (style === 'chat') return `${data.map((line) => `${line}\n\n`).join('')}data: [DONE]\n\n`;
  return events.map((event, i) => `event: ${String(objectOf(event).type)}\n${data[i]}\n\n`).join('');
}
