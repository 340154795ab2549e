/** No answer leaves that the balance cannot pay: what the vendors' usage costs is what was charged, to the unit, in every style. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import type { JsonObject } from '../../../core/plugin.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, jsonAnswer, type Script } from '../../kit/vendors/script.ts';

const STYLES = ['chat', 'responses', 'messages'] as const;
type StyleName = (typeof STYLES)[number];
const CALLS = 40;
const INPUT = 20;
/** Tokens of an answer that nobody limits; most of them are thoughts that nobody sees. */
const LENGTH = 4_000;
/** In currency units per million tokens: half a quota unit for a token of input, five for one of output. */
const PRICE = { input: 1, output: 10 };
const costOf = (output: number): bigint => BigInt(INPUT) * 500_000n + BigInt(output) * 5_000_000n;

/** Where the limit of an answer stands in a request. */
const LIMITS: Readonly<Record<StyleName, readonly string[]>> = {
  chat: ['max_completion_tokens', 'max_tokens'],
  responses: ['max_output_tokens'],
  messages: ['max_tokens'],
};
const PATHS: Readonly<Record<StyleName, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

/** What the client asks: no limit, or as much as a model can, unless it says what `limit` is. */
function question(style: StyleName, model: string, stream: boolean, limit?: number): JsonObject {
  const own = limit !== undefined && { [LIMITS[style][0]!]: limit };
  if (style === 'responses') return { model, stream, input: 'x', store: false, ...own };
  const messages = [{ role: 'user', content: 'x' }];
  if (style === 'messages') return { model, stream, messages, max_tokens: 64_000, ...own };
  return { model, stream, messages, ...own };
}

/** A vendor that keeps to the limit it is told, as real ones do, or does not. */
function vendorOf(obeys: boolean) {
  const answered: { readonly tokens: number; readonly limit: number | undefined }[] = [];
  const answer = (request: VendorRequest): Script => {
    const style = STYLES.find((each) => request.path.startsWith(PATHS[each]))!;
    const body = request.json;
    const limit = LIMITS[style].map((name) => body[name]).find((value) => typeof value === 'number') as
      | number
      | undefined;
    const tokens = obeys ? Math.min(LENGTH, limit ?? LENGTH) : LENGTH;
    answered.push({ tokens, limit });
    return ANSWERS[style](tokens, tokens < LENGTH, body.stream === true);
  };
  return { answered, answer };
}

const TEXT = 'Some words.';
const data = (event: JsonObject): string => `data: ${JSON.stringify(event)}\n\n`;
const named = (event: JsonObject): string => `event: ${String(event.type)}\n${data(event)}`;

const ANSWERS: Readonly<Record<StyleName, (tokens: number, isCut: boolean, stream: boolean) => Script>> = {
  chat(tokens, isCut, stream) {
    const usage = { prompt_tokens: INPUT, completion_tokens: tokens, total_tokens: INPUT + tokens };
    const finish_reason = isCut ? 'length' : 'stop';
    const facts = { id: 'c1', created: 1, model: 'm' };
    if (!stream) {
      const message = { role: 'assistant', content: TEXT };
      return jsonAnswer(200, {
        ...facts,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      });
    }
    const event = (delta: JsonObject, finish: string | null): string =>
      data({ ...facts, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });
    return eventStream([
      event({ role: 'assistant', content: TEXT }, null),
      event({}, finish_reason),
      data({ ...facts, object: 'chat.completion.chunk', choices: [], usage }),
      'data: [DONE]\n\n',
    ]);
  },
  responses(tokens, isCut, stream) {
    const item = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: TEXT, annotations: [] }],
    };
    const usage = {
      input_tokens: INPUT,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: tokens,
      output_tokens_details: { reasoning_tokens: tokens - 3 },
      total_tokens: INPUT + tokens,
    };
    const begun = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
    const done = {
      ...begun,
      status: isCut ? 'incomplete' : 'completed',
      incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
      output: [item],
      usage,
    };
    if (!stream) return jsonAnswer(200, done);
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const part = { type: 'output_text', text: '', annotations: [] };
    return eventStream(
      [
        { type: 'response.created', response: begun },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
        { type: 'response.content_part.added', ...at, part },
        { type: 'response.output_text.delta', ...at, delta: TEXT },
        { type: 'response.output_text.done', ...at, text: TEXT },
        { type: 'response.content_part.done', ...at, part: { ...part, text: TEXT } },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: isCut ? 'response.incomplete' : 'response.completed', response: done },
      ].map((event, i) => named({ ...event, sequence_number: i } as JsonObject)),
    );
  },
  messages(tokens, isCut, stream) {
    const stop_reason = isCut ? 'max_tokens' : 'end_turn';
    const usage = { input_tokens: INPUT, output_tokens: tokens };
    const facts = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null };
    if (!stream) return jsonAnswer(200, { ...facts, content: [{ type: 'text', text: TEXT }], stop_reason, usage });
    const begun = { ...facts, content: [], stop_reason: null, usage: { input_tokens: INPUT, output_tokens: 1 } };
    return eventStream([
      named({ type: 'message_start', message: begun }),
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } }),
      named({ type: 'content_block_stop', index: 0 }),
      named({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: tokens } }),
      named({ type: 'message_stop' }),
    ]);
  },
};

/** The last words of an answer that ends well, and what says that it was cut at its limit. */
const ENDS: Readonly<Record<StyleName, RegExp>> = {
  chat: /\[DONE\]|"finish_reason":"(?:stop|length)"/,
  responses: /"status":"(?:completed|incomplete)"[\s\S]*"usage"/,
  messages: /message_stop|"stop_reason":"(?:end_turn|max_tokens)"/,
};
const CUT: Readonly<Record<StyleName, RegExp>> = {
  chat: /"finish_reason":"length"/,
  responses: /max_output_tokens/,
  messages: /"stop_reason":"max_tokens"/,
};

describe('40 calls at once without a limit', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const root = vendor.url.replace(/\/v1$/, '');
    const channel = (style: StyleName, kind: string) => ({
      name: style,
      vendor: kind,
      url: vendor.url,
      key: 'k',
      speaks: [style],
    });
    gateway = await startGateway({
      vendor,
      config: {
        limits: {},
        pipeline: [
          ...[
            'accounts',
            'auth',
            'counters',
            'keys',
            'limits',
            'prices',
            'quota',
            'models',
            'styles',
            'vendors/openai',
          ],
          ...['vendors/anthropic', 'vendors/compatible', 'log'],
        ],
        channels: [
          channel('chat', 'compatible'),
          channel('responses', 'compatible'),
          { ...channel('messages', 'compatible'), url: `${root}/v1` },
        ],
        models: Object.fromEntries(STYLES.map((style) => [`on-${style}`, { from: [style], price: PRICE }])),
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  let people = 0;
  /** Forty at once, every second one a stream, of an account that has as much as so many answers cost. */
  async function rush(
    style: StyleName,
    spoken: StyleName,
    answers: number,
    { obeys = true, calls = CALLS, limit }: { obeys?: boolean; calls?: number; limit?: number } = {},
  ) {
    const script = vendorOf(obeys);
    vendor.always(script.answer);
    const granted = (costOf(LENGTH) * BigInt(answers * 2)) / 2n;
    const key = await gateway.customer(Number(granted / MICRO));
    const name = `customer-${++people}`;
    const results = await Promise.all(
      Array.from({ length: calls }, async (_, i) => {
        const response = await fetch(`${gateway.url}${PATHS[style]}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'anthropic-version': '2023-06-01',
          },
          body: JSON.stringify(question(style, `on-${spoken}`, i % 2 === 1, limit)),
        });
        // A stream that is broken off has an end that is none.
        const pieces: string[] = [];
        const decoder = new TextDecoder();
        try {
          for await (const piece of response.body!) pieces.push(decoder.decode(piece, { stream: true }));
        } catch {}
        const text = pieces.join('');
        return {
          status: response.status,
          text,
          isWhole: response.status === 200 && ENDS[style].test(text) && !/QUOTA_|"status":"failed"/.test(text),
          told: response.headers.get('x-turnpike-translation') ?? '',
        };
      }),
    );
    const account = await gateway.host.use(Accounts).findByName(name);
    const balance = await gateway.host.use(Ledger).balance({ kind: 'account', owner: account!.id });
    assert.equal(balance!.held, 0n, 'nothing is left set aside');
    assert.equal(balance!.granted, granted);
    return { ...script, results, granted, used: balance!.used };
  }

  for (const style of STYLES) {
    for (const spoken of STYLES) {
      for (const answers of [1, 3, 10]) {
        it(`on ${style}, with a vendor of ${spoken}, and the balance of ${answers} answers: charged is what the vendor's usage costs`, async () => {
          const { answered, results, granted, used } = await rush(style, spoken, answers);
          const cost = answered.reduce((sum, { tokens }) => sum + costOf(tokens), 0n);
          assert.equal(used, cost);
          assert.ok(used <= granted, 'nobody is overdrawn');
          const served = results.filter(({ isWhole }) => isWhole);
          assert.ok(served.length >= 1);
          assert.equal(served.length, answered.length, 'who asked the vendor got its answer');
          for (const { status, text } of results.filter((each) => !each.isWhole)) {
            assert.equal(status, 403);
            assert.match(text, /QUOTA_USER_INSUFFICIENT/);
          }
          for (const { limit } of answered) assert.ok(limit !== undefined);
          for (const { text, told } of served) {
            if (CUT[style].test(text)) assert.match(told, /max_(?:output_|completion_)?tokens:changed/);
          }
        });
      }
    }

    it(`on ${style}, a vendor that ignores the limit it is told: no answer ends well that was not paid`, async () => {
      const { results, granted, used } = await rush(style, style, 3, { obeys: false });
      const whole = results.filter(({ isWhole }) => isWhole);
      assert.ok(used <= granted);
      assert.ok(used >= costOf(LENGTH) * BigInt(whole.length), `${whole.length} whole ones for ${used}`);
    });

    for (const spoken of STYLES) {
      it(`on ${style}, a ${spoken} vendor that ignores the limit of the client: what it used is paid where there is so much`, async () => {
        const { answered, results, used } = await rush(style, spoken, 4, { obeys: false, calls: 4, limit: 100 });
        assert.ok(results.every(({ isWhole }) => isWhole));
        assert.equal(answered.length, 4);
        assert.equal(used, costOf(LENGTH) * 4n);
      });

      it(`on ${style}, a ${spoken} vendor that ignores the limit of the client where half can be paid: it is withheld`, async () => {
        for (const calls of [1, 2]) {
          const { results, granted, used } = await rush(style, spoken, 0.5, { obeys: false, calls, limit: 100 });
          assert.ok(results.every(({ isWhole }) => !isWhole));
          assert.ok(results.some(({ text }) => /QUOTA_HOLD_EXCEEDED|it costs more than/.test(text)));
          assert.ok(used > 0n && used <= granted);
        }
      });
    }

    it(`on ${style}, a vendor that ignores the limit where half an answer can be paid: it is withheld, and the half charged`, async () => {
      // Whole and streamed: the one that comes first takes what there is.
      for (const calls of [1, 2]) {
        const { results, granted, used } = await rush(style, style, 0.5, { obeys: false, calls });
        assert.ok(results.every(({ isWhole }) => !isWhole));
        assert.ok(results.some(({ text }) => text.includes('QUOTA_HOLD_EXCEEDED')));
        assert.ok(used > 0n && used <= granted);
      }
    });
  }
});
