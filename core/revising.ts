/** The revisions of one answer: its parts pass the plugins one after the other, and what comes out is legal whatever they do. */
import { toGatewayError } from './answers.ts';
import type { ContentPart } from './contracts/content.ts';
import type { Part } from './contracts/conversation.ts';
import { GatewayError } from './errors.ts';
import type { LiveExchange } from './exchange.ts';
import type { Log } from './log.ts';
import type { Pipeline, Revising } from './pipeline.ts';
import type { Known } from './plugin.ts';
import { foldParts } from './translation/fold.ts';

/** A plugin refused an answer, or failed on it. */
export class AnswerRefused extends Error {
  /** What the client is told. */
  readonly refusal: GatewayError;

  constructor(refusal: GatewayError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Every plugin of the pipeline. */
const ALL = Number.POSITIVE_INFINITY;

/**
 * The revisions of the answer of one attempt, or of a plugin's own answer (`before`: by the plugins before it). Undefined if there is
 * nothing to do: then an answer costs nothing more. Throws what a plugin throws.
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
  /** Whether any of them may change it; otherwise they only look, and it is forwarded as bytes. */
  readonly changes: boolean;
  readonly #list: readonly Revising[];
  readonly #x: LiveExchange;
  readonly #log: Log;
  /** The parts as the client gets them, if its answer is to be kept. */
  readonly kept: Part[] | undefined;
  /** The blocks that are open in what was sent. */
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

  /** What is sent for a part; nothing after the end. Throws `AnswerRefused`. */
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
        // A plugin can end an answer, and cannot keep it from ending.
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

  /** What was kept, as a whole answer in the common form; undefined before its end. */
  reply(): ReturnType<typeof foldParts> {
    return this.kept && foldParts(this.kept);
  }
}
