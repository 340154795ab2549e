/** Checks the head of a request: refuses what `node:http` accepts but is ambiguous or unsafe for a gateway. */

import type { IncomingMessage } from 'node:http';
import type { Headers } from '../contracts/definitions.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import { Dictionary } from '../helpers/dictionary.ts';
import { codingOf } from './codings.ts';

/** The parsed head, used by all later code. */
export interface Head {
  readonly method: string;
  readonly path: string;
  /** Without the question mark; empty if there is none. */
  readonly search: string;
  readonly headers: Headers;
  /** Declared length of the body; undefined if it is chunked. */
  readonly length: number | undefined;
  readonly hasBody: boolean;
  /** How the body is compressed; undefined if it is not. `length` is that of the compressed body. */
  readonly coding: string | undefined;
}

/** Maximum number of headers; more are refused, because node silently drops those beyond its own limit. */
export const MAX_HEADERS = 100;
const MAX_TARGET = 8_192;
const METHODS = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';
const METHOD_SET: ReadonlySet<string> = new Set(METHODS.split(', '));
const HOST = /^[A-Za-z0-9.\-:[\]]+$/;
/** Visible ASCII without `#` and `\`, which proxies and servers interpret differently. */
const TARGET = /^\/[!"$-[\]-~]*$/;
/** The target of a request to a proxy: `http://host/path`. Servers accept it, too (RFC 9112, 3.2.2). */
const ABSOLUTE = /^https?:\/\/((?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?)(?=[/?]|$)/i;
/** Encoded dots and separators: used to make two parsers see different paths. */
const DISGUISED = /%2e|%5c|%00|\/\/|\/\.{1,2}([/;]|$)/i;
/** Duplicates of these could be interpreted differently by two parsers. */
const ONCE: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'transfer-encoding',
]);
/** Credential headers of all vendors. */
const isCredential = (name: string): boolean => name.endsWith('api-key');

/** Parses and checks a request's head; throws the error for the client. A refused head also closes the connection. */
export function readHead(request: IncomingMessage): Head {
  const method = request.method ?? '';
  if (!METHOD_SET.has(method)) throw methodNotServed();
  const headers = readHeaders(request.rawHeaders);
  checkVersion(request.httpVersion, headers);
  const coding = codingOf(headers['content-encoding']);
  checkHost(request.httpVersion, headers);
  checkExpectation(headers.expect);
  const target = originForm(request.url ?? '', headers);
  if (target.length > MAX_TARGET) {
    throw coreErrors.uri_too_long(MAX_TARGET);
  }
  if (target === '*' && method === 'OPTIONS') {
    return { method, path: target, search: '', headers, length: undefined, hasBody: false, coding };
  }
  const question = target.indexOf('?');
  const path = question < 0 ? target : target.slice(0, question);
  if (target !== lastTarget) {
    if (!TARGET.test(target) || DISGUISED.test(path)) throw coreErrors.invalid_path();
    checkEncoding(path);
    lastTarget = target;
  }
  const length = readLength(headers['content-length']);
  const hasBody = headers['transfer-encoding'] !== undefined || (length !== undefined && length > 0);
  if (hasBody && method !== 'POST' && method !== 'PUT') {
    throw coreErrors.unexpected_body(method);
  }
  return { method, path, search: question < 0 ? '' : target.slice(question + 1), headers, length, hasBody, coding };
}

/** The last valid values: most requests have the same ones. */
let lastTarget: string | undefined;
let lastHost: string | undefined;

/** The path and query of a target; the host of an absolute one replaces that of the header. */
function originForm(target: string, headers: Record<string, string>): string {
  const [whole, host] = target.startsWith('/') ? [] : (ABSOLUTE.exec(target) ?? []);
  if (whole === undefined) return target;
  headers.host = host!;
  const rest = target.slice(whole.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Refuses (400) a path whose encoded characters cannot be decoded: it names nothing. */
function checkEncoding(path: string): void {
  if (!path.includes('%')) return;
  try {
    decodeURIComponent(path);
  } catch {
    throw coreErrors.invalid_path(
      'The path has a `%` that does not begin an encoded character of UTF-8. Encode `%` as `%25`.',
    );
  }
}

/** All methods that are served anywhere. */
export const ALL_METHODS: readonly string[] = METHODS.split(', ');

/** For unsupported methods, those that the parser refuses included. */
export function methodNotServed(): GatewayError {
  return coreErrors
    .method_not_allowed(`This method is not served here; ${METHODS} are.`)
    .with({ headers: { allow: METHODS } });
}

function readHeaders(raw: readonly string[]): Record<string, string> {
  if (raw.length >= 2 * (MAX_HEADERS + 1)) {
    throw coreErrors.too_many_headers(MAX_HEADERS);
  }
  // No prototype: header names are untrusted, `__proto__` included.
  const headers = new Dictionary();
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    const value = raw[i + 1]!;
    const before = headers[name];
    if (before === undefined) {
      headers[name] = value;
    } else if (ONCE.has(name) || isCredential(name)) {
      throw coreErrors.duplicate_header(name).with({ param: name });
    } else {
      headers[name] = `${before}, ${value}`;
    }
  }
  return headers;
}

function checkVersion(version: string, headers: Headers): void {
  const coding = headers['transfer-encoding'];
  if (version !== '1.1' && (version !== '1.0' || coding !== undefined)) {
    throw coreErrors.http_version_not_supported();
  }
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || headers['content-length'] !== undefined)) {
    throw coreErrors.invalid_transfer_encoding();
  }
}

function checkHost(version: string, headers: Headers): void {
  const host = headers.host;
  if (host !== undefined && host === lastHost) return;
  if (host === undefined ? version === '1.1' : !HOST.test(host)) {
    throw coreErrors.invalid_host();
  }
  lastHost = host;
}

function checkExpectation(expected: string | undefined): void {
  if (expected === undefined || expected.toLowerCase() === '100-continue') return;
  throw coreErrors.expectation_failed();
}

/** Some parsers read `010` as eight. */
const LENGTH = /^(0|[1-9]\d{0,14})$/;

function readLength(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!LENGTH.test(text)) {
    throw coreErrors.invalid_content_length();
  }
  return Number(text);
}
