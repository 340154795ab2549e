/** The revisions of one answer: its parts pass through the plugins in turn; whatever they do, the output is valid. */

import type { ContentPart } from '../contracts/formats/content.ts';
import type { Part } from '../contracts/formats/conversation.ts';
import { GatewayError } from '../contracts/gateway-error.ts';
import { toGatewayError } from '../http/responses.ts';
import type { Known } from '../plugin.ts';
import type { Log } from '../runtime/logger.ts';
import { foldParts } from '../translation/conversation/fold.ts';
import type { LiveExchange } from './live-exchange.ts';
import type { Pipeline, Revising } from './phases.ts';

/** A plugin refused an answer, or failed. */
export class AnswerRefused extends Error {
  /** The error for the client. */
  readonly refusal: GatewayError;

  constructor(refusal: GatewayError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** All plugins of the pipeline. */
const ALL = Number.POSITIVE_INFINITY;

/**
 * The revisions for the answer of one attempt, or for a plugin's own answer (`before`: by the plugins before it).
 * Undefined if there are none: then an answer has no extra cost. Throws what a plugin throws.
 */
export function revisionsOf(
  x: LiveExchange & Known,
  pipeline: Pipeline,
  log: Log,
  before = ALL,
): Revisions | undefined {
  if (!pipeline.revises && !x.keepsAnswer) return undefined;
  const { client, vendor, relay } = x.style!;
  if (client === undefined || (vendor ?? relay.reader) === undefined) return undefined;
  const list = pipeline.revise(x, before);
  return list.length > 0 || x.keepsAnswer ? new Revisions(list, x, log) : undefined;
}

/** One answer on its way through the plugins. */
export class Revisions {
  /** Whether one of them may change it; otherwise they only look, and it is forwarded as bytes. */
  readonly changes: boolean;
  readonly #list: readonly Revising[];
  readonly #x: LiveExchange;
  readonly #log: Log;
  /** The parts as sent to the client, if its answer is collected. */
  readonly kept: Part[] | undefined;
  /** The open blocks of what was sent. */
  readonly #open = new Set<number>();
  #ended = false;
  /** A plugin ended the answer before its vendor did. */
  isCut = false;

  constructor(list: readonly Revising[], x: LiveExchange, log: Log) {
    this.#list = list;
    this.#x = x;
    this.#log = log;
    this.changes = list.some(({ revision }) => revision.observes !== true);
    this.kept = x.keepsAnswer ? [] : undefined;
  }

  /** Returns the parts to send in place of `part`; none after the end. Throws `AnswerRefused`. */
  pass(part: Part): readonly Part[] {
    if (part.type === 'ping' || part.type === 'error') return [part];
    if (this.#ended) return [];
    let parts: readonly ContentPart[] = [part];
    for (const each of this.#list) parts = this.#through(each, parts);
    const out: Part[] = [];
    for (const own of parts) this.#put(own, out);
    if (this.#ended && part.type !== 'finish') this.isCut = true;
    if (this.kept !== undefined) this.kept.push(...out);
    return out;
  }

  #put(part: ContentPart, out: Part[]): void {
    if (this.#ended) return;
    if (part.type === 'blockStart') this.#open.add(part.key);
    else if (part.type === 'blockEnd') this.#open.delete(part.key);
    else if (part.type === 'finish') {
      for (const key of this.#open) out.push({ type: 'blockEnd', key });
      this.#ended = true;
    }
    out.push(part);
  }

  #through({ plugin, revision }: Revising, parts: readonly ContentPart[]): readonly ContentPart[] {
    const out: ContentPart[] = [];
    try {
      for (const part of parts) {
        if (part.type === 'finish') out.push(...revision.end());
        const own = revision.part(part);
        const last = own.findIndex(({ type }) => type === 'finish');
        out.push(...(last === -1 ? own : own.slice(0, last + 1)));
        // A plugin can end an answer, but cannot prevent its end.
        if (part.type === 'finish' && last === -1) out.push(part);
        if (last !== -1) break;
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) {
        this.#log.error('a plugin failed', { phase: 'revise', plugin, exchange: this.#x.id, error });
      }
      throw new AnswerRefused(toGatewayError(error));
    }
    return revision.observes === true ? parts : out;
  }

  /** The collected answer in the common form; undefined before its end. */
  reply(): ReturnType<typeof foldParts> {
    return this.kept && foldParts(this.kept);
  }
}
