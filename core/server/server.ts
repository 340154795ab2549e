/** The HTTP server: accepts requests, runs each through its life, and answers every one exactly once. */

import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { scanJson } from '../bytes/json-body.ts';
import { Entry, LiveExchange } from '../call/live-exchange.ts';
import { checkValue } from '../config/validator.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Json, JsonObject } from '../contracts/formats/json.ts';
import type { Style } from '../contracts/formats/style.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import type { Holder } from '../contracts/identity.ts';
import { clientAddress } from '../helpers/address-list.ts';
import { Dictionary } from '../helpers/dictionary.ts';
import { nearest } from '../helpers/nearest.ts';
import { answerPreflight, isPreflight, shareWithPage } from '../http/cors.ts';
import { ALL_METHODS, type Head, MAX_HEADERS, methodNotServed, readHead } from '../http/request-head.ts';
import {
  answerHeaders,
  boundFlush,
  type ErrorFormat,
  rawAnswer,
  send,
  sendPieces,
  toGatewayError,
} from '../http/responses.ts';
import { methodNotAllowed, type Router } from '../http/router.ts';
import { tellKeepAlive } from '../http/whole-answer.ts';
import {
  answerRaw,
  answerUnread,
  isClosing,
  isRead,
  markClosing,
  readBody,
  requireBody,
} from '../incoming/read-body.ts';
import type { OpaqueCarrier } from '../passthrough/byte-proxy.ts';
import { type Arrival, forwardPassthrough, readPassthrough } from '../passthrough/passthrough.ts';
import { carrySocket, type Upgrade } from '../passthrough/websocket.ts';
import {
  Answer,
  type ApiRequest,
  type Awaitable,
  type Entrant,
  type Found,
  type Known,
  type PassthroughRoute,
  type Route,
  type Schema,
} from '../plugin.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { newId } from '../runtime/ids.ts';
import type { Log } from '../runtime/logger.ts';
import { connectionsWithin, descriptorLimit } from './descriptors.ts';
import { type Forward, HOP_ROOM, unwrap } from './forward-to-owner.ts';
import type { Generation } from './generation.ts';
import { Lines } from './pipelining.ts';
import type { ProxyWatch } from './proxy-watch.ts';
import { clientError, refuseRequest } from './refuse.ts';
import { visit } from './visit.ts';

/** The dependencies on the gateway. */
export interface ServerOptions {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly current: () => Generation;
  /** `ready`: calls are answered; otherwise they are refused with 503. */
  readonly state: () => 'starting' | 'ready' | 'draining';
  readonly opaque: OpaqueCarrier;
  readonly clock: Clock;
  readonly log: Log;
  readonly proxies: ProxyWatch;
  /** In a worker: forwards requests for routes to the owner. */
  readonly forward?: Forward | undefined;
  /** In an owner of workers: its requests were sent to a worker. */
  readonly servesWorkers?: boolean;
}

/** The same, and the connections of the server. */
interface Serving extends ServerOptions {
  readonly lines: Lines;
}

/** A received request of any kind. */
interface Arrived {
  readonly head: Head;
  readonly ip: string;
  readonly expectsContinue: boolean;
}

/** Creates the server, not listening yet; every request is served by the generation that is current when it arrives. */
export function createGatewayServer(given: ServerOptions): Server {
  // By the machine's clock, as node's own limits for heads and requests.
  const options: Serving = { ...given, lines: new Lines(systemClock) };
  const room = options.servesWorkers === true ? HOP_ROOM : { bytes: 0, headers: 0 };
  const settings = {
    maxHeaderSize: 16 * 1_024 + room.bytes,
    headersTimeout: 10_000,
    // Uploads may be slow; JSON bodies have a shorter limit, see incoming/read-body.ts.
    requestTimeout: 300_000,
    connectionsCheckingInterval: 1_000,
    // Idle connections are closed by `Lines`.
    keepAliveTimeout: 0,
    insecureHTTPParser: false,
    requireHostHeader: false, // `readHead` checks it, and reports errors in the error object
    noDelay: true,
  };
  const server = options.tls === undefined ? createServer(settings) : createTlsServer({ ...settings, ...options.tls });
  server.maxHeadersCount = MAX_HEADERS + 1 + room.headers;
  // The end of a connection between two processes does not concern a client.
  server.maxRequestsPerSocket = options.servesWorkers === true ? 0 : 1_000;
  server.maxConnections = connectionsWithin(descriptorLimit());

  const failed = (response: ServerResponse, error: unknown): void => {
    options.log.error('a request failed', { error });
    response.destroy();
  };
  const take = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    try {
      const serving = serve(request, response, expectsContinue, options);
      if (serving instanceof Promise) serving.catch((error: unknown) => failed(response, error));
    } catch (error) {
      failed(response, error);
    }
  };
  server.on('close', () => options.lines.stop());
  server.on('request', (request, response) => take(request, response, false));
  server.on('checkContinue', (request, response) => take(request, response, true));
  // `readHead` refuses it.
  server.on('checkExpectation', (request, response) => take(request, response, false));
  server.on('upgrade', (request, socket, head) => upgrade(request, socket, head, options));
  server.on('connect', (_request, socket: Duplex) => endSocket(socket, methodNotServed(), options));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseConnection(error, socket, options));
  return server;
}

/** A request that the parser refuses. */
function refuseConnection(error: ParserError, socket: Duplex, options: Serving): void {
  // An answer was already sent there and is still to be read.
  if (isClosing(socket) && error.code !== 'ECONNRESET') return;
  const { owed, waiting } = options.lines.of(socket);
  // The client is not slow: the server does not read it.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && waiting.length > 0) return;
  const unanswered = [...owed];
  // The broken request may be answered here; after others, or inside an answer, this one would be taken for theirs.
  const inPlace = unanswered.every(({ req, headersSent }) => !req.complete && !headersSent) && unanswered.length <= 1;
  const isArrived = unanswered.length > 0 && unanswered.every(({ req }) => req.complete) && waiting.length === 0;
  if (isArrived && error.code?.startsWith('HPE_') === true && socket.writable) {
    closeAfter(unanswered.at(-1)!, socket);
    return;
  }
  if (error.code === 'ECONNRESET' || !socket.writable || !inPlace) {
    socket.destroy();
    return;
  }
  const path = brokenPath(error.rawPacket);
  const format = path === '' ? undefined : spellingAt(options.current().router, path);
  endSocket(socket, parserRefusal(error), options, format);
}

/**
 * Bytes behind a complete request that are no request, mostly because its length was counted in characters: it is
 * answered, and then the connection is closed.
 */
function closeAfter(last: ServerResponse, socket: Duplex): void {
  markClosing(socket);
  last.shouldKeepAlive = false;
  last.on('finish', () => socket.end());
}

/** An error of the parser, and the bytes in which it was found. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** The path of a broken request, if its first line is in these bytes. */
function brokenPath(packet: Buffer | undefined): string {
  return /^[A-Z]+ (\/[^\s?]*)\S* HTTP\/1\./.exec(packet?.toString('latin1', 0, 10_000) ?? '')?.[1] ?? '';
}

/** The first byte of a TLS connection. */
const TLS_HANDSHAKE = 0x16;

function parserRefusal({ code, rawPacket }: ParserError): GatewayError {
  if (rawPacket?.[0] === TLS_HANDSHAKE)
    return coreErrors.bad_request('This port serves HTTP, and the client speaks TLS.');
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return coreErrors.headers_too_large();
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return coreErrors.request_timeout();
    case 'HPE_INVALID_METHOD':
      return methodNotServed();
    default:
      return coreErrors.bad_request();
  }
}

function endSocket(socket: Duplex, error: GatewayError, { clock }: Serving, format?: ErrorFormat): void {
  answerRaw(socket, rawAnswer(error, newId(clock.now()), format), clock.after);
}

/** A reset between two writes is caused by the client and must not become an exception. */
function ignore(): void {}

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
  options: Serving,
): Awaitable<void> {
  if (isClosing(request.socket)) return;
  response.on('error', ignore);
  tellKeepAlive(response);
  const waiting = options.lines.up(request, response);
  if (waiting === undefined) return serveNow(request, response, expectsContinue, options);
  return waiting.then(() => {
    if (response.destroyed || isClosing(request.socket)) return;
    return serveNow(request, response, expectsContinue, options);
  });
}

/** Serves a request. Errors of a call are answered by the call itself. */
function serveNow(
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
  options: Serving,
): Awaitable<void> {
  // Node says so in the header, but does not close the connection.
  const isLast = (response as { readonly maxRequestsOnConnectionReached?: boolean }).maxRequestsOnConnectionReached;
  if (isLast === true || options.state() !== 'ready') response.shouldKeepAlive = false;

  const generation = options.current();
  let head: Head;
  /** The other end of the client's connection, if it leads to a worker. */
  let peer: string | undefined;
  try {
    if (options.servesWorkers === true) peer = unwrap(request);
    head = readHead(request);
    const path = generation.router.resolve(head.path);
    if (path !== head.path) head = { ...head, path };
  } catch (error) {
    const path = request.url?.split('?')[0] ?? '';
    const spelling = spellingAt(generation.router, path);
    const refusal = refusedAt(generation.router, request.method ?? '', path, toGatewayError(error));
    refuseRequest(request, response, refusal, spelling, newId(options.clock.now()), options.clock.after);
    return;
  }
  const style = generation.router.styleAt(head.path);
  // Only browsers send an origin.
  if (head.headers.origin !== undefined && generation.router.isShared(head.path)) {
    shareWithPage(response, head.headers, generation.origins);
    if (isPreflight(head)) {
      answerPreflight(response, newId(options.clock.now()));
      return;
    }
  }
  try {
    // A preflight that was not answered above is refused: pages may not ask there.
    if (
      head.method === 'OPTIONS' &&
      !isPreflight(head) &&
      answerOptions(response, head.path, generation.router, options)
    )
      return;
    const match = generation.router.find(head.method, head.path);
    if (options.state() !== 'ready' && !(match.kind === 'route' && match.route.access === 'public'))
      throw coreErrors.shutting_down();
    if (match.kind === 'style') requireBody(head);
    if (match.kind === 'route') {
      const answering =
        options.forward?.route(request, response, head) ??
        serveRoute(request, response, { head, ip: ipOf(), expectsContinue, style, ...match }, generation, options);
      return answering.then(() => boundFlush(response, generation.deliver.deadlines), refuse);
    }
    const passthrough = match.kind === 'passthrough' ? match.passthrough : undefined;
    const params = match.kind === 'style' ? match.params : undefined;
    const x = new LiveExchange({ request, response, head, ip: ipOf(), style, passthrough, params }, options.clock);
    const work =
      passthrough &&
      ((known: LiveExchange & Known) =>
        servePassthrough(known, passthrough, { head, expectsContinue }, generation, options));
    return visit(x, { head, expectsContinue, generation, server: options }, work);
  } catch (error) {
    refuse(error);
  }

  function ipOf(): string {
    return peer === undefined
      ? addressOf(request.socket, head, generation, options)
      : addressBehind(peer, head.headers['x-forwarded-for'], generation, options);
  }

  function refuse(error: unknown): void {
    const id = newId(options.clock.now());
    const spelling = style ?? spellingAt(generation.router, head.path);
    refuseRequest(request, response, clientError(error, id, options.log), spelling, id, options.clock.after);
  }
}

/** Names the methods of a path, or of the whole gateway (`*`). False for passthrough routes, whose vendor answers. */
function answerOptions(response: ServerResponse, path: string, router: Router, { clock }: Serving): boolean {
  if (path !== '*' && router.passthroughAt(path) !== undefined) return false;
  const allow = (path === '*' ? ALL_METHODS : router.methodsAt(path)).join(', ');
  response.writeHead(204, answerHeaders(newId(clock.now()), {}, { allow })).end();
  return true;
}

/** The refusal of a head; that of a method names the methods of this path, if anything is served there. */
function refusedAt(router: Router, method: string, path: string, refusal: GatewayError): GatewayError {
  if (refusal.code !== 'method_not_allowed' || !path.startsWith('/')) return refusal;
  try {
    return methodNotAllowed(method, router.methodsAt(path));
  } catch (error) {
    return toGatewayError(error);
  }
}

/** A passthrough request: admitted like a call, forwarded without being decoded. */
async function servePassthrough(
  x: LiveExchange & Known,
  passthrough: PassthroughRoute,
  passthroughRequest: Omit<Arrival, 'maxBytes'>,
  generation: Generation,
  options: Serving,
): Promise<void> {
  const arrival = { ...passthroughRequest, maxBytes: generation.limits.uploadBytes };
  x.call = readPassthrough(passthrough, arrival);
  await generation.pipeline.admit(x);
  await forwardPassthrough(x, passthrough, arrival, options.opaque, generation.deliver);
}

/** A WebSocket on a passthrough route. */
async function serveSocket(
  x: LiveExchange & Known,
  passthrough: PassthroughRoute,
  upgrade: Upgrade,
  generation: Generation,
  options: Serving,
): Promise<void> {
  x.call = readPassthrough(passthrough, { head: upgrade.head, maxBytes: 0 });
  await generation.pipeline.admit(x);
  await carrySocket(x, passthrough, upgrade, options.opaque, generation.deliver);
}

/** A received request for a route. */
interface RouteRequest extends Arrived {
  readonly style: Style | undefined;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The same while it runs. */
interface RouteVisit extends RouteRequest {
  readonly id: string;
  readonly entry: Entry;
  /** The request for limits and usage records, once a key was found to be its caller. */
  entrant: Entrant | undefined;
}

/** The life of a request for a route: answered or refused, and its resources released. */
async function serveRoute(
  request: IncomingMessage,
  response: ServerResponse,
  routeRequest: RouteRequest,
  generation: Generation,
  options: Serving,
): Promise<void> {
  const id = newId(options.clock.now());
  const entry = new Entry();
  const at: RouteVisit = { id, entry, entrant: undefined, ...routeRequest };
  let result: unknown;
  let refusal: GatewayError | undefined;
  try {
    result = await handleRoute(request, response, at, generation);
  } catch (error) {
    refusal = clientError(error, id, options.log);
  }
  const releasing = entry.release((error) => options.log.error('a release callback failed', { request: id, error }));
  if (releasing !== undefined) await releasing;
  if (at.entrant !== undefined) {
    const status = refusal?.status ?? (result instanceof Answer ? result.status : 200);
    generation.pipeline.answered(at.entrant, { route: routeRequest.route, status, code: refusal?.code });
  }
  const { answerHeaders: added } = entry;
  if (refusal !== undefined) {
    const spelling = spellingOf(routeRequest.route) ?? routeRequest.style;
    refuseRequest(request, response, refusal, spelling, id, options.clock.after, added);
  } else if (result instanceof Answer) {
    const headers = answerHeaders(id, added, result.headers);
    const { status, body = '' } = result;
    if (typeof body === 'object' && Symbol.asyncIterator in body) {
      await sendPieces(response, status, headers, body).catch((error: unknown) =>
        options.log.warn('an answer was truncated', { request: id, path: routeRequest.route.path, error }),
      );
    } else if (isRead(request)) send(response, status, headers, body === '' ? undefined : body);
    else answerUnread(request, response, { status, headers, body }, options.clock.after);
  } else {
    send(response, 200, answerHeaders(id, added, { 'content-type': 'application/json' }), JSON.stringify(result));
  }
}

/** The answer of a route; throws its refusal. */
async function handleRoute(
  request: IncomingMessage,
  response: ServerResponse,
  at: RouteVisit,
  generation: Generation,
): Promise<unknown> {
  const { id, head, route } = at;
  const caller = {
    method: head.method,
    path: head.path,
    query: new URLSearchParams(head.search),
    headers: head.headers,
    ip: at.ip,
  };
  const found: Found = {};
  const authenticate = (): Awaitable<Holder> => generation.pipeline.authenticate({ ...caller, id });
  for (const name of route.access === 'public' ? [] : route.access)
    Object.assign(found, await generation.guards[name]!(caller, found, authenticate));
  const { account, holder, session, accessToken, serviceToken } = found;
  if (holder !== undefined) {
    at.entrant = Object.assign(at.entry, caller, { id, identity: holder });
    if (route.uncounted !== true) await generation.pipeline.enter(at.entrant);
  }
  const asked = route.search === undefined ? {} : readSearch(route.search, caller.query);
  let bytes: Buffer = NO_BYTES;
  let body: ApiRequest['body'];
  if (head.hasBody && route.takes !== 'none') {
    const raw = route.takes === 'bytes' || route.takes === 'scanned';
    const holding = generation.intake.begin('memory', account?.id ?? at.ip, generation.limits.inFlight.memory);
    at.entry.defer(() => holding.giveBack());
    const read = await readBody(request, response, head, {
      limit: route.maxBody ?? generation.limits.jsonBytes,
      expectsContinue: at.expectsContinue,
      deadlines: generation.deliver.deadlines,
      holding,
      anyType: route.takes === 'bytes',
    });
    if (raw) bytes = read;
    else body = scanJson(read, generation.limits).tree();
  }
  if (route.body !== undefined) {
    // No body is equivalent to an empty one.
    body ??= {};
    checkBody(route.body, body);
  }
  const identity = { account, holder, session, accessToken, serviceToken };
  return route.handle({ ...caller, id, params: at.params, body, bytes, asked, ...identity });
}

const NO_BYTES = Buffer.alloc(0);

/** The error format of requests that are refused before a route is selected: of a route of the path, by any method. */
function spellingAt(router: Router, path: string): ErrorFormat | undefined {
  const route = router.formatAt(path);
  return route === undefined ? undefined : spellingOf(route);
}

/** The error format of a route, if it has its own. */
function spellingOf(route: Route): ErrorFormat | undefined {
  return route.error === undefined ? undefined : { errors: { body: (error, id) => route.error!(error, id) } };
}

/** Refuses (400) an invalid query, and fills in its defaults. */
function readSearch(schema: Schema, query: URLSearchParams): JsonObject {
  const values = searchOf(schema, query);
  checkBody(schema, values, 'query');
  return values;
}

/** Fills in the defaults of a route's body or search; refuses it (400) with its first mistake. */
function checkBody(schema: Schema, body: ApiRequest['body'], origin: 'body' | 'query' = 'body'): void {
  const [mistake] = checkValue(schema, body, origin);
  if (mistake !== undefined) throw invalid(mistake.path, mistake.message);
  const beyond = inexact(body, []);
  if (beyond !== undefined) throw invalid(beyond, `must be a number of at most ${Number.MAX_SAFE_INTEGER}`);
}

function invalid(path: readonly (string | number)[], message: string): GatewayError {
  const param = path.join('.');
  return coreErrors.invalid_request_error(`${param || 'the body'}: ${message}.`).with({ param });
}

/** Finds a number that was not received exactly: beyond 2^53 they are rounded, which ids and amounts must not be. */
function inexact(
  value: ApiRequest['body'],
  path: readonly (string | number)[],
): readonly (string | number)[] | undefined {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = inexact(member as ApiRequest['body'], [...path, Array.isArray(value) ? Number(name) : name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An upgrade request: a WebSocket on a passthrough route, otherwise refused. */
function upgrade(request: IncomingMessage, socket: Duplex, first: Buffer, options: Serving): void {
  socket.on('error', () => socket.destroy());
  options.lines.release(socket);
  if (options.lines.of(socket).owed.length > 0) {
    // An earlier answer is still being sent, and would mix with this one.
    socket.destroy();
    return;
  }
  try {
    upgradePassthrough(request, socket as Socket, first, options);
  } catch (error) {
    endSocket(socket, clientError(error, newId(options.clock.now()), options.log), options);
  }
}

function upgradePassthrough(request: IncomingMessage, socket: Socket, first: Buffer, options: Serving): void {
  const head = readHead(request);
  const generation = options.current();
  const passthrough = generation.router.passthroughAt(head.path);
  const isWebSocket = head.method === 'GET' && head.headers.upgrade?.toLowerCase() === 'websocket';
  // With this status, clients retry without an upgrade, and do not try it again.
  if (passthrough === undefined || !isWebSocket) throw coreErrors.upgrade_not_served();
  if (options.state() !== 'ready') throw coreErrors.shutting_down();
  const ip = addressOf(socket, head, generation, options);
  const response = refusalOn(socket, request);
  const x = new LiveExchange({ request, response, head, ip, style: undefined, passthrough }, options.clock);
  visit(x, { head, expectsContinue: false, generation, server: options }, (known) =>
    serveSocket(known, passthrough, { head, socket, first }, generation, options),
  );
}

/** The client's address of a request. */
function addressOf(socket: Socket, { headers }: Head, generation: Generation, options: Serving): string {
  const forwardedFor = headers['x-forwarded-for'];
  if (forwardedFor !== undefined) return addressBehind(socket.remoteAddress ?? '', forwardedFor, generation, options);
  const line = options.lines.of(socket);
  line.address ??= clientAddress(socket.remoteAddress ?? '', undefined, generation.trusted);
  return line.address;
}

/** The same for a request of which only the other end of the connection is known. */
function addressBehind(
  peer: string,
  forwardedFor: string | undefined,
  { trusted }: Generation,
  { proxies }: Serving,
): string {
  if (forwardedFor !== undefined) proxies.note(peer, trusted);
  return clientAddress(peer, forwardedFor, trusted);
}

/** A response object for an upgrade request: node creates none, because it hands over the connection. */
function refusalOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.on('finish', () => socket.destroySoon());
  response.on('error', ignore);
  return response;
}

interface SearchSchema {
  readonly additionalProperties?: boolean;
  readonly properties?: Readonly<Record<string, Parameter>>;
}
interface Parameter {
  readonly type?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
}

const NUMBER = /^-?\d{1,16}(\.\d{1,16})?$/;

/**
 * The parameters of the schema, converted; invalid ones stay text. Open schemas: of duplicates the last counts, and empty ones are missing.
 * Closed ones refuse (400) unknown parameters and duplicates, and an empty value counts as missing only where any text is accepted.
 */
export function searchOf(schema: Schema, query: URLSearchParams): JsonObject {
  const { properties = {}, additionalProperties } = schema as SearchSchema;
  const isClosed = additionalProperties === false;
  if (isClosed) refuseStrange(query, properties);
  const values = new Dictionary() as unknown as Record<string, Json>;
  for (const [name, parameter] of Object.entries(properties)) {
    const { type } = parameter;
    const text = query.getAll(name).at(-1);
    if (text === undefined || (text === '' && !(isClosed && isMeant(parameter)))) continue;
    if (type === 'integer' && NUMBER.test(text)) values[name] = Number(text);
    else if (type === 'boolean' && (text === 'true' || text === 'false')) values[name] = text === 'true';
    else values[name] = text;
  }
  return values;
}

/** Whether an empty value is a mistake: it is none of a text that may be empty. */
function isMeant({ type, pattern, minLength = 0 }: Parameter): boolean {
  return type !== 'string' || pattern !== undefined || minLength > 0;
}

/** Ignoring one of them would return other data than the client asked for. */
function refuseStrange(query: URLSearchParams, properties: Readonly<Record<string, Parameter>>): void {
  for (const name of query.keys()) {
    if (!Object.hasOwn(properties, name)) {
      const near = nearest(name, Object.keys(properties));
      const hint = near === undefined ? '' : ` Did you mean \`${near}\`?`;
      throw coreErrors.unknown_parameter(name.slice(0, 100), hint).with({ param: name.slice(0, 100) });
    }
    if (query.getAll(name).length > 1) throw invalid([name], 'is given twice; give it once');
  }
}
