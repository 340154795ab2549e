/** The official clients when something goes wrong: each throws its own error, leaves the vendor, asks again when it may. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OldAnthropic from 'anthropic-sdk-0';
import OpenAI from 'openai';
import { VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { heldByCalls } from '../kit/gateway/money.ts';
import { usageRecords } from '../kit/gateway/usage-records.ts';
import type { SpeechName } from '../kit/speech.ts';
import { breaksOff, failsWith, SCENARIOS, says } from '../kit/vendors/scenarios.ts';
import { fin, hold, rst } from '../kit/vendors/script.ts';
import { QUESTION } from './matrix.ts';
import { KIND_NAMES, openStand, type Stand } from './stand.ts';

/** An error of a client's, as far as both have it. */
interface Thrown extends Error {
  readonly status?: number;
  readonly type?: string | null;
  readonly code?: string | null;
  readonly headers?: Headers;
}
type ErrorClass = abstract new (...args: never[]) => Error;

/** One client with one style. */
interface Asker {
  readonly name: string;
  readonly errors: Readonly<
    Record<
      | 'APIError'
      | 'APIUserAbortError'
      | 'AuthenticationError'
      | 'BadRequestError'
      | 'InternalServerError'
      | 'NotFoundError'
      | 'RateLimitError',
      ErrorClass
    >
  >;
  open(options: {
    readonly root: string;
    readonly key: string;
    readonly maxRetries: number;
    readonly fetch?: typeof fetch;
  }): {
    whole(model: string): Promise<string>;
    /** The pieces of the text; whoever stops reading leaves. */
    pieces(model: string, options?: { readonly signal: AbortSignal }): AsyncIterable<string>;
    /** The same through what the client has to collect a stream. */
    helped(model: string): Promise<string>;
  };
  /** What the error says in the members of the style. */
  readonly wire: (error: Thrown) => { readonly type: unknown; readonly message: unknown };
  readonly types: Readonly<Record<'400' | '401' | '429' | '500', string>>;
}

const SAID = SCENARIOS.text.text.slice(0, 2).join('');
const messages = [{ role: 'user' as const, content: QUESTION }];
const openaiTypes = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
  500: 'gateway_api_error',
};
const openaiWire: Asker['wire'] = (error) => ({ type: error.type, message: error.message });

const chat: Asker = {
  name: 'openai, chat,',
  errors: OpenAI,
  open({ root, key, ...options }) {
    const client = new OpenAI({ baseURL: `${root}/v1`, apiKey: key, ...options });
    return {
      async whole(model) {
        return (await client.chat.completions.create({ model, messages })).choices[0]?.message.content ?? '';
      },
      async *pieces(model, more) {
        const body = { model, messages, stream: true as const };
        for await (const { choices } of await client.chat.completions.create(body, more)) {
          if (choices[0]?.delta.content) yield choices[0].delta.content;
        }
      },
      async helped(model) {
        return (await client.chat.completions.stream({ model, messages }).finalContent()) ?? '';
      },
    };
  },
  wire: openaiWire,
  types: openaiTypes,
};

const responses: Asker = {
  name: 'openai, responses,',
  errors: OpenAI,
  open({ root, key, ...options }) {
    const client = new OpenAI({ baseURL: `${root}/v1`, apiKey: key, ...options });
    return {
      async whole(model) {
        return (await client.responses.create({ model, input: QUESTION })).output_text;
      },
      async *pieces(model, more) {
        const body = { model, input: QUESTION, stream: true as const };
        for await (const event of await client.responses.create(body, more)) {
          if (event.type === 'response.output_text.delta') yield event.delta;
          // This client hands on what others would throw.
          if (event.type === 'response.failed') {
            throw new OpenAI.APIError(undefined, event.response.error ?? {}, undefined, new Headers());
          }
        }
      },
      async helped(model) {
        const {
          status,
          error,
          output_text: text,
        } = await client.responses.stream({ model, input: QUESTION }).finalResponse();
        if (status === 'failed') throw new OpenAI.APIError(undefined, error ?? {}, undefined, new Headers());
        return text;
      },
    };
  },
  wire: openaiWire,
  types: openaiTypes,
};

function anthropic(name: string, make: (options: object) => Anthropic, errors: Asker['errors']): Asker {
  return {
    name,
    errors,
    open({ root, key, ...options }) {
      const client = make({ baseURL: root, apiKey: key, ...options });
      const body = (model: string) => ({ model, max_tokens: 1_000, messages });
      const textOf = ({ content }: Anthropic.Message) => content.map((b) => (b.type === 'text' ? b.text : '')).join('');
      return {
        whole: async (model) => textOf(await client.messages.create(body(model))),
        async *pieces(model, more) {
          for await (const event of await client.messages.create({ ...body(model), stream: true }, more)) {
            if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') yield event.delta.text;
          }
        },
        helped: async (model) => textOf(await client.messages.stream(body(model)).finalMessage()),
      };
    },
    wire: (error) => {
      const { type, error: inner } = (
        error as unknown as { error: { type: string; error: { type: string; message: string } } }
      ).error;
      assert.equal(type, 'error');
      return inner;
    },
    types: {
      400: 'invalid_request_error',
      401: 'authentication_error',
      429: 'rate_limit_error',
      500: 'api_error',
    },
  };
}

const ASKERS: readonly Asker[] = [
  chat,
  responses,
  anthropic('@anthropic-ai/sdk 1', (options) => new Anthropic(options), Anthropic),
  anthropic('@anthropic-ai/sdk 0', (options) => new OldAnthropic(options) as unknown as Anthropic, OldAnthropic),
];

/** What a vendor's refusal becomes. `retry`: the header `x-should-retry`; only the operator can mend a key that the vendor does not accept. */
const REFUSALS = [
  { status: 400, thrown: 'BadRequestError', as: 400, tells: true },
  { status: 401, thrown: 'InternalServerError', as: 502, tells: false, retry: 'false' },
  { status: 429, thrown: 'RateLimitError', as: 429, tells: true, retry: null },
  { status: 500, thrown: 'InternalServerError', as: 502, tells: false, retry: null },
] as const;

/** Each call has a channel of its own; so many calls does each asker make to each kind. */
const CALLS = 18;
const PRICE = { input: 1, output: 2 };

describe('the official clients when something goes wrong', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(ASKERS.length * CALLS, { price: PRICE });
  });
  after(() => stand?.stop());
  /** How the calls of a model ended, and what was charged for each. */
  const inBooks = (model: string) =>
    usageRecords(stand.gateway.storeFile)
      .filter((record) => record.model === model)
      .map(({ outcome, charged }) => [outcome, charged]);

  for (const asker of ASKERS) {
    // The old one differs in how it knows its errors, not in how it reads and leaves.
    const isOld = asker.name.endsWith(' 0');
    const open = (more: { key?: string; maxRetries?: number; fetch?: typeof fetch } = {}) =>
      asker.open({ root: stand.root, key: stand.key, maxRetries: 0, ...more });
    const ask = {
      whole: (model: string, more = {}) => open(more).whole(model),
      stream: (model: string, more = {}) => joined(open(more).pieces(model)),
      helper: (model: string, more = {}) => open(more).helped(model),
    };

    describe(asker.name, () => {
      it('with a wrong key throws its AuthenticationError, and asks once', async () => {
        const counted = counter();
        const client = open({ key: `sk-${'0'.repeat(49)}`, maxRetries: 2, fetch: counted.fetch });
        const error = await thrownBy(client.whole('chat-0'));
        assert.equal(error.constructor, asker.errors.AuthenticationError);
        assert.equal(error.status, 401);
        assert.equal(asker.wire(error).type, asker.types[401]);
        assert.equal(counted.count(), 1);
      });

      it('that names a model nobody has throws its NotFoundError, and asks once', async () => {
        const counted = counter();
        const error = await thrownBy(open({ maxRetries: 2, fetch: counted.fetch }).whole('no-such-model'));
        assert.equal(error.constructor, asker.errors.NotFoundError);
        assert.match(error.message, /no-such-model/);
        assert.equal(counted.count(), 1);
      });

      for (const kind of KIND_NAMES) {
        for (const { status, thrown, as, tells, ...has } of REFUSALS) {
          for (const [way, run] of Object.entries(ask)) {
            if (way === 'helper' && status !== 400) continue;
            it(`${way}: throws its ${thrown} when a vendor that speaks ${kind} answers ${status}`, async () => {
              stand.vendor.forget();
              const when = { 'retry-after': '1', 'retry-after-ms': '20' };
              stand.vendor.next(failsWith(status, 'The vendor minds the bias.', when));
              const model = stand.fresh(kind);
              const seen = stand.vendor.requests.length;
              const counted = counter();
              // Left to itself, the client asks again after the others.
              const maxRetries = status < 429 ? 2 : 0;
              const error = await thrownBy(run(model, { maxRetries, fetch: counted.fetch }));
              assert.equal(error.constructor, asker.errors[thrown], String(error));
              assert.equal(error.status, as);
              const told = asker.wire(error);
              const isOwn = kindOf(asker) === kind && tells;
              // Of its limits a vendor talks to whoever pays it; only the client's own style passes as it is.
              const isTold = tells && (isOwn || status !== 429);
              assert.equal(String(told.message).includes('The vendor minds the bias.'), isTold, String(told.message));
              if (!isOwn) assert.equal(told.type, asker.types[status === 401 ? 500 : status]);
              if (as === 502 && asker.errors === OpenAI) assert.equal(error.code, 'upstream_error');
              if (status === 429)
                for (const [name, value] of Object.entries(when)) assert.equal(error.headers?.get(name), value);
              if ('retry' in has) assert.equal(error.headers?.get('x-should-retry'), has.retry);
              assert.match(error.headers?.get('x-request-id') ?? '', /^\w{26}$/);
              assert.equal(counted.count(), 1, 'it asked again although that cannot help');
              assert.equal(stand.vendor.requests.length, seen + 1);
              assert.deepEqual(inBooks(model), [[status === 400 ? 'refused' : 'failed', 0n]]);
              assert.deepEqual(await heldByCalls(stand.gateway), {});
            });
          }
        }

        if (isOld) continue;

        it(`throws when a vendor that speaks ${kind} gives up before its first word`, async () => {
          stand.vendor.forget();
          stand.vendor.next(breaksOff(SCENARIOS.text, 0));
          const error = await thrownBy(ask.stream(stand.fresh(kind)));
          assert.equal(error.constructor, asker.errors.InternalServerError, String(error));
        });

        it(`throws when a vendor that speaks ${kind} gives up in mid-stream, having read what was said`, async () => {
          for (const moves of [undefined, [rst()], [fin()]]) {
            stand.vendor.forget();
            stand.vendor.next(breaksOff(SCENARIOS.text, 2, moves));
            let text = '';
            const error = await thrownBy(
              joined(open().pieces(stand.fresh(kind)), (piece) => {
                text += piece;
              }),
            );
            // What clients of these styles repeat is a connection that breaks off, and not a stream that ends with an event.
            const isCut = moves !== undefined && asker !== responses;
            assert.equal(error instanceof asker.errors.APIError, !isCut, String(error));
            if (isCut) assert.equal(error.message, 'terminated');
            assert.equal(text, SAID);
          }
        });

        it(`does not take for whole what its helper collects of a vendor that speaks ${kind} and gives up`, async () => {
          stand.vendor.forget();
          stand.vendor.next(breaksOff(SCENARIOS.text, 2));
          await assert.rejects(ask.helper(stand.fresh(kind)));
        });

        it(`that stops reading ends the request to a vendor that speaks ${kind}`, async () => {
          stand.vendor.forget();
          stand.vendor.next(breaksOff(SCENARIOS.text, 2, [hold('for ever')]));
          const seen = stand.vendor.requests.length;
          let text = '';
          for await (const piece of open().pieces(stand.fresh(kind))) {
            text += piece;
            if (text === SAID) break;
          }
          await stand.vendor.waitFor(() => stand.vendor.requests[seen]?.state === 'aborted');
        });

        it(`that is told to stop while a vendor that speaks ${kind} has not said a word ends the request`, async () => {
          stand.vendor.forget();
          stand.vendor.next(breaksOff(SCENARIOS.text, 0, [hold('for ever')]));
          const seen = stand.vendor.requests.length;
          const { signal, abort } = abortable();
          const reading = thrownBy(joined(open().pieces(stand.fresh(kind), { signal })));
          await stand.vendor.waitFor(() => stand.vendor.requests[seen]?.state === 'answering');
          abort();
          assert.equal((await reading).constructor, asker.errors.APIUserAbortError);
          await stand.vendor.waitFor(() => stand.vendor.requests[seen]?.state === 'aborted');
        });

        for (const [what, refusal] of [
          ['tells when to come back', failsWith(429, 'Slow down.', { 'retry-after-ms': '5' })],
          ['fails', failsWith(500, 'Broken.')],
        ] as const) {
          it(`asks again when a vendor that speaks ${kind} ${what}, and is charged once`, async () => {
            stand.vendor.forget();
            stand.vendor.next(refusal, says(SCENARIOS.text, { key: VENDOR_KEY }));
            const model = stand.fresh(kind);
            const counted = counter();
            const text = await open({ maxRetries: 1, fetch: counted.fetch }).whole(model);
            assert.equal(text, SCENARIOS.text.text.join(''));
            assert.equal(counted.count(), 2);
            const { input, output } = SCENARIOS.text.usage;
            const cost = BigInt(input * PRICE.input + output * PRICE.output) * 500_000n;
            assert.deepEqual(inBooks(model), [
              ['failed', 0n],
              ['served', cost],
            ]);
          });
        }
      }
    });
  }
});

function kindOf({ name }: Asker): SpeechName {
  if (name.includes('responses')) return 'responses';
  return name.includes('chat') ? 'chat' : 'messages';
}

async function joined(pieces: AsyncIterable<string>, seen: (piece: string) => void = () => {}): Promise<string> {
  let text = '';
  for await (const piece of pieces) {
    seen(piece);
    text += piece;
  }
  return text;
}

async function thrownBy(asked: Promise<string>): Promise<Thrown> {
  return asked.then(
    (text) => assert.fail(`it was answered: ${text}`),
    (error: unknown) => error as Thrown,
  );
}

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** A `fetch` that counts. */
function counter(): { readonly fetch: typeof fetch; readonly count: () => number } {
  let count = 0;
  return {
    fetch: (...request) => {
      count++;
      return fetch(...request);
    },
    count: () => count,
  };
}
