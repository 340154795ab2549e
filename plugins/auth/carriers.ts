/** Where a request may carry its key: one function reads all places, so that none of them is checked less than another. */
import { coreErrors } from '../../core/contracts/errors.ts';
import type { KeyPlaces } from '../../core/contracts/key-places.ts';
import type { Caller } from '../../core/plugin.ts';
import { schema } from '../../core/plugin.ts';

/** How the section `auth` must look. */
export const authSection = schema<KeyPlaces>({
  type: 'object',
  additionalProperties: false,
  properties: {
    headers: {
      description: 'Headers a key may stand in. In `authorization` it follows the word Bearer.',
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', pattern: '^[a-z0-9-]+$' },
      default: ['authorization', 'x-api-key', 'x-goog-api-key'],
    },
    query: {
      description: 'The query parameter a key may stand in, on GET /v1/models and /v1beta/models only.',
      type: 'string',
      minLength: 1,
      default: 'key',
    },
  },
  default: {},
});

/** Some tools leave the word out before a key. */
const BEARER = /^(?:bearer (?=\S)|(?=sk-))([^\s,]+)$/i;
const PLAIN = /^[^\s,]+$/;
/** Addresses land in logs of proxies and browsers; these are read by clients that know no other way. */
const QUERY_PATH = /^\/v1(?:beta)?\/models(?:\/|$)/;

/** Pages in a browser cannot set the headers of a websocket; among its protocols they name their key, as realtime clients do. */
const KEY_PROTOCOL = /^openai-insecure-api-key\.(.*)$/;

/** The key a request carries; undefined where there is none. Refuses (401) where it is malformed, and where two places disagree. */
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

/** The keys among the protocols of a websocket. */
function keyProtocols({ method, headers }: Caller): readonly string[] {
  const protocols = headers['sec-websocket-protocol'];
  if (protocols === undefined || method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return [];
  return protocols.split(/[\s,]+/).flatMap((protocol) => KEY_PROTOCOL.exec(protocol)?.[1] ?? []);
}

/** Refuses (401) a request without one. */
export function refuseNoKey(): never {
  throw coreErrors.invalid_api_key('No API key: send `Authorization: Bearer sk-…`.');
}

/** The key found in one more place, which must be there and must be the one found before, if any was. */
function agreed(before: string | undefined, found: string | undefined): string {
  if (found === undefined)
    throw coreErrors.invalid_api_key('The API key is malformed: send `Authorization: Bearer sk-…`.');
  if (before !== undefined && before !== found) {
    throw coreErrors.invalid_api_key('Two different API keys were sent: send one.');
  }
  return found;
}
