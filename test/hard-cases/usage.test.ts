/** The hard cases of usage: what is told when, by whom, and of what it is a part. Numbered as they were collected. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import type { Usage } from '../../core/contracts/formats/usage.ts';
import { decimal } from '../../core/sdk.ts';
import { exactPrice } from '../../plugins/prices/price.ts';
import {
  at,
  block,
  call,
  chatChunk,
  chatDelta,
  chatSays,
  chunksOf,
  geminiParts,
  geminiSays,
  list,
  messagesSay,
  ofType,
  readChat,
  readMessages,
  readResponses,
  type Streamed,
  stream,
  whole,
} from './kit.ts';

const TEXT = block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hello.' });
const ASKS = { stream: true, stream_options: { include_usage: true } } as const;
const DONE = 'data: [DONE]\n\n';

/** What the first and the last words of a messages stream say was used. */
function toldIn(said: Streamed): { readonly start: JsonObject; readonly end: JsonObject } {
  const [start] = ofType(said, 'message_start');
  const [end] = ofType(said, 'message_delta');
  return { start: at(start, 'message', 'usage') as JsonObject, end: at(end, 'usage') as JsonObject };
}

/** The members that count, of those that a client is told. */
function counts(told: Json | undefined, ...names: readonly string[]): readonly (Json | undefined)[] {
  return names.map((name) => at(told, ...name.split('.')));
}

/** The counts of the books that are not zero. */
function booked(usage: Usage | undefined): Partial<Usage> {
  return Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value !== 0 && value !== false));
}

describe('hard cases: usage', () => {
  it('case 47: a message begins with an estimate of its input, and ends with the truth', async () => {
    const said = await stream('messages', 'chat', chatSays([{ content: 'Hello.' }]));
    const { start, end } = toldIn(said);
    assert.ok((start.input_tokens as number) > 0, 'a meter that reads the first event shows something');
    assert.deepEqual(counts(start, 'cache_creation_input_tokens', 'cache_read_input_tokens'), [0, 0]);
    assert.deepEqual(counts(end, 'input_tokens', 'output_tokens'), [11, 7]);
  });

  it('case 48: the last words repeat the real input, for clients put them over the first', async () => {
    for (const kind of ['chat', 'gemini'] as const) {
      const events =
        kind === 'chat'
          ? chatSays([{ content: 'Hello.' }])
          : geminiSays([
              geminiParts(
                [{ text: 'Hello.' }],
                { usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 } },
                'STOP',
              ),
            ]);
      const { usage } = await readMessages(await stream('messages', kind, events));
      assert.deepEqual([usage.input_tokens, usage.output_tokens], [11, 7], kind);
    }
    // A vendor that writes the zero itself does not erase what it said before, in the books and for other styles.
    const zero = messagesSay(TEXT, {
      begin: { input_tokens: 11, output_tokens: 1 },
      end: { input_tokens: 0, output_tokens: 7 },
    });
    const said = await stream('chat', 'messages', zero, ASKS);
    assert.equal((await readChat(said)).usage?.prompt_tokens, 11);
    assert.deepEqual(booked((await stream('messages', 'messages', zero)).usage), { input: 11, output: 7 });
  });

  it('case 49: cached tokens are told once: beside the input where the style counts them there', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 7,
      total_tokens: 107,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
    };
    const said = await stream('messages', 'chat', chatSays([{ content: 'Hello.' }], { usage }));
    assert.deepEqual(
      counts(toldIn(said).end, 'input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
      [50, 40, 10],
    );
    // And inside of it where it does not.
    const { usage: told } = await readResponses(
      await stream('responses', 'chat', chatSays([{ content: 'Hello.' }], { usage })),
    );
    assert.deepEqual([told?.input_tokens, told?.input_tokens_details.cached_tokens], [100, 40]);
  });

  it('case 50: a token that is written to a cache has one rate, that of how long it is kept', async () => {
    const begin = {
      input_tokens: 100,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      cache_read_input_tokens: 0,
      output_tokens: 1,
    };
    const { usage } = await stream('messages', 'messages', messagesSay(TEXT, { begin, end: { output_tokens: 7 } }));
    assert.deepEqual(booked(usage), { input: 130, cacheWrite: 10, cacheWriteLong: 20, output: 7 });
    const rates = { input: decimal(3), cacheWrite: decimal(4), cacheWriteLong: decimal(6), output: decimal(15) };
    const price = exactPrice({ rates, perRequest: undefined, tiers: [] }, 1n);
    assert.equal(price.cost(usage!), BigInt(100 * 3 + 10 * 4 + 20 * 6 + 7 * 15));
    // The same tokens, told as read and as written.
    const both = { cached_tokens: 100, cache_write_tokens: 100 };
    const twice = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107, prompt_tokens_details: both };
    const chat = await stream('messages', 'chat', chatSays([{ content: 'Hello.' }], { usage: twice }));
    assert.deepEqual(booked(chat.usage), { input: 100, cacheRead: 100, output: 7 });
  });

  it('case 51: input that came out of a cache, or went into one, is input', async () => {
    const begin = {
      input_tokens: 7,
      cache_read_input_tokens: 9_000,
      cache_creation_input_tokens: 993,
      output_tokens: 1,
    };
    const events = messagesSay(TEXT, { begin });
    const chat = await readChat(await stream('chat', 'messages', events, ASKS));
    assert.deepEqual([chat.usage?.prompt_tokens, chat.usage?.prompt_tokens_details?.cached_tokens], [10_000, 9_000]);
    const { usage } = await readResponses(await stream('responses', 'messages', events));
    assert.equal(usage?.input_tokens, 10_000);
    assert.equal((await stream('messages', 'messages', events)).usage?.input, 10_000);
  });

  it('case 52: what is written to a cache is no output', async () => {
    const begin = { input_tokens: 7, cache_creation_input_tokens: 993, output_tokens: 1 };
    const events = messagesSay(TEXT, { begin, end: { output_tokens: 7 } });
    const { usage } = await readChat(await stream('chat', 'messages', events, ASKS));
    assert.deepEqual([usage?.completion_tokens, usage?.total_tokens], [7, 1_007]);
  });

  it('case 53: a client that did not ask for usage gets no chunk without a choice', async () => {
    const vendors = {
      chat: chatSays([{ content: 'Hello.' }]),
      messages: messagesSay(TEXT),
    } as const;
    for (const kind of ['chat', 'messages'] as const) {
      const said = await stream('chat', kind, vendors[kind]);
      assert.ok(said.ended, kind);
      for (const chunk of chunksOf(said)) assert.equal(list(chunk, 'choices').length, 1, kind);
      assert.doesNotMatch(said.text, /"usage":\{/, kind);
      // The books have it all the same.
      assert.deepEqual(booked(said.usage), { input: 11, output: 7 }, kind);
    }
  });

  it('case 54: a client that said no to usage is not told, although the vendor is asked', async () => {
    const refuses = { stream: true, stream_options: { include_usage: false } } as const;
    const made = await call('chat', 'chat', refuses);
    assert.deepEqual(made.sent.stream_options, { include_usage: true });
    const said = made.stream(chatSays([{ content: 'Hello.' }]));
    assert.doesNotMatch(said.text, /usage/);
    assert.deepEqual(booked(said.usage), { input: 11, output: 7 });
    const translated = await stream('chat', 'messages', messagesSay(TEXT), refuses);
    assert.doesNotMatch(translated.text, /"usage":\{/);
  });

  it('case 55: usage counts in whichever chunk it comes', async () => {
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
    const choice = (more: JsonObject): JsonObject => ({ choices: [{ index: 0, delta: {}, ...more }] });
    const places: readonly string[] = [
      chatDelta({}, 'stop') + chatChunk({ ...choice({}), usage }),
      chatChunk({ ...choice({ finish_reason: 'stop' }), usage }),
      chatChunk(choice({ finish_reason: 'stop', usage })),
      chatChunk({ ...choice({ finish_reason: 'stop' }), x_groq: { usage } }),
    ];
    for (const place of places) {
      const events = chatDelta({ role: 'assistant', content: 'Hello.' }) + place + DONE;
      for (const client of ['chat', 'messages', 'responses'] as const) {
        assert.deepEqual(booked((await stream(client, 'chat', events)).usage), { input: 11, output: 7 }, place);
      }
    }
  });

  it('case 56: usage without `choices` gets an empty list of them where the stream is written anew', async () => {
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
    const events =
      chatDelta({ role: 'assistant', content: 'Hello.' }) + chatDelta({}, 'stop') + chatChunk({ usage }) + DONE;
    const anew = { quirks: { stream: { rewrite: true } } } as const;
    const said = await stream('chat', 'chat', events, ASKS, anew);
    for (const chunk of chunksOf(said)) assert.ok(Array.isArray(chunk.choices), 'every chunk has choices');
    assert.equal((await readChat(said)).usage?.total_tokens, 18);
    // A client that did not ask never sees it.
    assert.doesNotMatch((await stream('chat', 'chat', events)).text, /"usage"/);
    assert.deepEqual(counts(toldIn(await stream('messages', 'chat', events)).end, 'input_tokens'), [11]);
  });

  it('case 57: a chunk that holds nothing but usage disturbs nothing', async () => {
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
    const events = [
      chatChunk({ choices: [], usage: { ...usage, completion_tokens: 0 } }),
      chatDelta({ role: 'assistant', content: 'Hel' }),
      chatChunk({ choices: [], usage: { ...usage, completion_tokens: 3 } }),
      chatDelta({ content: 'lo.' }),
      chatDelta({}, 'stop'),
      chatChunk({ choices: [], usage }),
      DONE,
    ].join('');
    const { content, usage: told } = await readMessages(await stream('messages', 'chat', events));
    assert.equal(content[0]?.type === 'text' && content[0].text, 'Hello.');
    assert.equal(told.output_tokens, 7);
    const { output_text: text } = await readResponses(await stream('responses', 'chat', events));
    assert.equal(text, 'Hello.');
    assert.ok((await stream('chat', 'chat', events)).ended, 'between two of one style as well');
  });

  it('case 58: usage that comes behind the reason to end is in the last words', async () => {
    const made = await call('messages', 'chat', { stream: true });
    assert.deepEqual(made.sent.stream_options, { include_usage: true }, 'it is asked for');
    const said = made.stream(chatSays([{ content: 'Hello.' }]));
    assert.equal(ofType(said, 'message_delta').length, 1);
    assert.deepEqual(counts(toldIn(said).end, 'input_tokens', 'output_tokens'), [11, 7]);
    assert.equal((await readMessages(said)).stop_reason, 'end_turn');
  });

  it('case 59: zeros in the middle or at the end of a stream do not erase what was counted', async () => {
    const none = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
    const some = { promptTokenCount: 11, candidatesTokenCount: 5, thoughtsTokenCount: 2, totalTokenCount: 18 };
    const events = geminiSays([
      geminiParts([{ text: 'Hel' }], { usageMetadata: none }),
      geminiParts([{ text: 'lo' }], { usageMetadata: some }),
      geminiParts([{ text: '.' }], { usageMetadata: none }, 'STOP'),
    ]);
    const { usage } = await readChat(await stream('chat', 'gemini', events, ASKS));
    assert.deepEqual([usage?.prompt_tokens, usage?.completion_tokens], [11, 7]);
    const zeros = chatChunk({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } });
    const chat = chatSays([{ content: 'Hello.' }]).replace(DONE, zeros + DONE);
    for (const client of ['chat', 'messages'] as const) {
      assert.deepEqual(booked((await stream(client, 'chat', chat)).usage), { input: 11, output: 7 }, client);
    }
  });

  it('case 60: thoughts are output, whether the vendor counts them in or beside', async () => {
    const gemini = geminiParts(
      [{ text: 'Hello.' }],
      { usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, thoughtsTokenCount: 30, totalTokenCount: 48 } },
      'STOP',
    );
    const beside = {
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 48,
      completion_tokens_details: { reasoning_tokens: 30 },
    };
    const within = { ...beside, completion_tokens: 37 };
    for (const said of [
      await stream('responses', 'gemini', geminiSays([gemini])),
      await stream('responses', 'chat', chatSays([{ content: 'Hello.' }], { usage: beside })),
      await stream('responses', 'chat', chatSays([{ content: 'Hello.' }], { usage: within })),
    ]) {
      const { usage } = await readResponses(said);
      assert.deepEqual(
        [usage?.output_tokens, usage?.output_tokens_details.reasoning_tokens, usage?.total_tokens],
        [37, 30, 48],
      );
      assert.deepEqual(booked(said.usage), { input: 11, output: 37, reasoning: 30 });
    }
    const { usage } = await whole('chat', 'gemini', gemini);
    assert.deepEqual(counts(usage, 'completion_tokens', 'completion_tokens_details.reasoning_tokens'), [37, 30]);
  });

  it('case 61: usage has its details although the vendor gives none, and is there although the vendor tells nothing', async () => {
    const names = [
      'input_tokens',
      'input_tokens_details.cached_tokens',
      'output_tokens',
      'output_tokens_details.reasoning_tokens',
      'total_tokens',
    ];
    const said = await stream('responses', 'chat', chatSays([{ content: 'Hello.' }]));
    const { usage } = await readResponses(said);
    assert.deepEqual(counts(usage as unknown as Json, ...names), [11, 0, 7, 0, 18]);
    const silent = chatDelta({ role: 'assistant', content: 'Hello.' }) + chatDelta({}, 'stop') + DONE;
    const guessed = (await readResponses(await stream('responses', 'chat', silent))).usage as unknown as Json;
    for (const [i, value] of counts(guessed, ...names).entries()) assert.equal(typeof value, 'number', names[i]);
    const body = await whole('responses', 'messages', {
      id: 'msg_v',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 11, output_tokens: 7 },
    });
    assert.deepEqual(counts(body.usage, ...names), [11, 0, 7, 0, 18]);
    const chat = await whole('chat', 'messages', {
      id: 'msg_v',
      type: 'message',
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 11, output_tokens: 7 },
    });
    assert.equal(at(chat, 'usage', 'prompt_tokens_details', 'cached_tokens'), 0);
    assert.equal(at(chat, 'usage', 'completion_tokens_details', 'reasoning_tokens'), 0);
  });
});
