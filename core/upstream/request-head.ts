/** Encodes request heads, and refuses invalid headers (header injection). */
import type { UpstreamRequest } from './upstream.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Not allowed in a value: control characters, line ends included, and characters beyond one byte. */
const NO_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const NO_PATH = /[^\x21-\x7e\x80-\xff]/;

type Kind = 'plain' | 'host' | 'length' | 'refused';
/** Headers that only the client sets: framing of the body and connection management. */
const KINDS: Readonly<Record<string, Kind>> = {
  host: 'host',
  'content-length': 'length',
  connection: 'refused',
  'keep-alive': 'refused',
  'transfer-encoding': 'refused',
  upgrade: 'refused',
  expect: 'refused',
  te: 'refused',
  trailer: 'refused',
};

/** The last line of each plain header name. Most headers are the same in every request. */
interface Line {
  readonly kind: Kind;
  value: string;
  text: string;
}

/** By the names as sent. Plugins choose them, so there are few; the cache is limited. */
const lines = new Map<string, Line>();
const MAX_LINES = 1_000;

/**
 * The head of a request, with its empty line. `host`: of the origin, if there is no `host` header. Undefined if
 * something is invalid: a control character, a name that is not a token, or a header that contradicts the framing of
 * the body.
 */
export function requestHead(request: UpstreamRequest, host: string): string | undefined {
  const { method = 'POST', path, headers, body } = request;
  if (NO_PATH.test(path)) return undefined;
  const length = body?.length ?? (method === 'POST' ? 0 : undefined);
  let named = host;
  let fields = '';
  for (const name in headers) {
    const value = headers[name]!;
    const line = lines.get(name) ?? lineOf(name);
    if (line.value !== value) {
      if (NO_VALUE.test(value)) return undefined;
      line.value = value;
      line.text = `${name}: ${value}\r\n`;
    }
    if (line.kind === 'plain') fields += line.text;
    else if (line.kind === 'host') named = value;
    else if (line.kind === 'refused' || value !== String(length)) return undefined;
  }
  const framing = length === undefined ? '' : `content-length: ${length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: ${named}\r\n${fields}${framing}\r\n`;
}

function lineOf(name: string): Line {
  const lower = name.toLowerCase();
  const kind = !TOKEN.test(name) ? 'refused' : Object.hasOwn(KINDS, lower) ? KINDS[lower]! : 'plain';
  const line: Line = { kind, value: '', text: `${name}: \r\n` };
  if (lines.size < MAX_LINES) lines.set(name, line);
  return line;
}
