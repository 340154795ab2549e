/** A stream that breaks off, as real clients tell it: each surfaces the reason, however the vendor's connection ended. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { type LanguageModel, streamText } from 'ai';
import OpenAI from 'openai';
import { breaksOff, SCENARIOS, type SpeechName } from '../kit/scenarios.ts';
import { fin, rst } from '../kit/script.ts';
import { openStand, type Stand } from './stand.ts';

const QUESTION = 'Hello?';
const MESSAGES = [{ role: 'user' as const, content: QUESTION }];

/** Reads a stream of one client; resolves with what it says went wrong. */
type Reader = (stand: Stand, model: string) => Promise<string>;

async function thrown(read: () => Promise<unknown>): Promise<string> {
  return read().then(
    () => 'nothing was thrown',
    (error: unknown) => String((error as Error).message),
  );
}

async function drained(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

/** What the AI SDK tells as a part of its stream. */
async function toldBy(model: LanguageModel): Promise<string> {
  const errors: unknown[] = [];
  const { fullStream } = streamText({ model, prompt: QUESTION, maxRetries: 0, onError: () => {} });
  for await (const part of fullStream) if (part.type === 'error') errors.push(part.error);
  return errors.map((error) => (error instanceof Error ? error.message : JSON.stringify(error))).join('; ');
}

const openai = ({ v1, key }: Stand) => new OpenAI({ baseURL: v1, apiKey: key, maxRetries: 0 });
const READERS: Readonly<Record<string, Reader>> = {
  'openai, chat': (stand, model) =>
    thrown(async () =>
      drained(await openai(stand).chat.completions.create({ model, messages: MESSAGES, stream: true })),
    ),
  'openai, responses': async (stand, model) => {
    for await (const event of await openai(stand).responses.create({ model, input: QUESTION, stream: true })) {
      if (event.type === 'response.failed') return event.response.error?.message ?? '';
    }
    return 'no event told it';
  },
  '@anthropic-ai/sdk': ({ root, key }, model) =>
    thrown(async () =>
      drained(
        await new Anthropic({ baseURL: root, apiKey: key, maxRetries: 0 }).messages.create({
          ...{ model, max_tokens: 100, messages: MESSAGES, stream: true },
        }),
      ),
    ),
  '@ai-sdk/openai, chat': ({ v1, key }, model) => toldBy(createOpenAI({ baseURL: v1, apiKey: key }).chat(model)),
  '@ai-sdk/openai, responses': ({ v1, key }, model) =>
    toldBy(createOpenAI({ baseURL: v1, apiKey: key }).responses(model)),
  '@ai-sdk/openai-compatible': ({ v1, key }, model) =>
    toldBy(createOpenAICompatible({ name: 'turnpike', baseURL: v1, apiKey: key })(model)),
  '@ai-sdk/anthropic': ({ v1, key }, model) => toldBy(createAnthropic({ baseURL: v1, apiKey: key })(model)),
  async fetch({ v1, key }, model) {
    const answer = await fetch(`${v1}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: MESSAGES, stream: true }),
    });
    const { error } = JSON.parse((await answer.text()).trim().split('\n\n').at(-1)!.replace('data: ', ''));
    assert.equal(error.type, 'server_error');
    return error.message;
  },
};

describe('a stream that breaks off in its middle', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(2 * Object.keys(READERS).length);
  });
  after(() => stand?.stop());

  for (const [name, read] of Object.entries(READERS)) {
    for (const kind of ['chat', 'responses', 'messages', 'gemini'] satisfies SpeechName[]) {
      it(`is told to ${name}, with its reason, by a vendor that speaks ${kind}`, async () => {
        for (const end of [rst(), fin()]) {
          stand.vendor.forget();
          stand.vendor.next(breaksOff(SCENARIOS.text, 2, [end]));
          assert.match(await read(stand, stand.fresh(kind)), /The answer broke off/);
        }
      });
    }
  }
});
