/**
 * Identifies the conversation that a call continues, so that all its calls use the same key of a channel: vendors keep prompt caches for each
 * account, and encrypt reasoning for one. What clients send in every request of a conversation identifies it: the key of the prompt cache, a
 * session id, otherwise the first message of the user.
 */

import type { Json, JsonBody, Span } from '../../core/contracts/formats/json.ts';
import type { Known } from '../../core/plugin.ts';
import { isObject } from '../../core/translation/index.ts';
import { hash } from './choose.ts';

/** Headers with which clients name their session: coding agents and SDKs. */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'thread-id',
  'x-session-affinity',
  'x-session-id',
  'conversation_id',
];

/** Undefined for a call that is not a conversation: it may use any key. Conversations of two callers are never the same. */
export function conversationOf({ call: { body }, headers, identity, style }: Known): number | undefined {
  if (style?.client === undefined) return undefined;
  const name = cacheKeyIn(body) ?? sessionIn(headers) ?? firstMessage(body);
  return name === undefined ? undefined : hash(`${identity.key.id}\n${name}`);
}

function cacheKeyIn(body: JsonBody): string | undefined {
  if (!body.has('prompt_cache_key')) return undefined;
  const key = body.get('prompt_cache_key');
  return typeof key === 'string' && key !== '' ? key : undefined;
}

function sessionIn(headers: Known['headers']): string | undefined {
  for (const name of SESSION_HEADERS) if (headers[name]) return headers[name];
  return undefined;
}

/** Only this many bytes of a message, and this many messages, are read. */
const MAX_BYTES = 64 * 1_024;
const MAX_MESSAGES = 16;

/** The text of the first message of the user. Cache marks are not a part of it: clients move them from turn to turn. */
function firstMessage({ bytes, members }: JsonBody): string | undefined {
  const span = members.get('messages') ?? members.get('input');
  if (span === undefined) return undefined;
  if (bytes[span.start] === QUOTE) return textOf(bytes, span, (text) => text);
  let read = 0;
  for (const element of elementsOf(bytes, span)) {
    const found = textOf(bytes, element, (message) =>
      isObject(message) && message.role === 'user' ? textsIn(message.content) : undefined,
    );
    if (found !== undefined || ++read === MAX_MESSAGES) return found;
  }
  return undefined;
}

/** The text that `find` finds in a value; of a long value its beginning. */
function textOf(bytes: Buffer, { start, end }: Span, find: (value: Json) => Json | undefined): string | undefined {
  if (end - start > MAX_BYTES) return bytes.toString('utf8', start, start + MAX_BYTES);
  const found = find(JSON.parse(bytes.toString('utf8', start, end)) as Json);
  return typeof found === 'string' ? found : undefined;
}

/** The texts in the content of a message; the content itself if it has none. */
function textsIn(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  const texts = Array.isArray(content) ? content.map((part: Json) => (isObject(part) ? part.text : undefined)) : [];
  const own = texts.filter((text) => typeof text === 'string');
  return own.length > 0 ? own.join('\n') : JSON.stringify(content ?? null);
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** In ASCII, `[` and `{`, and `]` and `}`, differ in this bit only. */
const CURLY = 0x20;
const OPENS = 0x5b | CURLY;
const CLOSES = 0x5d | CURLY;

/** The elements of a valid JSON array, one at a time, so that a long conversation is not parsed for its first message. */
function* elementsOf(bytes: Buffer, { start, end }: Span): Iterable<Span> {
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at++;
      while (bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    } else if ((byte | CURLY) === OPENS) {
      depth++;
    } else if ((byte | CURLY) === CLOSES) {
      depth--;
      if (depth === 0 && bytes.subarray(from, at).some((each) => each > SPACE)) yield { start: from, end: at };
    } else if (byte === COMMA && depth === 1) {
      yield { start: from, end: at };
      from = at + 1;
    }
  }
}
