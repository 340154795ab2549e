/** Finds the API key of a request: one function reads all places, so that all are validated alike. */
import { coreErrors } from '../../core/contracts/errors.ts';
import type { KeyPlaces } from '../../core/contracts/key-places.ts';
import { type Caller, typed } from '../../core/plugin.ts';

export const authSection = typed({
  type: 'object',
  additionalProperties: false,
  properties: {
    headers: {
      description: 'Headers that may contain a key. In `authorization` it follows the word Bearer.',
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', pattern: '^[a-z0-9-]+$' },
      default: ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'],
    },
    query: {
      description: 'The query parameter that may contain a key, on GET /v1/models and /v1beta/models only.',
      type: 'string',
      minLength: 1,
      default: 'key',
    },
  },
  default: {},
});

/** Some clients omit the authorization scheme. */
const BEARER = /^(?:bearer (?=\S)|(?=sk-))([^\s,]+)$/i;
const PLAIN = /^[^\s,]+$/;
/** URLs are logged by proxies and browsers; these routes are used by clients that can only send a key in the URL. */
const QUERY_PATH = /^\/v1(?:beta)?\/models(?:\/|$)/;

/** Pages in a browser cannot set headers of a WebSocket, so realtime clients send their key as a subprotocol. */
const KEY_PROTOCOL = /^openai-insecure-api-key\.(.*)$/;

/** The key of a request; undefined if there is none. Refuses (401) a malformed key, and two different ones. */
export function presentedKey(caller: Caller, places: KeyPlaces): string | undefined {
  let key: string | undefined;
  for (const name of places.headers) {
    const value = caller.headers[name];
    if (value === undefined) continue;
    key = agreed(key, name === 'authorization' ? BEARER.exec(value)?.[1] : PLAIN.exec(value)?.[0]);
  }
  if (caller.method === 'GET' && QUERY_PATH.test(caller.path)) {
    for (const value of caller.query.getAll(places.query)) key = agreed(key, PLAIN.exec(value)?.[0]);
  }
  for (const value of keyProtocols(caller)) key = agreed(key, PLAIN.exec(value)?.[0]);
  return key;
}

/** Keys among the subprotocols of a WebSocket. */
function keyProtocols({ method, headers }: Caller): readonly string[] {
  const protocols = headers['sec-websocket-protocol'];
  if (protocols === undefined || method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return [];
  return protocols.split(/[\s,]+/).flatMap((protocol) => KEY_PROTOCOL.exec(protocol)?.[1] ?? []);
}

/** Refuses (401) a request without a key. */
export function refuseNoKey(): never {
  throw coreErrors.invalid_api_key('No API key: send `Authorization: Bearer sk-…`.');
}

/** The key in one more place: it must be well-formed, and equal to an earlier one. */
function agreed(before: string | undefined, candidate: string | undefined): string {
  if (candidate === undefined)
    throw coreErrors.invalid_api_key('The API key is malformed: send `Authorization: Bearer sk-…`.');
  if (before !== undefined && before !== candidate) {
    throw coreErrors.invalid_api_key('Two different API keys were sent: send one.');
  }
  return candidate;
}
