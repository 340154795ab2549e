/** Writes the heads of requests, and refuses what would let a header become something else on the wire. */
import type { UpstreamRequest } from '../upstream.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a value may not hold: control characters, line ends first of all, and what is no single byte. */
const NO_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const NO_PATH = /[^\x21-\x7e\x80-\xff]/;

/** Names that were found to be tokens, and what they mean here. Plugins choose them, so there are few. */
const kinds = new Map<string, Kind>();
const MAX_KINDS = 1_000;
type Kind = 'plain' | 'host' | 'length' | 'refused';
/** The client alone says where a body ends and what becomes of the connection. */
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

/**
 * The head of a request, with the empty line behind it. `host`: of the origin, if no header names another. Undefined if something in
 * it cannot be sent: a control character, a name that is no token, or a header that frames the message in another way than the body.
 */
export function requestHead(request: UpstreamRequest, host: string): string | undefined {
  const { method = 'POST', path, headers, body } = request;
  if (NO_PATH.test(path)) return undefined;
  const length = body?.length ?? (method === 'POST' ? 0 : undefined);
  let lines = '';
  let named = host;
  for (const name in headers) {
    const value = headers[name]!;
    if (NO_VALUE.test(value)) return undefined;
    switch (kinds.get(name) ?? kindOf(name)) {
      case 'plain':
        lines += `${name}: ${value}\r\n`;
        break;
      case 'host':
        named = value;
        break;
      case 'length':
        if (value !== String(length)) return undefined;
        break;
      default:
        return undefined;
    }
  }
  const framing = length === undefined ? '' : `content-length: ${length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: ${named}\r\n${lines}${framing}\r\n`;
}

function kindOf(name: string): Kind {
  if (!TOKEN.test(name)) return 'refused';
  const lower = name.toLowerCase();
  const kind = Object.hasOwn(KINDS, lower) ? KINDS[lower]! : 'plain';
  if (kinds.size < MAX_KINDS) kinds.set(name, kind);
  return kind;
}
