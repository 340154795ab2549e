/**
 * The life of a request that has a caller: its steps, and the phase of the stage in which each runs, with those of all other requests of the turn.
 */

import { screenAndInspect } from '../call/inspection.ts';
import type { LiveExchange } from '../call/live-exchange.ts';
import { readCall } from '../call/read-call.ts';
import type { Offer, Upload } from '../contracts/formats/call.ts';
import type { Holder } from '../contracts/identity.ts';
import { type Delivered, deliver } from '../delivery/deliver.ts';
import { deliverGiven } from '../delivery/plugin-answer.ts';
import type { Head } from '../http/request-head.ts';
import { boundFlush, errorEvent, toGatewayError } from '../http/responses.ts';
import { type BodyOptions, isForm, readAtOnce, readBody, readCallBody } from '../incoming/read-body.ts';
import { createSpool } from '../incoming/upload-spool.ts';
import type { Awaitable, Known } from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';
import { type Queue, queueOf } from '../runtime/stage.ts';
import type { Generation } from './generation.ts';
import { type CloseObserver, observeClose } from './pipelining.ts';
import { clientError, refuseRequest } from './refuse.ts';

/** What a visit is, besides its request. */
export interface Occasion {
  readonly head: Head;
  /** The client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean;
  readonly generation: Generation;
  readonly server: { readonly clock: Clock; readonly log: Log };
}

/** The result of a step that calls `delivered` or `failed` later. */
const REPORTS_LATER = Symbol('reports later');

/** A step: done, or a promise if its request has to wait. */
interface Step {
  readonly queue: Queue<Visit>;
  run(visit: Visit): Awaitable<void> | typeof REPORTS_LATER;
}

const go = (visit: Visit): void => visit.go();
const heads: Queue<Visit> = queueOf('heads', go);
const bodies: Queue<Visit> = queueOf('bodies', go);
const targets: Queue<Visit> = queueOf('targets', go);

/** Who is the caller, and may the request enter? Before anything of its body is read. */
const ARRIVAL: readonly Step[] = [
  { queue: heads, run: authenticate },
  { queue: heads, run: enter },
];
/** A call: read, admitted, and delivered by the first channel that can. */
const CALL: readonly Step[] = [
  ...ARRIVAL,
  { queue: heads, run: receive },
  { queue: bodies, run: understand },
  { queue: bodies, run: inspect },
  { queue: bodies, run: admit },
  { queue: bodies, run: route },
  { queue: targets, run: answer },
];

/** A request on its way. */
class Visit implements CloseObserver, Delivered {
  readonly x: LiveExchange;
  readonly occasion: Occasion;
  bytes: Buffer | undefined;
  files: readonly Upload[] | undefined;
  offers: Iterable<Offer> | undefined;
  readonly #steps: readonly Step[];
  /** The index of the next step. */
  #next = 0;
  #isOver = false;

  /** `work`: what is done for a request that is no call, once it has entered. */
  constructor(x: LiveExchange, occasion: Occasion, work?: (x: LiveExchange & Known) => Promise<void>) {
    this.x = x;
    this.occasion = occasion;
    this.#steps =
      work === undefined ? CALL : [...ARRIVAL, { queue: heads, run: (visit) => work(visit.x as LiveExchange & Known) }];
  }

  /** Begins it, in this turn. */
  begin(): void {
    this.occasion.generation.live.add(this.x);
    observeClose(this.x.response, this);
    heads.add(this);
  }

  /** Its connection, or its answer, has closed. */
  closed(): void {
    const { x } = this;
    if (!x.response.writableFinished) x.leave();
    if (this.#isOver) this.occasion.generation.live.delete(x);
  }

  /** Runs the next step, and those after it in the same phase. */
  go(): void {
    const steps = this.#steps;
    const { queue } = steps[this.#next]!;
    try {
      do {
        const waiting = steps[this.#next++]!.run(this);
        if (waiting === REPORTS_LATER) return;
        if (waiting !== undefined) {
          waiting.then(
            () => this.#goOn(),
            (error) => this.failed(error),
          );
          return;
        }
      } while (this.#next < steps.length && steps[this.#next]!.queue === queue);
    } catch (error) {
      this.failed(error);
      return;
    }
    this.#goOn();
  }

  #goOn(): void {
    if (this.#next === this.#steps.length) this.delivered();
    else this.#steps[this.#next]!.queue.add(this);
  }

  delivered(): void {
    const { x, occasion } = this;
    if (x.outcome !== undefined) this.#end();
    else {
      occasion.generation.deliver.conclude(x, 'served').then(
        () => this.#end(),
        (error) => this.failed(error),
      );
    }
  }

  failed(error: unknown): void {
    fail(this.x, error, this.occasion)
      .catch((failure: unknown) => {
        // Nothing can be said to the client any more.
        this.occasion.server.log.error('a request failed', { request: this.x.id, error: failure });
        this.x.response.destroy();
      })
      .finally(() => this.#end());
  }

  #end(): void {
    const { x, occasion } = this;
    const { response } = x;
    this.#isOver = true;
    // The last bytes may still be in transit.
    if (response.headersSent && !response.destroyed) boundFlush(response, occasion.generation.deliver.deadlines);
    else occasion.generation.live.delete(x);
  }
}

/** Begins the life of a request: a call, or `work` that is done once it has entered. */
export function visit(x: LiveExchange, occasion: Occasion, work?: (x: LiveExchange & Known) => Promise<void>): void {
  new Visit(x, occasion, work).begin();
}

function authenticate({ x, occasion }: Visit): Awaitable<void> {
  const holder = occasion.generation.pipeline.authenticate(x);
  if (!(holder instanceof Promise)) {
    x.identity = holder;
    return undefined;
  }
  return holder.then((found: Holder) => {
    x.identity = found;
  });
}

function enter({ x, occasion }: Visit): Awaitable<void> {
  return occasion.generation.pipeline.enter(x as LiveExchange & Known);
}

/** A larger multipart body goes to disk from its first byte on. */
const SPOOLED_AT_ONCE = 1_024 * 1_024;

/** Reads the body. */
function receive(visit: Visit): Awaitable<void> {
  const { head, expectsContinue, generation } = visit.occasion;
  const x = visit.x as LiveExchange & Known;
  const { limits, intake, deliver: tools } = generation;
  const { form } = x.style!.ingress!;
  // A multipart body of unknown length, or a compressed one, may be large.
  const isLarge = head.coding !== undefined || (head.length ?? Infinity) > SPOOLED_AT_ONCE;
  const onDisk = isLarge && form !== undefined && isForm(head.headers['content-type'] ?? '');
  const where = onDisk ? 'disk' : 'memory';
  const holding = intake.begin(where, x.identity.account.id, limits.inFlight[where]);
  x.holding = holding;
  x.defer(() => holding.giveBack());
  const options: BodyOptions = { limit: limits.jsonBytes, expectsContinue, deadlines: tools.deadlines, holding };
  if (form === undefined) {
    visit.bytes = readAtOnce(x.request, x.response, head, options);
    if (visit.bytes !== undefined) return undefined;
    return readBody(x.request, x.response, head, options).then((bytes) => {
      visit.bytes = bytes;
    });
  }
  const spool = createSpool({
    directory: generation.spoolDirectory,
    maxBytes: limits.uploadBytes,
    straightToDisk: onDisk,
  });
  x.defer(() => spool.discard());
  const uploads = { ...options, uploadLimit: limits.uploadBytes, spool };
  return readCallBody(x.request, x.response, head, form, uploads).then((read) => {
    visit.bytes = read.bytes;
    visit.files = read.files;
  });
}

function understand({ x, occasion, bytes, files }: Visit): Awaitable<void> {
  return readCall(x as LiveExchange & Known, bytes!, occasion.generation.limits, files);
}

function inspect({ x, occasion }: Visit): Awaitable<void> {
  return screenAndInspect(x as LiveExchange & Known, occasion.generation.pipeline);
}

function admit({ x, occasion }: Visit): Awaitable<void> {
  return occasion.generation.pipeline.admit(x as LiveExchange & Known);
}

/** Which targets can serve it? A plugin's own answer needs none. */
function route(visit: Visit): Awaitable<void> {
  const x = visit.x as LiveExchange & Known;
  if (x.given !== undefined) return undefined;
  const offers = visit.occasion.generation.pipeline.route(x);
  if (!(offers instanceof Promise)) {
    visit.offers = offers;
    return undefined;
  }
  return offers.then((found) => {
    visit.offers = found;
  });
}

function answer(visit: Visit): Awaitable<void> | typeof REPORTS_LATER {
  const x = visit.x as LiveExchange & Known;
  const tools = visit.occasion.generation.deliver;
  if (x.given !== undefined) return deliverGiven(x, x.given, tools);
  deliver(x, visit.offers!, tools, visit);
  return REPORTS_LATER;
}

/** The code of an error, ours or a vendor's. */
const CODE = /^[\w.:-]{0,64}$/;

/** Settles a failed request, then sends the error to the client, if it is still connected. */
async function fail(x: LiveExchange, error: unknown, { generation, server: { clock, log } }: Occasion): Promise<void> {
  let refusal = clientError(error, x.id, log);
  x.status = x.gone ? 499 : refusal.status;
  // That of a vendor may be anything, a part of the request, too.
  if (!x.gone) x.note({ code: CODE.test(refusal.code) ? refusal.code : '' });
  try {
    // A target that was not called has no failure.
    const failure = x.attempts.findLast((attempt) => attempt.failure !== undefined)?.failure;
    const refused = refusal.status < 500 && (failure === undefined || failure === 'refused');
    await generation.deliver.conclude(x, x.gone ? 'aborted' : refused ? 'refused' : 'failed');
  } catch (settling) {
    refusal = toGatewayError(settling); // `conclude` has logged it
  }
  if (x.gone || x.response.destroyed) return;
  if (x.body !== undefined) {
    // Only a comment was sent so far: an error event of the stream, and no successful end.
    x.body.write(x.style === undefined ? '' : errorEvent(refusal, x.style, x.id), () => x.response.destroy());
    return;
  }
  refuseRequest(x.request, x.response, refusal, x.style, x.id, clock.after, x.answerHeaders);
}
