/** Reads a folder of recorded vendor traffic, whatever the form of its lines. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Json, JsonObject } from '../../core/contracts/json.ts';
import { isObject, objectOf, parsed } from './json.ts';

/** The styles that recorded vendors speak. */
export type VendorStyle = 'chat' | 'responses' | 'messages' | 'gemini';

/** What a line tells, whatever its form: who was asked what in which style, and the bytes that came back. */
export interface Recorded {
  /** `openai-chat` */
  readonly file: string;
  /** The line's; with `#2` behind it where a line holds several answers. */
  readonly id: string;
  readonly style: VendorStyle;
  /** The vendor's name for the model; empty where nobody says. */
  readonly model: string;
  /** Undefined where only the answer was recorded. */
  readonly request: JsonObject | undefined;
  readonly status: number;
  readonly contentType: string;
  readonly stream: boolean;
  readonly body: Buffer;
}

/** What a folder holds, and which of its lines nobody can play. */
export interface Folder {
  readonly exchanges: readonly Recorded[];
  readonly skipped: readonly { readonly file: string; readonly id: string; readonly reason: string }[];
}

/** What is read of a folder and all folders in it; packed or not. */
const RECORDINGS = /\.jsonl(\.gz)?$/;

/** Reads every line of every `*.jsonl` of a folder. The style of a line is what its path, its format or its shape says. */
export function readFolder(dir: string): Folder {
  const exchanges: Recorded[] = [];
  const skipped: Folder['skipped'][number][] = [];
  const files = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && RECORDINGS.test(entry.name))
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)));
  for (const path of files.sort()) {
    const file = path.replace(RECORDINGS, '');
    let place = 'the file';
    // Whatever cannot be read is skipped: one file that is torn hides none of the others.
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

/** What a line holds, or why it cannot be played. */
export type ReadLine = { readonly exchanges: readonly Recorded[] } | { readonly id: string; readonly reason: string };

/** Reads one line; `place` stands for the id of a line that has none. */
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
  // Of a header no more than a header can hold.
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

/** All that mean success are 200 here; undefined for a status under which no body comes. */
function statusOf({ status = 200 }: JsonObject): number | undefined {
  const code = Number(status);
  if (!Number.isInteger(code) || code < 200 || code > 599 || code === 204 || code === 304) return undefined;
  return code < 300 ? 200 : code;
}

/** By the path where there is one, else by the name of the format, else by the shape of the request. */
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
  const asked = objectOf(request);
  if (asked.contents !== undefined) return 'gemini';
  if (asked.messages !== undefined)
    return asked.max_tokens !== undefined && asked.n === undefined ? 'messages' : 'chat';
  return { reason: called === '' ? 'neither path nor format' : `the format ${called} is not known` };
}

function modelOf(line: JsonObject, request: JsonObject | undefined): string {
  const [, inPath = ''] = typeof line.path === 'string' ? (/\/models\/([^/:?]+):/.exec(line.path) ?? []) : [];
  const model = typeof request?.model === 'string' ? request.model : inPath;
  // It stands in a gateway's file, which takes no name that is no name.
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
  // One vendor streams a list of JSON values where nobody asks for events.
  const asked = typeof line.path === 'string' && /:streamGenerateContent(\?|$)/.test(line.path);
  if (asked && Array.isArray(response)) return [{ body: streamOf(response as readonly Json[], style), stream: true }];
  if (response === undefined || response === null) return [];
  // Pages of proxies are no JSON.
  const isPage = typeof response === 'string' && !/json/.test(String(line.contentType ?? 'json'));
  return [{ body: isPage ? response : JSON.stringify(response), stream: false }];
}

/** The events that end an answer, by their type. */
const LAST: ReadonlySet<Json | undefined> = new Set([
  'message_stop',
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** A list of events may hold several answers one behind the other. */
function splitAnswers(events: readonly Json[], style: VendorStyle): readonly (readonly Json[])[] {
  if (style === 'chat' || style === 'gemini') return [events];
  const answers: Json[][] = [[]];
  for (const [at, event] of events.entries()) {
    answers.at(-1)!.push(event);
    if (LAST.has(objectOf(event).type) && at < events.length - 1) answers.push([]);
  }
  return answers;
}

/** Events as the vendors of a style write them. */
function streamOf(events: readonly Json[], style: VendorStyle): string {
  const data = events.map((event) => `data: ${JSON.stringify(event)}`);
  if (style === 'gemini') return data.map((line) => `${line}\r\n\r\n`).join('');
  if (style === 'chat') return `${data.map((line) => `${line}\n\n`).join('')}data: [DONE]\n\n`;
  return events.map((event, i) => `event: ${String(objectOf(event).type)}\n${data[i]}\n\n`).join('');
}
