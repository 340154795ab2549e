/** Small requests of plugins to vendors that are not calls: limited in time and size, at the gateway's expense. */
import { addHeaders, addQuery, signedHeaders, urlOf } from './channel-request.ts';
import type { Clock } from './clock.ts';
import type { Channel, Vendor } from './contracts/vendor.ts';
import type { OutgoingProxies } from './outgoing-proxy.ts';
import type { Json, Question, VendorReply } from './plugin.ts';
import type { Upstream, UpstreamRequest } from './upstream.ts';

const MAX_MS = 15_000;
const MAX_BYTES = 16 * 1_024 * 1_024;

/** Creates `Host.ask`. */
export function createAsk(
  upstream: Upstream,
  clock: Clock,
  vendors: ReadonlyMap<string, Vendor>,
  proxies: OutgoingProxies,
): (channel: Channel, question: Question) => Promise<VendorReply> {
  return async (channel, question) => {
    const vendor = vendors.get(channel.vendor);
    const { method, path, model, body } = question;
    const url = new URL(urlOf(channel, model) + path);
    addQuery(url, channel);
    const headers: Record<string, string> = {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'turnpike',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...vendor?.credentials?.(channel),
      ...question.headers,
    };
    addHeaders(headers, channel.headers);
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const request = { method, url, headers, body: bytes };
    return answerTo(upstream, clock, {
      method,
      origin: url.origin,
      path: url.pathname + url.search,
      headers: vendor?.sign === undefined ? headers : await signedHeaders(vendor, channel, request, { clock }),
      body: bytes,
      proxy: proxies.for(url, channel.proxy),
      connectMs: channel.timeout.connectMs,
    });
  };
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
