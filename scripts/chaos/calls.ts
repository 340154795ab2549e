/** The calls of the kill loop: customer, model, behaviour of the vendor, and cost. */
import { CHAT_DELTAS, type ChatAnswer, type ChatUsage } from '../../test/kit/gateway/fixtures.ts';
import type { Random } from './random.ts';

/** The behaviour of a model's vendor. */
export const MODELS = ['good', 'flaky', 'breaking', 'slow', 'down'] as const;
export type ModelName = (typeof MODELS)[number];

/** Prices per kind of token, in currency units per million. */
export const PRICE = { input: 1, output: 2 };
/** The same in micro-quota per token, at 500,000 quota per currency unit. */
const MICRO_PER_TOKEN = { input: 500_000n, output: 1_000_000n };
/** Maximum output of a call; no answer has more, so a reservation covers every charge. */
export const MAX_TOKENS = 64;

/** One call, and everything observed from the outside. */
export interface Call {
  readonly number: number;
  /** The customer's number. */
  readonly customer: number;
  /** The gateway's number, if there are several. */
  readonly gateway: number;
  readonly model: ModelName;
  readonly stream: boolean;
  /** The client requests usage in its stream. */
  readonly asksUsage: boolean;
  /** The client disconnects after this many milliseconds; undefined: it does not. */
  readonly leavesAfterMs: number | undefined;
  /** The `x-request-id` of its answer, once the client has the head. */
  id: string | undefined;
  status: number | undefined;
  /** The body of a complete answer that is no success, to say what happened. */
  told: string | undefined;
  /** The client has the end of the answer: the whole body, or `[DONE]`. */
  complete: boolean;
  /** The client disconnected on purpose. */
  left: boolean;
  /** The usage in the answer. */
  shown: ChatUsage | undefined;
  /** The header `x-turnpike-cost`. */
  cost: string | undefined;
  /** Micro-quota: the price of everything that vendors may have sent for it. */
  most: bigint;
}

/** Creates the next call, by one of this many customers. */
export function nextCall(number: number, customers: number, random: Random, gateway = 0): Call {
  const stream = random.next() < 0.6;
  return {
    number,
    customer: random.between(0, customers - 1),
    gateway,
    model: random.pick([
      [6, 'good'],
      [3, 'flaky'],
      [2, 'breaking'],
      [4, 'slow'],
      [1, 'down'],
    ]),
    stream,
    asksUsage: stream && random.next() < 0.5,
    leavesAfterMs: random.next() < 0.15 ? random.between(0, 60) : undefined,
    id: undefined,
    status: undefined,
    told: undefined,
    complete: false,
    left: false,
    shown: undefined,
    cost: undefined,
    most: 0n,
  };
}

/** The prompt contains the number of the call, so that the vendor can identify it. */
export function promptOf({ number }: Call): string {
  return `This is call ${number}.`;
}
export function numberIn(prompt: string): number {
  return Number(/\d+/.exec(prompt)?.[0]);
}

/** The usage that a vendor reports for a complete answer. */
export function answerOf({ number, model }: Call): ChatAnswer & { readonly usage: ChatUsage } {
  return {
    id: `answer-${number}`,
    model,
    deltas: CHAT_DELTAS.slice(0, 2 + (number % 4)),
    usage: { prompt: 10 + (number % 50), completion: 5 + (number % 40) },
  };
}

/** Micro-quota for this many tokens. */
export function priceOf(tokens: { readonly prompt: number; readonly completion: number }): bigint {
  return BigInt(tokens.prompt) * MICRO_PER_TOKEN.input + BigInt(tokens.completion) * MICRO_PER_TOKEN.output;
}
