/**
 * Fetches user-supplied URLs (an image, a document), once for all attempts of a request, and posts to them. The only place where untrusted input decides
 * which host is contacted (SSRF): public addresses only, checked at the moment of connecting and at every redirect,
 * with limits of size and time.
 */
import { type LookupAddress, type LookupAllOptions, Resolver } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { coreErrors } from '../contracts/errors.ts';
import type { Fetched } from '../contracts/formats/style.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import { createAddressList } from '../helpers/address-list.ts';

/** The same message whether a name does not exist or is internal. */
const UNREACHABLE = 'it could not be reached at a public address';

/** The remaining byte budget; shared by fetches that share the object. */
export interface Allowance {
  bytes: number;
}

/** Resolves all addresses of a name, as `dns.lookup` does. */
export type Lookup = (
  name: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Replacements for tests only. */
export interface GuardOptions {
  readonly lookup?: Lookup;
  /** The DNS server if there is no `lookup`: `127.0.0.1:53`. */
  readonly nameServer?: string;
  /** Whether connecting to an address is allowed. */
  readonly isPublic?: (address: string) => boolean;
  /** Whether a port other than the scheme's default is allowed. */
  readonly anyPort?: boolean;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

const MAX_BYTES = 10 * 1_024 * 1_024;
const TIMEOUT_MS = 15_000;
const POST_TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const MAX_URL = 4_096;
/** Encoded content has an unknown size, and its type describes the decoded content. */
const COMPRESSED = /\b(gzip|deflate|compress|br|zstd)\b/i;

/** Not public internet: IANA's special-purpose registry, and the public address of a cloud metadata service. */
const isSpecial = createAddressList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);
/** Of IPv6, global unicast without Teredo, benchmarks, ORCHID, documentation, 6to4 and AS112. */
const isGlobal6 = createAddressList(['2000::/3']);
const isSpecial6 = createAddressList(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']);

/** True for an address on the public internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !isSpecial(address);
    case 6:
      return isGlobal6(address) && !isSpecial6(address);
    default:
      return false;
  }
}

/**
 * Fetches a client's URL from the field `param`. Refuses with 400 `media_not_fetched`; the message says what is wrong
 * with the URL and discloses nothing of its content. `allowance`: for all URLs of one request.
 */
export async function fetchGuarded(
  url: string,
  param: string,
  signal: AbortSignal,
  allowance: Allowance,
  options: GuardOptions = {},
): Promise<Fetched> {
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = options;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const { agent, request, close } = await guardedAgent(limit, timeoutMs, options);
  try {
    limit.throwIfAborted();
    let at = checked(url, options);
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const { statusCode, headers, body } = await request(at, {
        dispatcher: agent,
        headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'turnpike' },
      });
      if (statusCode >= 300 && statusCode < 400 && typeof headers.location === 'string') {
        leave(body);
        at = checked(new URL(headers.location, at).href, options);
        continue;
      }
      if (statusCode !== 200) {
        leave(body);
        throw new NotFetched(`the server responded with status ${statusCode}`);
      }
      if (COMPRESSED.test(String(headers['content-encoding'] ?? ''))) {
        leave(body);
        throw new NotFetched('the server sent a compressed response that was not requested');
      }
      return { mediaType: mediaTypeOf(headers['content-type']), bytes: await collect(body, maxBytes, allowance) };
    }
    throw new NotFetched(`it leads through more than ${MAX_REDIRECTS} redirects`);
  } catch (error) {
    signal.throwIfAborted();
    // The message must not disclose whether a name is internal.
    const late = limit.aborted ? 'the server took too long' : UNREACHABLE;
    throw refusal(error instanceof NotFetched ? error.message : late, param);
  } finally {
    close();
  }
}

/**
 * Posts to a user-supplied URL, and resolves with the status of the answer; nothing else of it is read. Redirects are
 * not followed. Rejects if the request could not be delivered; the message ends a sentence and discloses nothing about
 * the host.
 */
export async function postGuarded(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  options: GuardOptions = {},
): Promise<number> {
  const { timeoutMs = POST_TIMEOUT_MS } = options;
  const limit = AbortSignal.timeout(timeoutMs);
  const { agent, request, close } = await guardedAgent(limit, timeoutMs, options);
  try {
    const { statusCode, body: rest } = await request(checked(url, options), {
      dispatcher: agent,
      method: 'POST',
      headers: { ...headers, 'accept-encoding': 'identity', 'user-agent': 'turnpike' },
      body,
      signal: limit,
    });
    leave(rest);
    return statusCode;
  } catch (error) {
    if (error instanceof NotFetched) throw error;
    throw new NotFetched(limit.aborted ? 'the server took too long' : UNREACHABLE);
  } finally {
    close();
  }
}

/** The dispatcher of one request, which connects to public addresses only. */
async function guardedAgent(limit: AbortSignal, timeoutMs: number, options: GuardOptions) {
  // Few gateways ever fetch anything: undici is loaded on first use.
  const { Agent, request } = await import('undici');
  const isPublic = options.isPublic ?? isPublicAddress;
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (options.nameServer !== undefined) resolver.setServers([options.nameServer]);
  const agent = new Agent({
    connect: {
      lookup: publicOnly(options.lookup ?? askNameServers(resolver), isPublic),
      timeout: timeoutMs,
      // A timeout of the connection: the request emits nothing before it is connected.
      signal: limit,
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: 16 * 1_024,
  });
  return {
    agent,
    request,
    close(): void {
      resolver.cancel();
      agent.destroy().catch(() => {});
    },
  };
}

/** A URL whose host, if an address, is public. The connection uses this very object: it is not parsed twice. */
function checked(text: string, { isPublic = isPublicAddress, anyPort = false }: GuardOptions): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new NotFetched('it is not a URL');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new NotFetched('only http and https are fetched');
  if (url.username !== '' || url.password !== '') throw new NotFetched('it contains a user name or a password');
  // `port` is empty for the scheme's default.
  if (url.port !== '' && !anyPort) throw new NotFetched('only the usual ports of http and https are connected to');
  if (text.length > MAX_URL) throw new NotFetched(`it is longer than ${MAX_URL} characters`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublic(host)) throw new NotFetched('it does not resolve to a public address');
  return url;
}

/**
 * Queries DNS servers directly: the system's lookup blocks one of few threads, which lookups of vendors need, too, for
 * as long as the DNS server of a client's name takes.
 */
function askNameServers(resolver: Resolver): Lookup {
  return (name, _options, callback) => {
    const addresses: LookupAddress[] = [];
    let failure: NodeJS.ErrnoException | null = null;
    let pending = 2;
    const collect = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, results: string[]) => {
      if (error === null) addresses.push(...results.map((address) => ({ address, family })));
      else failure = error;
      // Many names have addresses of one family only.
      if (--pending === 0) callback(addresses.length === 0 ? failure : null, addresses);
    };
    resolver.resolve4(name, collect(4));
    resolver.resolve6(name, collect(6));
  };
}

/** The only lookup of the name, so the checked address is the one that is connected to. */
function publicOnly(lookup: Lookup, isPublic: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      // A private address among public ones indicates DNS rebinding.
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublic(address)))
        return callback(new NotFetched(UNREACHABLE), []);
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      return callback(null, first!.address, first!.family);
    });
  };
}

/** The rest is not needed; an error of the aborted body is ignored. */
function leave(body: Readable): void {
  body.on('error', () => {}).destroy();
}

async function collect(body: AsyncIterable<Buffer>, maxBytes: number, allowance: Allowance): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    allowance.bytes -= chunk.length;
    if (size > maxBytes) throw new NotFetched(`it is larger than ${maxBytes} bytes`);
    if (allowance.bytes < 0) throw new NotFetched('together with the others it is too large for one request');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function mediaTypeOf(header: string | string[] | undefined): string {
  const [type = ''] = String(header ?? '')
    .toLowerCase()
    .split(';');
  // The type is repeated to vendors, in places where other characters would have a meaning.
  return /^\s*([\w.+-]+\/[\w.+-]+)\s*$/.exec(type)?.[1] ?? 'application/octet-stream';
}

/** Why a URL is not fetched; ends a sentence. */
class NotFetched extends Error {}

function refusal(why: string, param: string): GatewayError {
  return coreErrors.media_not_fetched(`A URL in \`${param}\` was not fetched: ${why}.`).with({ param });
}

/** Limits for all fetches of one request together. */
export const MAX_FETCHES = 16;
const MAX_FETCHED_BYTES = 20 * 1_024 * 1_024;

/** The request's budget. */
export interface Asker {
  /** Aborts when the result is no longer needed. */
  readonly signal: AbortSignal;
}

interface Kept {
  /** A failed fetch is not cached. */
  readonly byUrl: Map<string, Promise<Fetched>>;
  readonly allowance: Allowance;
}

/** Completed and running fetches of a request: shared by its attempts, and by fields with the same URL. */
const fetches = new WeakMap<Asker, Kept>();

/** Fetches the URL in `param`, or returns the earlier result. Refuses with 400. `signal`: besides the request's own. */
export async function fetchFor(
  asker: Asker,
  url: string,
  param: string,
  signal?: AbortSignal,
  guard?: GuardOptions,
): Promise<Fetched> {
  const { byUrl, allowance } = budgetOf(asker);
  const fetched = byUrl.get(url);
  if (fetched !== undefined) return fetched;
  if (byUrl.size >= MAX_FETCHES) {
    throw coreErrors
      .media_not_fetched(`\`${param}\`: more than ${MAX_FETCHES} URLs cannot be fetched for one request.`)
      .with({ param });
  }
  const both = signal === undefined ? asker.signal : AbortSignal.any([asker.signal, signal]);
  const fetching = fetchGuarded(url, param, both, allowance, guard);
  byUrl.set(url, fetching);
  fetching.catch(() => byUrl.delete(url));
  return fetching;
}

function budgetOf(asker: Asker): Kept {
  let budget = fetches.get(asker);
  if (budget === undefined) {
    budget = { byUrl: new Map(), allowance: { bytes: MAX_FETCHED_BYTES } };
    fetches.set(asker, budget);
  }
  return budget;
}
