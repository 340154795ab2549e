/** The additions of a channel to every request: `{model}` in its url, `query:` and `headers:`, and the signature of its vendor. */

import { createHash } from 'node:crypto';
import type { BodyStream } from '../bytes/body-stream.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Channel } from '../contracts/formats/channel.ts';
import type { RequestToSign, Vendor } from '../contracts/formats/vendor.ts';
import type { Awaitable } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';

const MODEL = '{model}';

/** The address below which a channel serves a model; throws if that depends on the model and `model` is undefined. */
export function urlOf({ name, url }: Channel, model: string | undefined): string {
  if (!url.includes(MODEL)) return url;
  if (model === undefined)
    throw new Error(`the url of channel ${name} depends on the model, and this request has none`);
  return url.replaceAll(MODEL, () => encodeURIComponent(model));
}

/** Adds the channel's query parameters to an address; they replace others of the same name. */
export function addQuery(url: URL, { query }: Channel): void {
  let added = '';
  for (const name in query) {
    // Other parameters keep their spelling.
    if (url.searchParams.has(name)) url.searchParams.delete(name);
    added += `&${encodeURIComponent(name)}=${encodeURIComponent(query[name]!)}`;
  }
  if (added !== '') url.search = url.search === '' ? added.slice(1) : url.search + added;
}

/** Adds headers by lower-case name to those of a request; they replace others of the same name, however that is spelled. */
export function addHeaders(headers: Record<string, string>, more: Readonly<Record<string, string>> | undefined): void {
  if (more === undefined) return;
  for (const name in headers) if (Object.hasOwn(more, name.toLowerCase())) delete headers[name];
  Object.assign(headers, more);
}

// ---- signatures

/** How long a vendor may take to sign: some have to fetch a token first. */
const SIGN_MS = 15_000;

/** A request that its vendor signs. */
export interface Unsigned {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** `arriving`: of a passthrough route, forwarded while it arrives. */
  readonly body: Buffer | BodyStream | 'arriving' | undefined;
}

/** The limits on waiting for a signature. */
export interface Patience {
  readonly clock: Pick<Clock, 'after'>;
  /** Aborts when the request is no longer needed; undefined if that cannot happen. */
  readonly signal?: AbortSignal;
}

/** The status of a wrong credential. */
const UNAUTHORIZED = 401;

/** Whether a vendor that signs has refused a signature: a token that it keeps may have been revoked before its end. */
export function mustSignAgain({ sign }: Pick<Vendor, 'sign'>, status: number): boolean {
  return sign !== undefined && status === UNAUTHORIZED;
}

/** Whether a request has other headers after it was signed again. */
export function isSignedAnew(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  return JSON.stringify(Object.entries(one).sort()) !== JSON.stringify(Object.entries(other).sort());
}

/**
 * The headers of a request with those of `Vendor.sign`, by lower-case name. Rejects if it cannot be signed, with a message for the operator;
 * with a `GatewayError`, for the client, if the signature covers a body that is `arriving`. `refused`: the vendor answered 401 to the last one.
 */
export async function signedHeaders(
  vendor: Vendor,
  channel: Channel,
  { method, url, headers, body }: Unsigned,
  patience: Patience,
  refused = false,
): Promise<Record<string, string>> {
  const all = lowerCase(headers);
  const request: RequestToSign = {
    method,
    url: new URL(url),
    headers: { ...all },
    body: () => bytesOf(body),
    async sha256() {
      const hash = createHash('sha256');
      for await (const piece of bytesOf(body)) hash.update(piece);
      return hash.digest('hex');
    },
    refused,
  };
  addHeaders(all, lowerCase(await inTime(vendor.sign!(request, channel), patience)));
  return all;
}

function bytesOf(body: Unsigned['body']): AsyncIterable<Buffer> {
  if (body === 'arriving') {
    throw coreErrors.body_not_signable();
  }
  return body === undefined || Buffer.isBuffer(body) ? inOnePiece(body) : body.read();
}

async function* inOnePiece(bytes: Buffer | undefined): AsyncIterable<Buffer> {
  if (bytes !== undefined) yield bytes;
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function inTime<T>(signing: Awaitable<T>, { clock, signal }: Patience): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => end(() => reject(new Error('the request was stopped')));
    const cancel = clock.after(SIGN_MS, () => end(() => reject(new Error('it took too long'))));
    const end = (finish: () => void): void => {
      cancel();
      signal?.removeEventListener('abort', stop);
      finish();
    };
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    Promise.resolve(signing).then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error)),
    );
  });
}
