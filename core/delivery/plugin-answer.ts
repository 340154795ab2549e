/** Delivers a plugin's answer in place of a vendor's: whole or streamed, charged or free, revised by plugins. */

import { fieldNames } from '../call/inspection.ts';
import type { LiveExchange } from '../call/live-exchange.ts';
import type { Given } from '../call/phases.ts';
import { AnswerRefused, type Revisions, revisionsOf } from '../call/revision.ts';
import { coreErrors } from '../contracts/errors.ts';
import type { Part } from '../contracts/formats/conversation.ts';
import type { PartWriter } from '../contracts/formats/style.ts';
import type { Usage } from '../contracts/formats/usage.ts';
import { GatewayError } from '../contracts/gateway-error.ts';
import { AnswerBody } from '../http/chunked-body.ts';
import { answerHeaders, send, toGatewayError } from '../http/responses.ts';
import type { Known } from '../plugin.ts';
import type { Deadline } from '../runtime/deadlines.ts';
import { countedUsage } from '../translation/conversation/count-usage.ts';
import { foldParts, partsOf, textLengthOf } from '../translation/conversation/fold.ts';
import { type CollectedWarnings, collectWarnings, warningHeader } from '../translation/warnings/warnings.ts';
import { EVENT_STREAM, noteWarnings, TRANSLATION } from './attempt.ts';
import type { DeliverTools } from './deliver.ts';
import { AnswerTo, collected } from './translate.ts';

/** Time a client may stop reading its stream. */
const WRITE_STALL_MS = 120_000;

/** Time for a plugin to return the next part. */
const IDLE_MS = 120_000;

/** Delivers it, or throws the error for the client. When it returns, the request has ended. */
export async function deliverGiven(x: LiveExchange & Known, given: Given, tools: DeliverTools): Promise<void> {
  x.note({ answeredBy: given.plugin });
  if (given.answer.charge === 'usage') {
    const routing = tools.pipeline.route(x);
    const [offer] = routing instanceof Promise ? await routing : routing;
    if (offer === undefined) throw coreErrors.no_channel();
    // The target is not called; its model has the price.
    x.served = offer;
  }
  await new Delivery(x, given, tools).run();
}

/** A running answer of a plugin. */
class Delivery {
  readonly #x: LiveExchange & Known;
  readonly #given: Given;
  readonly #tools: DeliverTools;
  readonly #warnings: CollectedWarnings;
  readonly #answering: AnswerTo;
  readonly #revisions: Revisions | undefined;
  readonly #writer: PartWriter | undefined;
  /** For an answer that is sent whole. */
  readonly #parts: Part[] = [];
  #usage: Usage | undefined;
  #textLength = 0;
  #ended = false;

  constructor(x: LiveExchange & Known, given: Given, tools: DeliverTools) {
    this.#x = x;
    this.#given = given;
    this.#tools = tools;
    this.#warnings = collectWarnings(fieldNames(x.style!, x.call.body));
    for (const field of x.dropped) this.#warnings.drop(field, 'hint');
    this.#answering = new AnswerTo(x, x.call.model, tools.clock, this.#warnings);
    this.#revisions = revisionsOf(x, tools.pipeline, tools.log, given.at);
    this.#writer = x.call.stream ? x.style!.client!.createStreamEncoder(this.#answering) : undefined;
  }

  async run(): Promise<void> {
    const x = this.#x;
    x.running = () => this.#used();
    try {
      for await (const part of this.#pieces()) {
        await this.#take(part);
        if (this.#ended) break;
      }
      if (!this.#ended) throw this.#failed(new Error('the answer ended without a `finish`'));
    } catch (error) {
      await this.#breakOff(error instanceof AnswerRefused ? error.refusal : (error as Error));
    } finally {
      x.onStop(undefined);
    }
  }

  /** Delivers the answer while the client is connected. */
  async *#pieces(): AsyncIterable<Part> {
    const { answer } = this.#given.answer;
    if (!(Symbol.asyncIterator in answer)) {
      yield* partsOf(answer);
      return;
    }
    const { deadlines } = this.#tools;
    const parts = answer[Symbol.asyncIterator]();
    let stop: (error: Error) => void = () => {};
    const stopped = new Promise<never>((_resolve, reject) => {
      stop = reject;
    });
    stopped.catch(() => {});
    this.#x.onStop(stop);
    let deadline: Deadline | undefined;
    try {
      for (;;) {
        const next = parts.next().catch((error: unknown) => {
          throw this.#failed(error);
        });
        deadline = deadlines.set(IDLE_MS, () =>
          stop(coreErrors.upstream_timeout('The answer did not arrive in time.')),
        );
        const { done, value } = await Promise.race([next, stopped]);
        deadlines.clear(deadline);
        if (done) return;
        yield value;
      }
    } finally {
      if (deadline !== undefined) deadlines.clear(deadline);
      // The source may be waiting itself; do not wait for it.
      parts.return?.()?.catch(() => {});
    }
  }

  #failed(error: unknown): GatewayError {
    if (error instanceof GatewayError) return error;
    const { plugin } = this.#given;
    this.#tools.log.error('a plugin failed', { phase: 'inspect', plugin, exchange: this.#x.id, error });
    return toGatewayError(error);
  }

  async #take(part: Part): Promise<void> {
    if (part.type === 'start') this.#answering.named(part.model);
    else if (part.type === 'usage') this.#usage = part.usage;
    else this.#textLength += textLengthOf(part);
    if (part.type === 'error') throw coreErrors.upstream_error(part.message);
    const revised = this.#revisions === undefined ? [part] : this.#revisions.pass(part);
    let text = '';
    for (const own of revised) {
      if (own.type === 'finish') {
        this.#ended = true;
        const usage = this.#used();
        if (this.#usage === undefined && usage !== undefined) text += this.#put({ type: 'usage', usage });
        await this.#send(text);
        await this.#finish(this.#put(own));
        return;
      }
      text += this.#put(own);
    }
    await this.#send(text);
  }

  /** Encodes a part as events; for an answer that is sent whole, collects it. */
  #put(part: Part): string {
    if (this.#writer !== undefined) return this.#writer.write(part);
    this.#parts.push(part);
    return '';
  }

  /** The usage reported by the plugin; missing counts are estimated if the answer is charged. */
  #used(): Usage | undefined {
    if (this.#usage !== undefined || this.#given.answer.charge === 'nothing') return this.#usage;
    return countedUsage(this.#x.call.bounds, this.#textLength);
  }

  async #send(text: string): Promise<void> {
    const x = this.#x;
    if (text === '') return;
    if (x.served !== undefined) await x.look?.(this.#textLength);
    if (x.stoppedBy !== undefined) throw x.stoppedBy;
    this.#sendHead();
    x.delivered = true;
    if (!x.body!.write(text)) await this.#drained();
  }

  #sendHead(): void {
    const x = this.#x;
    if (x.body !== undefined) return;
    x.status = 200;
    const own: Record<string, string> = {
      'content-type': EVENT_STREAM,
      'x-accel-buffering': 'no',
      trailer: TRANSLATION,
    };
    if (!this.#warnings.isEmpty) own[TRANSLATION] = warningHeader(this.#warnings.all);
    x.response.writeHead(200, answerHeaders(x.id, x.answerHeaders, own));
    x.body = new AnswerBody(x.response);
  }

  /** A client that does not read its stream is disconnected. */
  async #drained(): Promise<void> {
    const { response } = this.#x;
    const { deadlines } = this.#tools;
    const deadline = deadlines.set(WRITE_STALL_MS, () => response.destroy());
    await new Promise<void>((resolve) => {
      response.once('drain', resolve);
      response.once('close', resolve);
    });
    deadlines.clear(deadline);
  }

  /** Settles first, then sends the last bytes. */
  async #finish(last: string): Promise<void> {
    const x = this.#x;
    x.usage = this.#used();
    x.running = undefined;
    const whole = this.#writer === undefined ? this.#whole() : undefined;
    x.answered = () => whole ?? this.#writer?.answer?.();
    x.collected = () => collected(x, this.#revisions, this.#answering);
    noteWarnings(x, { warnings: () => this.#warnings.all });
    x.status = 200;
    await this.#tools.conclude(x, x.gone ? 'aborted' : 'served');
    if (x.gone) return;
    if (whole !== undefined) {
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (!this.#warnings.isEmpty) headers[TRANSLATION] = warningHeader(this.#warnings.all);
      x.delivered = true;
      send(x.response, 200, answerHeaders(x.id, x.answerHeaders, headers), JSON.stringify(whole));
      return;
    }
    this.#sendHead();
    x.delivered = true;
    x.body!.end(last, this.#warnings.isEmpty ? undefined : { [TRANSLATION]: warningHeader(this.#warnings.all) });
  }

  #whole() {
    const reply = foldParts(this.#parts);
    if (reply === undefined) throw this.#failed(new Error('the answer has no end'));
    return this.#x.style!.client!.encodeReply(reply, this.#answering);
  }

  /** Before anything was sent, the error is the answer; in a stream it is an event, without a successful end. */
  async #breakOff(error: Error): Promise<void> {
    const x = this.#x;
    if (!x.ending) x.usage = this.#used();
    x.running = undefined;
    if (x.body === undefined || x.gone) throw error;
    const answerError = toGatewayError(error);
    if (!x.ending) x.note({ code: answerError.code });
    await this.#tools.conclude(x, 'failed');
    x.body.write(this.#writer!.fail(answerError, x.id), () => x.response.destroy());
  }
}
