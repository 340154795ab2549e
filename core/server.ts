/** The HTTP server: takes requests in, walks each through its life, and answers every one exactly once. */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientAddress } from './address.ts';
import { answerHeaders, type ErrorFormat, errorBody, errorEvent, rawAnswer, send, toGatewayError } from './answers.ts';
import {
  answerRaw,
  answerUnread,
  isClosing,
  isForm,
  isRead,
  readBody,
  readCallBody,
  requireBody,
  tooSlow,
} from './body.ts';
import type { Clock } from './clock.ts';
import type { BodyLimits } from './config/core-sections.ts';
import { checkValue } from './config/validator.ts';
import { inspectCall } from './content.ts';
import type { Upload } from './contracts/call.ts';
import { coreErrors } from './contracts/errors.ts';
import type { JsonObject } from './contracts/json.ts';
import type { Recalled, Style } from './contracts/style.ts';
import { answerPreflight, isPreflight, type Origins, shareWithPage } from './cors.ts';
import type { Deadlines } from './deadlines.ts';
import { type DeliverTools, deliver } from './deliver.ts';
import { Entry } from './entry.ts';
import type { GatewayError } from './errors.ts';
import { ClientLeft, LiveExchange } from './exchange.ts';
import { deliverGiven } from './given.ts';
import { type Head, MAX_HEADERS, methodNotServed, readHead } from './head.ts';
import { newId } from './id.ts';
import type { Intake } from './intake.ts';
import { scanJson } from './json.ts';
import { findLetters, LARGE, type Letters, noLetters } from './letters.ts';
import type { Log } from './log.ts';
import type { OpaqueCarrier } from './opaque.ts';
import { type Arrival, carryPassage, readPassage } from './passage.ts';
import type { Pipeline } from './pipeline.ts';
import {
  Answer,
  type ApiRequest,
  type Awaitable,
  type Entrant,
  type Found,
  type Guard,
  type Known,
  type Passage,
  type Route,
  type Schema,
} from './plugin.ts';
import type { ProxyWatch } from './proxies.ts';
import type { Roll } from './roll.ts';
import type { Router } from './router.ts';
import { searchOf } from './search.ts';
import { createSpool } from './spool.ts';
import { carrySocket, type Upgrade } from './websocket.ts';
import { type Forward, HOP_ROOM, unwrap } from './workers/forward.ts';

/** Everything one configuration brings to a request. A reload swaps it for the next; running exchanges keep theirs. */
export interface Generation {
  readonly router: Router;
  readonly pipeline: Pipeline;
  readonly guards: Readonly<Record<string, Guard>>;
  readonly deliver: DeliverTools;
  readonly trusted: (ip: string) => boolean;
  readonly origins: Origins;
  readonly limits: BodyLimits;
  /** What bodies of all generations hold. */
  readonly intake: Intake;
  /** Where files of forms are kept while they are on their way. */
  readonly spoolDirectory: string;
  /** Exchanges that still run in this generation. */
  readonly live: Roll<LiveExchange>;
}

/** What the server needs from the gateway. */
export interface ServerOptions {
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly current: () => Generation;
  /** `ready` answers calls; otherwise they are refused with 503. */
  readonly state: () => 'starting' | 'ready' | 'draining';
  readonly opaque: OpaqueCarrier;
  readonly clock: Clock;
  readonly log: Log;
  readonly proxies: ProxyWatch;
  /** Has requests for routes answered by the owner, in a worker. */
  readonly forward?: Forward | undefined;
  /** It serves workers: what comes was sent to one of them. */
  readonly servesWorkers?: boolean;
}

/** A request as it came, whatever it is for. */
interface Arrived {
  readonly head: Head;
  readonly ip: string;
  readonly expectsContinue: boolean;
}

/** So many requests of one connection are served at a time; what it has sent beyond waits, and it is not read further. */
const MAX_PIPELINED = 20;

/** Makes the server. It listens to nothing yet; every request is served by the generation that is current when it comes. */
export function createGatewayServer(options: ServerOptions): Server {
  const room = options.servesWorkers === true ? HOP_ROOM : { bytes: 0, headers: 0 };
  const settings = {
    maxHeaderSize: 16 * 1_024 + room.bytes,
    headersTimeout: 10_000,
    // An upload may take that long over a thin line; JSON has less time, see body.ts.
    requestTimeout: 300_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 75_000,
    insecureHTTPParser: false,
    requireHostHeader: false, // `readHead` checks it, and says what is wrong in the error object
    noDelay: true,
  };
  const server = options.tls === undefined ? createServer(settings) : createTlsServer({ ...settings, ...options.tls });
  server.maxHeadersCount = MAX_HEADERS + 1 + room.headers;
  // That a connection between two processes ends is nothing to a client.
  server.maxRequestsPerSocket = options.servesWorkers === true ? 0 : 1_000;
  server.maxConnections = 20_000;

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
  server.on('request', (request, response) => take(request, response, false));
  server.on('checkContinue', (request, response) => take(request, response, true));
  // `readHead` refuses it.
  server.on('checkExpectation', (request, response) => take(request, response, false));
  server.on('upgrade', (request, socket, head) => upgrade(request, socket, head, options));
  server.on('connect', (_request, socket: Duplex) => endSocket(socket, methodNotServed(), options));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseConnection(error, socket, options));
  return server;
}

/** A request that the parser itself refuses. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex, options: ServerOptions): void {
  // What was answered there already is still to be read.
  if (isClosing(socket) && error.code !== 'ECONNRESET') return;
  const { owed, waiting } = lineOf(socket);
  // Not the client is slow: we do not read it.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && waiting.length > 0) return;
  const unanswered = [...owed];
  // The request that broke off may be answered here; behind others, or inside an answer, this one would be taken for theirs.
  const inPlace = unanswered.every(({ req, headersSent }) => !req.complete && !headersSent) && unanswered.length <= 1;
  if (error.code === 'ECONNRESET' || !socket.writable || !inPlace) {
    socket.destroy();
    return;
  }
  endSocket(socket, parserRefusal(error.code), options);
}

function parserRefusal(code: string | undefined): GatewayError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return coreErrors.headers_too_large();
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return tooSlow();
    case 'HPE_INVALID_METHOD':
      return methodNotServed();
    default:
      return coreErrors.bad_request();
  }
}

function endSocket(socket: Duplex, error: GatewayError, { clock }: ServerOptions): void {
  answerRaw(socket, rawAnswer(error, newId(clock.now())), clock.after);
}

/** What goes on at one connection. */
interface Line {
  /** The answers that have not been given, in their order. */
  readonly owed: ServerResponse[];
  /** Begins the requests that wait until fewer are served. */
  readonly waiting: (() => void)[];
  /** Where it comes from, once that was asked. */
  address: string | undefined;
}

/** A connection bears its line itself: every request asks for it, and a look into a WeakMap takes much longer. */
const LINE = Symbol('line');
type Bearer = Duplex & { [LINE]?: Line };

function lineOf(socket: Bearer): Line {
  const known = socket[LINE];
  if (known !== undefined) return known;
  const line: Line = { owed: [], waiting: [], address: undefined };
  socket[LINE] = line;
  // Of the answers that wait for their turn, node tells none that their connection has gone.
  socket.on('close', () => {
    for (const response of [...line.owed]) {
      if (response.socket !== null) continue;
      response.destroy();
      response.emit('close');
    }
  });
  return line;
}

/** Takes a place in the line of a connection until the answer is given. A promise where too many stand before it. */
function lineUp({ socket }: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
  const { owed, waiting } = lineOf(socket);
  owed.push(response);
  response.on('close', () => {
    owed.splice(owed.indexOf(response), 1);
    const begin = waiting.shift();
    begin?.();
    if (begin !== undefined && waiting.length === 0) socket.resume();
  });
  if (owed.length <= MAX_PIPELINED) return undefined;
  // What came in one packet with this request comes all the same.
  socket.pause();
  return new Promise((begin) => waiting.push(begin));
}

/** A reset between two writes is the client's business, never an exception. */
function ignore(): void {}

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
  options: ServerOptions,
): Awaitable<void> {
  if (isClosing(request.socket)) return;
  response.on('error', ignore);
  const waiting = lineUp(request, response);
  if (waiting === undefined) return serveNow(request, response, expectsContinue, options);
  return waiting.then(() => {
    if (response.destroyed || isClosing(request.socket)) return;
    return serveNow(request, response, expectsContinue, options);
  });
}

/** A request whose turn it is. What a call throws is told by the call itself. */
function serveNow(
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
  options: ServerOptions,
): Awaitable<void> {
  if (options.state() !== 'ready') response.shouldKeepAlive = false;

  const generation = options.current();
  let head: Head;
  /** The other end of the client's connection, where that is to a worker. */
  let peer: string | undefined;
  try {
    if (options.servesWorkers === true) peer = unwrap(request);
    head = readHead(request);
  } catch (error) {
    const spelling = spellingAt(generation.router, request.url?.split('?')[0] ?? '');
    refuseRequest(request, response, toGatewayError(error), spelling, newId(options.clock.now()), options);
    return;
  }
  const style = generation.router.styleAt(head.path);
  // Browsers alone say where a page comes from.
  if (head.headers.origin !== undefined && generation.router.isShared(head.path)) {
    shareWithPage(response, head.headers, generation.origins);
    if (isPreflight(head)) {
      answerPreflight(response, newId(options.clock.now()));
      return;
    }
  }
  try {
    const match = generation.router.find(head.method, head.path);
    if (options.state() !== 'ready' && !(match.kind === 'route' && match.route.access === 'public')) throw notReady();
    if (match.kind === 'style') requireBody(head);
    if (match.kind === 'route') {
      const answering =
        options.forward?.route(request, response, head) ??
        serveRoute(request, response, { head, ip: ipOf(), expectsContinue, style, ...match }, generation, options);
      return answering.then(() => boundFlush(response, generation.deliver.deadlines), refuse);
    }
    const ip = ipOf();
    const passage = match.kind === 'passage' ? match.passage : undefined;
    const params = match.kind === 'style' ? match.params : undefined;
    const x = new LiveExchange({ request, response, head, ip, style, passage, params }, options.clock);
    return serveExchange(x, generation, options, (known) =>
      passage === undefined
        ? serveCall(known, head, expectsContinue, generation)
        : servePassage(known, passage, { head, expectsContinue }, generation, options),
    );
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
    refuseRequest(request, response, told(error, id, options.log), spelling, id, options);
  }
}

/** What the client is told of an error; what it is not told is in the log, under the same id. */
function told(error: unknown, id: string, log: Log): GatewayError {
  const refusal = toGatewayError(error);
  if (refusal.status === 500 && !(error instanceof ClientLeft)) log.error('a request failed', { request: id, error });
  // The client can only come back; whoever runs the gateway can make room.
  if (refusal.code === 'spool_unavailable') log.error('an upload could not be kept', { request: id, error });
  return refusal;
}

function notReady(): GatewayError {
  return coreErrors.shutting_down();
}

/** The life of an exchange, from its sender to its place in the books. `work` answers the client, or throws what it is told. */
async function serveExchange(
  x: LiveExchange,
  generation: Generation,
  options: ServerOptions,
  work: (x: LiveExchange & Known) => Promise<void>,
): Promise<void> {
  generation.live.add(x);
  let isConcluded = false;
  x.response.on('close', () => {
    if (!x.response.writableFinished) x.leave();
    if (isConcluded) generation.live.delete(x);
  });
  try {
    const holder = generation.pipeline.authenticate(x);
    x.identity = holder instanceof Promise ? await holder : holder;
    const known = x as LiveExchange & Known;
    const entering = generation.pipeline.enter(known);
    if (entering !== undefined) await entering;
    await work(known);
    if (x.outcome === undefined) await generation.deliver.conclude(x, 'served');
  } catch (error) {
    await failExchange(x, error, generation, options);
  } finally {
    isConcluded = true;
    // The last bytes may still be on their way.
    if (x.response.headersSent && !x.response.destroyed) {
      boundFlush(x.response, generation.deliver.deadlines);
    } else {
      generation.live.delete(x);
    }
  }
}

/** How long a client may take none of the bytes that are ready for it. */
const FLUSH_STALL_MS = 120_000;

/** Closes an answer that is complete on our side and that the client has stopped reading. */
function boundFlush(response: ServerResponse, deadlines: Deadlines): void {
  const { socket } = response;
  if (socket === null || socket.writableLength === 0) return;
  let left = socket.writableLength;
  const look = (): void => {
    if (socket.writableLength >= left) {
      response.destroy();
      return;
    }
    left = socket.writableLength;
    deadline = deadlines.set(FLUSH_STALL_MS, look);
  };
  let deadline = deadlines.set(FLUSH_STALL_MS, look);
  response.once('close', () => deadlines.clear(deadline));
}

/** A call: read, admitted, and delivered by the first channel that can. */
async function serveCall(
  x: LiveExchange & Known,
  head: Head,
  expectsContinue: boolean,
  generation: Generation,
): Promise<void> {
  const { pipeline, limits, intake, deliver: tools } = generation;
  const { form } = x.style!.ingress!;
  // A form that does not say how long it is may be a large one.
  const isLarge = (head.length ?? Infinity) > SPOOLED_AT_ONCE;
  const onDisk = isLarge && form !== undefined && isForm(head.headers['content-type'] ?? '');
  const where = onDisk ? 'disk' : 'memory';
  const holding = intake.begin(where, x.identity.account.id, limits.inFlight[where]);
  x.holding = holding;
  x.defer(() => holding.giveBack());
  const options = { limit: limits.jsonBytes, expectsContinue, deadlines: tools.deadlines, holding };
  let bytes: Buffer;
  let files: readonly Upload[] | undefined;
  if (form === undefined) {
    bytes = await readBody(x.request, x.response, head, options);
  } else {
    const spool = createSpool({
      directory: generation.spoolDirectory,
      maxBytes: limits.uploadBytes,
      straightToDisk: onDisk,
    });
    x.defer(() => spool.discard());
    const uploads = { ...options, uploadLimit: limits.uploadBytes, spool };
    ({ bytes, files } = await readCallBody(x.request, x.response, head, form, uploads));
  }
  const reading = readCall(x, bytes, limits, files);
  if (reading !== undefined) await reading;
  const inspecting = inspectCall(x, pipeline, 'call');
  if (inspecting !== undefined) await inspecting;
  const admitting = pipeline.admit(x);
  if (admitting !== undefined) await admitting;
  if (x.given !== undefined) {
    await deliverGiven(x, x.given, tools);
    return;
  }
  const offers = pipeline.route(x);
  await deliver(x, offers instanceof Promise ? await offers : offers, tools);
}

/** A form that is larger goes to disk from its first byte on. */
const SPOOLED_AT_ONCE = 1_024 * 1_024;

/** Understands a call: what its body asks for, and what it refers to. At once where that is nothing. */
export function readCall(
  x: LiveExchange & Known,
  bytes: Buffer,
  limits: BodyLimits,
  files?: readonly Upload[],
): Awaitable<void> {
  if (bytes.length < LARGE) return understand(x, bytes, noLetters(bytes), limits, files);
  return findLetters(bytes).then((letters) => understand(x, bytes, letters, limits, files));
}

function understand(
  x: LiveExchange & Known,
  bytes: Buffer,
  letters: Letters,
  limits: BodyLimits,
  files: readonly Upload[] | undefined,
): Awaitable<void> {
  const style = x.style!;
  const { depth } = limits;
  const { maxValues, measure } = style.ingress!;
  const body = scanJson(bytes, maxValues === undefined ? { depth } : { depth, tokens: maxValues }, letters);
  x.call = { style: style.name, body, ...style.ingress!.read(body, x, files), ...(files && { files }) };
  if (files !== undefined && measure !== undefined) return measureCall(x, style);
  const recalling = style.ingress!.recall?.(x, body);
  if (recalling instanceof Promise) return recalling.then((recalled) => recall(x, style, recalled));
  recall(x, style, recalling);
}

async function measureCall(x: LiveExchange, style: Style): Promise<void> {
  x.call = { ...x.call, bounds: await style.ingress!.measure!(x.call) };
}

/** Puts what the body only referred to in the place of the body, so that it is counted and can be sent anywhere. */
function recall(x: LiveExchange, style: Style, recalled: Recalled | undefined): void {
  if (recalled === undefined) return;
  const { body, channel } = recalled;
  const earlier = { channel, body: x.call.body };
  x.call = { style: style.name, body, ...style.ingress!.read(body, x), earlier };
}

/** A passage: admitted like a call, carried without being understood. */
async function servePassage(
  x: LiveExchange & Known,
  passage: Passage,
  asked: Omit<Arrival, 'maxBytes'>,
  generation: Generation,
  options: ServerOptions,
): Promise<void> {
  const arrival = { ...asked, maxBytes: generation.limits.uploadBytes };
  x.call = readPassage(passage, arrival);
  await generation.pipeline.admit(x);
  await carryPassage(x, passage, arrival, options.opaque, generation.deliver);
}

/** A websocket inside a passage. */
async function serveSocket(
  x: LiveExchange & Known,
  passage: Passage,
  upgrade: Upgrade,
  generation: Generation,
  options: ServerOptions,
): Promise<void> {
  x.call = readPassage(passage, { head: upgrade.head, maxBytes: 0 });
  await generation.pipeline.admit(x);
  await carrySocket(x, passage, upgrade, options.opaque, generation.deliver);
}

/** Books the end of an exchange that did not go well, then tells the client, if it is still there. */
async function failExchange(
  x: LiveExchange,
  error: unknown,
  generation: Generation,
  options: ServerOptions,
): Promise<void> {
  let refusal = told(error, x.id, options.log);
  x.status = x.gone ? 499 : refusal.status;
  if (!x.gone) x.note({ code: refusal.code });
  try {
    // Of an offer that nobody was asked for, no failure is known.
    const failure = x.attempts.findLast((attempt) => attempt.failure !== undefined)?.failure;
    const refused = refusal.status < 500 && (failure === undefined || failure === 'refused');
    await generation.deliver.conclude(x, x.gone ? 'aborted' : refused ? 'refused' : 'failed');
  } catch (settling) {
    refusal = toGatewayError(settling); // `conclude` has logged it
  }
  if (x.gone || x.response.destroyed) return;
  if (x.body !== undefined) {
    // Only a comment has been sent so far: the stream's own kind of error, and no good ending.
    x.body.write(x.style === undefined ? '' : errorEvent(refusal, x.style, x.id), () => x.response.destroy());
    return;
  }
  refuseRequest(x.request, x.response, refusal, x.style, x.id, options, x.answerHeaders);
}

function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  error: GatewayError,
  style: ErrorFormat | undefined,
  id: string,
  options: ServerOptions,
  extra: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const headers = answerHeaders(id, { ...extra, ...error.headers }, { 'content-type': 'application/json' });
  const body = errorBody(error, style, id);
  if (isRead(request)) send(response, error.status, headers, body);
  else answerUnread(request, response, { status: error.status, headers, body }, options.clock.after);
}

/** A request for a route, as it came. */
interface RouteRequest extends Arrived {
  readonly style: Style | undefined;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The same under way. */
interface RouteVisit extends RouteRequest {
  readonly id: string;
  readonly entry: Entry;
  /** The request as limits and the log see it, once a key is found to be its sender. */
  entrant: Entrant | undefined;
}

/** The life of a request for a route: answered or refused, and what was taken for its time is given back. */
async function serveRoute(
  request: IncomingMessage,
  response: ServerResponse,
  asked: RouteRequest,
  generation: Generation,
  options: ServerOptions,
): Promise<void> {
  const id = newId(options.clock.now());
  const entry = new Entry();
  const at: RouteVisit = { id, entry, entrant: undefined, ...asked };
  let result: unknown;
  let refusal: GatewayError | undefined;
  try {
    result = await handleRoute(request, response, at, generation);
  } catch (error) {
    refusal = told(error, id, options.log);
  }
  const releasing = entry.release((error) => options.log.error('a release failed', { request: id, error }));
  if (releasing !== undefined) await releasing;
  if (at.entrant !== undefined) {
    const status = refusal?.status ?? (result instanceof Answer ? result.status : 200);
    generation.pipeline.answered(at.entrant, { route: asked.route, status, code: refusal?.code });
  }
  const { answerHeaders: added } = entry;
  if (refusal !== undefined) {
    const spelling = spellingOf(asked.route) ?? asked.style;
    refuseRequest(request, response, refusal, spelling, id, options, added);
  } else if (result instanceof Answer) {
    const headers = answerHeaders(id, added, result.headers);
    const { status, body = '' } = result;
    if (isRead(request)) send(response, status, headers, result.body);
    else answerUnread(request, response, { status, headers, body }, options.clock.after);
  } else {
    send(response, 200, answerHeaders(id, added, { 'content-type': 'application/json' }), JSON.stringify(result));
  }
}

/** What a route answers; throws what it refuses with. */
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
  for (const name of route.access === 'public' ? [] : route.access)
    Object.assign(found, await generation.guards[name]!(caller, found));
  const { account, holder, session, accessToken } = found;
  if (holder !== undefined) {
    at.entrant = Object.assign(at.entry, caller, { id, identity: holder });
    if (route.uncounted !== true) await generation.pipeline.enter(at.entrant);
  }
  const asked = route.search === undefined ? {} : readSearch(route.search, caller.query);
  let bytes: Buffer = NO_BYTES;
  let body: ApiRequest['body'];
  if (head.hasBody && route.takes !== 'none') {
    const raw = route.takes === 'bytes';
    const holding = generation.intake.begin('memory', account?.id ?? at.ip, generation.limits.inFlight.memory);
    at.entry.defer(() => holding.giveBack());
    const read = await readBody(request, response, head, {
      limit: route.maxBody ?? generation.limits.jsonBytes,
      expectsContinue: at.expectsContinue,
      deadlines: generation.deliver.deadlines,
      holding,
      anyType: raw,
    });
    if (raw) bytes = read;
    else body = scanJson(read, generation.limits).tree();
  }
  if (route.body !== undefined) {
    // Nothing sent says as much as nothing said.
    body ??= {};
    checkBody(route.body, body);
  }
  return route.handle({ ...caller, id, params: at.params, body, bytes, asked, account, holder, session, accessToken });
}

const NO_BYTES = Buffer.alloc(0);

/** Who spells what is refused at the door of a path: a route of it, by whatever method it is asked for. */
function spellingAt(router: Router, path: string): ErrorFormat | undefined {
  const route = router.routeAt(path);
  return route === undefined ? undefined : spellingOf(route);
}

/** Who spells a route's refusals, where that is the route itself. */
function spellingOf(route: Route): ErrorFormat | undefined {
  return route.error === undefined ? undefined : { errors: { body: (error, id) => route.error!(error, id) } };
}

/** Refuses (400) what a query says wrong, and fills its defaults in. */
function readSearch(schema: Schema, query: URLSearchParams): JsonObject {
  const asked = searchOf(schema, query);
  checkBody(schema, asked, 'query');
  return asked;
}

/** Fills the defaults of a route's body or search in; refuses it (400) with the first mistake that is in it. */
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

/** Where a number stands that is not what was sent: beyond 2^53 they are rounded, and no id and no amount may be. */
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

/** A connection that wants to become something else: a websocket inside a passage, or nothing. */
function upgrade(request: IncomingMessage, socket: Duplex, first: Buffer, options: ServerOptions): void {
  socket.on('error', () => socket.destroy());
  if (lineOf(socket).owed.length > 0) {
    // An answer is still on its way there, and would end up inside ours.
    socket.destroy();
    return;
  }
  upgradePassage(request, socket as Socket, first, options).catch((error: unknown) => {
    endSocket(socket, told(error, newId(options.clock.now()), options.log), options);
  });
}

async function upgradePassage(
  request: IncomingMessage,
  socket: Socket,
  first: Buffer,
  options: ServerOptions,
): Promise<void> {
  const head = readHead(request);
  const generation = options.current();
  const passage = generation.router.passageAt(head.path);
  const asked = head.method === 'GET' && head.headers.upgrade?.toLowerCase() === 'websocket';
  if (passage === undefined || !asked) throw upgradeNotServed();
  if (options.state() !== 'ready') throw notReady();
  const ip = addressOf(socket, head, generation, options);
  const response = refusalOn(socket, request);
  const x = new LiveExchange({ request, response, head, ip, style: undefined, passage }, options.clock);
  await serveExchange(x, generation, options, (known) =>
    serveSocket(known, passage, { head, socket, first }, generation, options),
  );
}

/** Clients that find this status ask again without an upgrade, and do not try it once more. */
function upgradeNotServed(): GatewayError {
  return coreErrors.upgrade_not_served();
}

/** Where a request came from. */
function addressOf(socket: Socket, { headers }: Head, generation: Generation, options: ServerOptions): string {
  const forwardedFor = headers['x-forwarded-for'];
  if (forwardedFor !== undefined) return addressBehind(socket.remoteAddress ?? '', forwardedFor, generation, options);
  const line = lineOf(socket);
  line.address ??= clientAddress(socket.remoteAddress ?? '', undefined, generation.trusted);
  return line.address;
}

/** The same for a request whose connection is known by its other end alone. */
function addressBehind(
  peer: string,
  forwardedFor: string | undefined,
  { trusted }: Generation,
  { proxies }: ServerOptions,
): string {
  if (forwardedFor !== undefined) proxies.note(peer, trusted);
  return clientAddress(peer, forwardedFor, trusted);
}

/** The answer to a request for an upgrade, should there be one: node makes none, because it has given the connection away. */
function refusalOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.on('finish', () => socket.destroySoon());
  response.on('error', ignore);
  return response;
}
