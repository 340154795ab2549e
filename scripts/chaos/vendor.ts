/** The vendors of the kill loop: their answers, and the price of what they have sent. */

import { chatEvents } from '../../test/kit/gateway/fixtures.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../test/kit/vendors/fake-vendor.ts';
import {
  cutAt,
  errorAnswer,
  eventStream,
  lengthOf,
  pause,
  rst,
  type Script,
  wholeAnswer,
} from '../../test/kit/vendors/script.ts';
import { answerOf, type Call, MODELS, numberIn, PRICE, priceOf } from './calls.ts';

/** Time between two events of the slow one: a stream then lives as long as two checkpoints. */
const SLOW_MS = 350;
/** Delay before any answer: calls pile up, as with real vendors. */
const THINKING_MS = 20;
/** The gateway's own count: four characters or bytes per token. */
const PER_TOKEN = 4;

/** The vendors of a run. */
export interface Vendors {
  /** The sections of gateway.yaml for them. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Records the maximum cost of every call answered since the last time. None may be running. */
  note(): void;
  /** Records the rest, and stops them. */
  close(): Promise<void>;
}

/** Starts them; `callOf` finds a call by its number. */
export async function startVendors(callOf: (number: number) => Call): Promise<Vendors> {
  const answered: { readonly request: VendorRequest; readonly call: Call; readonly script: Script }[] = [];
  const vendor: FakeVendor = await fakeVendor((request) => {
    const call = callOf(numberIn(JSON.stringify(request.json.messages)));
    const script = scriptFor(call, request.path.startsWith('/flaky/'));
    answered.push({ request, call, script });
    return script;
  });
  const channel = (name: string, priority: number) => ({
    name,
    vendor: 'compatible',
    url: `http://127.0.0.1:${vendor.port}/${name}/v1`,
    key: 'a-vendor-key-of-the-kill-loop',
    priority,
  });
  const from = { good: ['main'], flaky: ['flaky', 'main'], breaking: ['main'], slow: ['main'], down: ['main'] };
  const note = (): void => {
    for (const { request, call, script } of answered.splice(0)) {
      const cost = mostFor(request, call, script);
      if (cost > call.most) call.most = cost;
    }
  };
  return {
    config: {
      channels: [channel('flaky', 0), channel('main', 1)],
      models: Object.fromEntries(MODELS.map((name) => [name, { from: from[name], price: PRICE }])),
    },
    note,
    async close() {
      note();
      await vendor.close();
    },
  };
}

function scriptFor(call: Call, flaky: boolean): Script {
  const { model, stream, number } = call;
  if (model === 'down') return errorAnswer(503);
  // The fallback is used for most calls, for every kind of failure before the first event.
  if (flaky && number % 4 !== 0)
    return number % 4 === 1 ? errorAnswer(500) : number % 4 === 2 ? [rst()] : cutAt(whole(call), 20);
  if (model === 'breaking') return cutAt(stream ? streamed(call, 2) : whole(call), -10 - 10 * (number % 20));
  return stream ? streamed(call, model === 'slow' ? SLOW_MS : 2) : whole(call);
}

function whole(call: Call): Script {
  return [pause(THINKING_MS), ...wholeAnswer(answerOf(call))];
}

function streamed(call: Call, betweenMs: number): Script {
  const events = chatEvents(answerOf(call)).flatMap((event) => [pause(betweenMs), event]);
  return [pause(THINKING_MS), ...eventStream(events)];
}

/**
 * The maximum charge for what a vendor has sent of an answer: its own usage if it was sent, otherwise our count of its
 * text. Nothing for errors, nor for a truncated whole answer.
 */
function mostFor(request: VendorRequest, call: Call, script: Script): bigint {
  const sent = sentBytes(request, script);
  const reported = sent.includes('"usage":{') ? priceOf(answerOf(call).usage) : 0n;
  if (!call.stream) return sent === bytesOf(whole(call)) ? reported : 0n;
  const text = [...sent.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, content = '']) => content).join('');
  if (text === '') return reported;
  const counted = priceOf({
    prompt: Math.ceil(request.body.length / PER_TOKEN),
    completion: Math.ceil(text.length / PER_TOKEN),
  });
  return counted > reported ? counted : reported;
}

/** What may have been delivered: everything handed to the network, and the pending write. */
function sentBytes(request: VendorRequest, script: Script): string {
  let kept = 0;
  const moves = script.filter((move) => {
    if (kept > request.sentBytes) return false;
    kept += lengthOf([move]);
    return true;
  });
  return bytesOf(moves);
}

function bytesOf(script: Script): string {
  return script.map((move) => (move.kind === 'bytes' ? move.bytes.toString('latin1') : '')).join('');
}
