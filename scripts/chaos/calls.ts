/** The calls that the kill loop makes: who asks for what, how the vendor answers, and what that costs. */
import { CHAT_DELTAS, type ChatAnswer, type ChatUsage } from '../../test/kit/fixtures.ts';
import type { Random } from './random.ts';

/** What the vendor behind a model is like. */
export const MODELS = ['good', 'flaky', 'breaking', 'slow', 'down'] as const;
export type ModelName = (typeof MODELS)[number];

/** What a token of each kind costs, in currency units per million. */
export const PRICE = { input: 1, output: 2 };
/** The same in micro-quota per token, at 500,000 quota per currency unit. */
const MICRO_PER_TOKEN = { input: 500_000n, output: 1_000_000n };
/** The most output a call asks for; no answer has more, so a hold covers every charge. */
export const MAX_TOKENS = 64;

/** One call, and everything that was seen of it from the outside. */
export interface Call {
  readonly number: number;
  /** Which customer asks. */
  readonly customer: number;
  /** Which gateway it asks, where there are several. */
  readonly gateway: number;
  readonly model: ModelName;
  readonly stream: boolean;
  /** The client wants to see what its stream used. */
  readonly asksUsage: boolean;
  /** The client leaves so many milliseconds after it has asked; undefined: it stays. */
  readonly leavesAfterMs: number | undefined;
  /** The `x-request-id` of its answer, as soon as the client had its head. */
  id: string | undefined;
  status: number | undefined;
  /** The client has seen the end of the answer: the whole body, or `[DONE]`. */
  complete: boolean;
  /** The client left on purpose. */
  left: boolean;
  /** What the answer said was used. */
  shown: ChatUsage | undefined;
  /** The header `x-turnpike-cost`. */
  cost: string | undefined;
  /** Micro-quota: the price of all that any vendor can have sent for it. */
  most: bigint;
}

/** Makes the next call, by one of so many customers. */
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
    complete: false,
    left: false,
    shown: undefined,
    cost: undefined,
    most: 0n,
  };
}

/** The prompt names the call, so that the vendor knows which one it answers. */
export function promptOf({ number }: Call): string {
  return `This is call ${number}.`;
}
export function numberIn(prompt: string): number {
  return Number(/\d+/.exec(prompt)?.[0]);
}

/** What a vendor says of a call when it finishes its answer. */
export function answerOf({ number, model }: Call): ChatAnswer & { readonly usage: ChatUsage } {
  return {
    id: `answer-${number}`,
    model,
    deltas: CHAT_DELTAS.slice(0, 2 + (number % 4)),
    usage: { prompt: 10 + (number % 50), completion: 5 + (number % 40) },
  };
}

/** Micro-quota for so many tokens. */
export function priceOf(tokens: { readonly prompt: number; readonly completion: number }): bigint {
  return BigInt(tokens.prompt) * MICRO_PER_TOKEN.input + BigInt(tokens.completion) * MICRO_PER_TOKEN.output;
}
