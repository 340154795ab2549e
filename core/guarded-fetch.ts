/**
 * Fetches what a client names by its address (a picture, a document), and posts where a person wants to be told. The one place where
 * somebody outside chooses whom we connect to: public addresses only, checked at the moment of connecting and at every redirect,
 * bounded in size and time.
 */
import { type LookupAddress, type LookupAllOptions, Resolver } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { createAddressList } from './address.ts';
import { coreErrors } from './contracts/errors.ts';
import type { Fetched } from './contracts/style.ts';
import type { GatewayError } from './errors.ts';

/** The same words whether a name leads nowhere or to somewhere inside. */
const UNREACHABLE = 'it could not be reached at a public address';

/** How much may still come; whoever shares one shares the bytes. */
export interface Allowance {
  bytes: number;
}

/** Finds all addresses of a name, as `dns.lookup` does. */
export type Lookup = (
  name: string,
  options: LookupAllOptions,
  found: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** What a test may replace; nobody else does. */
export interface GuardOptions {
  readonly lookup?: Lookup;
  /** Who is asked for addresses where there is no `lookup`: `127.0.0.1:53`. */
  readonly nameServer?: string;
  /** Whether an address may be connected to. */
  readonly isPublic?: (address: string) => boolean;
  /** Whether a port other than the scheme's own may be connected to. */
  readonly anyPort?: boolean;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

const MAX_BYTES = 10 * 1_024 * 1_024;
const TIMEOUT_MS = 15_000;
const POST_TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const MAX_URL = 4_096;
/** What is behind such an encoding is of any size, and not what its type says. */
const COMPRESSED = /\b(gzip|deflate|compress|br|zstd)\b/i;

/**
 * Everything that is not the public internet: IANA's special-purpose registries, what wraps such an address in IPv6, and the one
 * public address behind which a cloud answers questions about the machine that asks.
 */
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
/** Of IPv6 only global unicast is the internet; of that, these lead elsewhere: Teredo, benchmarks, ORCHID, documentation, 6to4, AS112. */
const isGlobal6 = createAddressList(['2000::/3']);
const isSpecial6 = createAddressList(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']);

/** True where an address is one of the public internet. */
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
 * Fetches a URL of a client's, which stands in `param`. Refuses with 400 `media_not_fetched`; the message says what is wrong with the
 * address, and nothing of what was found behind it. `allowance`: of all that one request names.
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
        throw notFetched(`the server there answered with status ${statusCode}`);
      }
      if (COMPRESSED.test(String(headers['content-encoding'] ?? ''))) {
        leave(body);
        throw notFetched('the server there sent it compressed, unasked');
      }
      return { mediaType: mediaTypeOf(headers['content-type']), bytes: await collect(body, maxBytes, allowance) };
    }
    throw notFetched(`it leads through more than ${MAX_REDIRECTS} redirects`);
  } catch (error) {
    signal.throwIfAborted();
    // Whether a name leads somewhere inside is nobody's business.
    const late = limit.aborted ? 'the server there took too long' : UNREACHABLE;
    throw refusal(error instanceof NotFetched ? error.message : late, param);
  } finally {
    close();
  }
}

/**
 * Posts to an address that a person gave us, and resolves with the status of the answer, of which nothing else is read. No redirect
 * is followed. Rejects where it could not be delivered, with words that end a sentence and tell nothing of what is behind the address.
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
    throw notFetched(limit.aborted ? 'the server there took too long' : UNREACHABLE);
  } finally {
    close();
  }
}

/** What connects to public addresses only, for one request. */
interface GuardedAgent {
  readonly agent: Agent;
  readonly request: typeof import('undici').request;
  close(): void;
}

async function guardedAgent(limit: AbortSignal, timeoutMs: number, options: GuardOptions): Promise<GuardedAgent> {
  // Few gateways ever fetch anything: undici is loaded when one does.
  const { Agent, request } = await import('undici');
  const isPublic = options.isPublic ?? isPublicAddress;
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (options.nameServer !== undefined) resolver.setServers([options.nameServer]);
  const agent = new Agent({
    connect: {
      lookup: publicOnly(options.lookup ?? askNameServers(resolver), isPublic),
      timeout: timeoutMs,
      // Of the connection, not of a request: that one hears nothing before it is connected.
      signal: limit,
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: 16 * 1_024,
  });
  return {
    agent,
    request,
    close() {
      resolver.cancel();
      agent.destroy().catch(() => {});
    },
  };
}

/** A URL whose host, where it is an address, is a public one. The connection is made from this very object: nobody parses it twice. */
function checked(text: string, { isPublic = isPublicAddress, anyPort = false }: GuardOptions): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw notFetched('it is not a URL');
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notFetched('only http and https are fetched');
  if (url.username !== '' || url.password !== '') throw notFetched('it holds a user or a password');
  // `port` is empty for the scheme's own.
  if (url.port !== '' && !anyPort) throw notFetched('only the usual ports of http and https are connected to');
  if (text.length > MAX_URL) throw notFetched(`it is longer than ${MAX_URL} characters`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublic(host)) throw notPublic();
  return url;
}

/**
 * Asks the name servers directly: the system's own lookup keeps one of few threads waiting, which lookups of vendors need as well,
 * for as long as the server of a client's name likes to take.
 */
function askNameServers(resolver: Resolver): Lookup {
  return (name, _options, found) => {
    const addresses: LookupAddress[] = [];
    let failure: NodeJS.ErrnoException | null = null;
    let asked = 2;
    const heard = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, some: string[]) => {
      if (error === null) addresses.push(...some.map((address) => ({ address, family })));
      else failure = error;
      // Many names have addresses of one family only.
      if (--asked === 0) found(addresses.length === 0 ? failure : null, addresses);
    };
    resolver.resolve4(name, heard(4));
    resolver.resolve6(name, heard(6));
  };
}

/** Names are looked up here and nowhere else, so the address that is checked is the one that is connected to. */
function publicOnly(lookup: Lookup, isPublic: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      // One private address among public ones is how a name is made to change its mind.
      if (addresses.length === 0 || !addresses.every(({ address }) => isPublic(address)))
        return callback(notFetched(UNREACHABLE), []);
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      return callback(null, first!.address, first!.family);
    });
  };
}

/** Nobody wants the rest, nor to hear that it was cut off. */
function leave(body: Readable): void {
  body.on('error', () => {}).destroy();
}

async function collect(body: AsyncIterable<Buffer>, maxBytes: number, allowance: Allowance): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    allowance.bytes -= chunk.length;
    if (size > maxBytes) throw notFetched(`it is larger than ${maxBytes} bytes`);
    if (allowance.bytes < 0) throw notFetched('together with the others it is too large for one request');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function mediaTypeOf(header: string | string[] | undefined): string {
  const [type = ''] = String(header ?? '')
    .toLowerCase()
    .split(';');
  // It is said again to a vendor, in places where other characters would have a meaning.
  return /^\s*([\w.+-]+\/[\w.+-]+)\s*$/.exec(type)?.[1] ?? 'application/octet-stream';
}

function notPublic(): NotFetched {
  return notFetched('it does not lead to a public address');
}

/** Why an address is not fetched; ends a sentence. */
class NotFetched extends Error {}

function notFetched(why: string): NotFetched {
  return new NotFetched(why);
}

function refusal(why: string, param: string): GatewayError {
  return coreErrors.media_not_fetched(`A URL in \`${param}\` was not fetched: ${why}.`).with({ param });
}
