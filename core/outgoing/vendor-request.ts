/** Requests of plugins to vendors that are not calls, at the gateway's expense: small ones, limited in time and size, and streams. */

import { Readable } from 'node:stream';
import type { Channel } from '../contracts/formats/channel.ts';
import type { Vendor } from '../contracts/formats/vendor.ts';
import type { Host, Json, Question, VendorReply, VendorStream } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import type { OutgoingProxies } from '../upstream/proxy.ts';
import type { Upstream, UpstreamRequest } from '../upstream/upstream.ts';
import { addHeaders, addQuery, isSignedAnew, mustSignAgain, signedHeaders, urlOf } from './channel-request.ts';

const MAX_MS = 15_000;
const MAX_BYTES = 16 * 1_024 * 1_024;

/** The requests of plugins to vendors. */
export type Asking = Pick<Host, 'ask' | 'askStream'>;

/** Where no vendor can be asked, for this reason. */
export function noAsking(why: string): () => Asking {
  const ask = (): Promise<never> => Promise.reject(new Error(why));
  return () => ({ ask, askStream: ask });
}

/** Creates `Host.ask` and `Host.askStream`. */
export function createAsking(
  upstream: Upstream,
  clock: Clock,
  vendors: ReadonlyMap<string, Vendor>,
  proxies: OutgoingProxies,
): Asking {
  /** Sends a question, and once more with another signature if the vendor refuses the first; `leave` drops what it refused with. */
  async function asked<T extends { readonly status: number }>(
    { channel, question, accept }: { readonly channel: Channel; readonly question: Question; readonly accept: string },
    send: (request: UpstreamRequest) => Promise<T>,
    leave: (reply: T) => void = () => {},
  ): Promise<T> {
    const vendor = vendors.get(channel.vendor);
    const { method, path, model, body } = question;
    const url = new URL(urlOf(channel, model) + path);
    addQuery(url, channel);
    const headers: Record<string, string> = {
      accept,
      'accept-encoding': 'identity',
      'user-agent': 'turnpike',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...vendor?.credentials?.(channel),
      ...question.headers,
    };
    addHeaders(headers, channel.headers);
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const request = { method, url, headers, body: bytes };
    const sendWith = (all: Record<string, string>): Promise<T> =>
      send({
        method,
        origin: url.origin,
        path: url.pathname + url.search,
        headers: all,
        body: bytes,
        proxy: proxies.for(url, channel.proxy),
        connectMs: channel.timeout.connectMs,
      });
    if (vendor?.sign === undefined) return sendWith(headers);
    const signed = await signedHeaders(vendor, channel, request, { clock });
    const reply = await sendWith(signed);
    if (!mustSignAgain(vendor, reply.status)) return reply;
    const again = await signedHeaders(vendor, channel, request, { clock }, true);
    if (!isSignedAnew(again, signed)) return reply;
    leave(reply);
    return sendWith(again);
  }
  return {
    ask: (channel, question) =>
      asked({ channel, question, accept: 'application/json' }, (request) => answerTo(upstream, clock, request)),
    askStream: (channel, question) =>
      asked(
        { channel, question, accept: 'text/event-stream' },
        (request) => streamTo(upstream, clock, request, channel.timeout.idleMs),
        ({ body }) => body.destroy(),
      ),
  };
}

/** The answer piece by piece. `idleMs`: the longest silence of the vendor once it has begun. */
function streamTo(upstream: Upstream, clock: Clock, request: UpstreamRequest, idleMs: number): Promise<VendorStream> {
  return new Promise((resolve, reject) => {
    let cancel = clock.after(MAX_MS, () => broken('no answer in time'));
    const patience = (): void => {
      cancel();
      cancel = clock.after(idleMs, () => broken('the vendor fell silent'));
    };
    const broken = (reason: string): void => {
      const error = new Error(reason);
      reject(error);
      body.destroy(error);
    };
    const body = new Readable({
      read() {
        patience();
        call.resume();
      },
      destroy(error, done) {
        cancel();
        call.abort();
        done(error);
      },
    });
    // It may break before it is read.
    body.on('error', () => {});
    const call = upstream.send(request, {
      head(status) {
        patience();
        resolve({ status, body });
      },
      data(chunk) {
        cancel();
        // Who reads slowly is not a vendor that is silent.
        if (body.push(chunk)) patience();
        else call.pause();
      },
      end() {
        cancel();
        body.push(null);
      },
      fail: (_kind, reason) => broken(reason),
    });
  });
}

function answerTo(upstream: Upstream, clock: Clock, request: UpstreamRequest): Promise<VendorReply> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let size = 0;
    const chunks: Buffer[] = [];
    const give = (finish: () => void): void => {
      cancel();
      finish();
    };
    const call = upstream.send(request, {
      head(code) {
        status = code;
      },
      data(chunk) {
        size += chunk.length;
        if (size <= MAX_BYTES) {
          chunks.push(chunk);
          return;
        }
        call.abort();
        give(() => reject(new Error(`the answer is larger than ${MAX_BYTES} bytes`)));
      },
      end: () => give(() => resolve({ status, body: parsed(Buffer.concat(chunks)) })),
      fail: (_kind, reason) => give(() => reject(new Error(reason))),
    });
    const cancel = clock.after(MAX_MS, () => {
      call.abort();
      reject(new Error('no answer in time'));
    });
  });
}

function parsed(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString('utf8')) as Json;
  } catch {
    return undefined;
  }
}
