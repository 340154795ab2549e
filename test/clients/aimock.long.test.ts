/** A simulator that nobody here has written as vendor of all four shapes, asked by the official clients. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { defaultConfig, startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import type { SpeechName } from '../kit/speech.ts';
import { QUESTION, TOOLS } from './matrix.ts';
import { KIND_NAMES, KINDS } from './stand.ts';

const TEXT = 'It rains in Zürich today, and it will rain tomorrow. 👋';
const CALL = { name: 'get_weather', arguments: '{"city":"Zürich","days":3}' };
const RESULT = 'Rain.';

/** Text, and what is called how; the same from all clients. */
interface Read {
  readonly text: string;
  readonly calls: readonly (readonly [name: string, input: unknown])[];
  readonly end: string;
}
type Step = Read & { readonly next?: () => Promise<Step> };

/** Asks, whole or streamed; with tools also what comes after their results. */
type Ask = (model: string, streamed: boolean, offers: boolean) => Promise<Step>;

const CLIENTS: Readonly<Record<string, (gateway: TestGateway) => Ask>> = {
  'openai, chat,': ({ url, key }) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
    const tools = TOOLS.map(({ schema: parameters, ...tool }) => ({
      type: 'function' as const,
      function: { ...tool, parameters },
    }));
    return (model, streamed, offers) => {
      const step = async (messages: readonly OpenAI.ChatCompletionMessageParam[]): Promise<Step> => {
        const body = { model, messages: [...messages], ...(offers && { tools }) };
        const { choices } = streamed
          ? await client.chat.completions.stream(body).finalChatCompletion()
          : await client.chat.completions.create(body);
        const { message, finish_reason: end } = choices[0]!;
        const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
        return {
          text: message.content ?? '',
          calls: calls.map(({ function: { name, arguments: input } }) => [name, JSON.parse(input)]),
          end,
          next: () =>
            step([
              ...messages,
              message as OpenAI.ChatCompletionMessageParam,
              ...calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: RESULT })),
            ]),
        };
      };
      return step([{ role: 'user', content: QUESTION }]);
    };
  },
  'openai, responses,': ({ url, key }) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
    const tools = TOOLS.map(({ schema: parameters, ...tool }) => ({
      type: 'function' as const,
      ...tool,
      parameters,
      strict: false,
    }));
    return (model, streamed, offers) => {
      const step = async (input: readonly OpenAI.Responses.ResponseInputItem[]): Promise<Step> => {
        const body = { model, input: [...input], store: false, ...(offers && { tools }) };
        const { output, status } = streamed
          ? await client.responses.stream(body).finalResponse()
          : await client.responses.create(body);
        const calls = (output as OpenAI.Responses.ResponseOutputItem[]).filter((item) => item.type === 'function_call');
        const texts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
        return {
          text: texts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''),
          calls: calls.map(({ name, arguments: args }) => [name, JSON.parse(args)]),
          end: status === 'completed' ? (calls.length > 0 ? 'tool_calls' : 'stop') : String(status),
          next: () =>
            step([
              ...input,
              ...(output as OpenAI.Responses.ResponseInputItem[]),
              ...calls.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: RESULT })),
            ]),
        };
      };
      return step([{ role: 'user', content: QUESTION }]);
    };
  },
  '@anthropic-ai/sdk': ({ url, key }) => {
    const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
    const tools = TOOLS.map(({ schema: input_schema, ...tool }) => ({ ...tool, input_schema }));
    const ends: Readonly<Record<string, string>> = { end_turn: 'stop', tool_use: 'tool_calls' };
    return (model, streamed, offers) => {
      const step = async (messages: readonly Anthropic.MessageParam[]): Promise<Step> => {
        const body = { model, max_tokens: 1_000, messages: [...messages], ...(offers && { tools }) };
        const { content, stop_reason: reason } = streamed
          ? await client.messages.stream(body).finalMessage()
          : await client.messages.create(body);
        const calls = content.filter((block) => block.type === 'tool_use');
        return {
          text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
          calls: calls.map(({ name, input }) => [name, input]),
          end: ends[reason ?? ''] ?? String(reason),
          next: () =>
            step([
              ...messages,
              { role: 'assistant', content: content as Anthropic.ContentBlockParam[] },
              {
                role: 'user',
                content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: RESULT })),
              },
            ]),
        };
      };
      return step([{ role: 'user', content: QUESTION }]);
    };
  },
};

describe('a simulator of vendors', () => {
  let vendor: LLMock;
  let gateway: TestGateway;
  before(async () => {
    vendor = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 7 });
    vendor.on({ predicate: ({ tools }) => (tools ?? []).length > 0, hasToolResult: false }, { toolCalls: [CALL] });
    vendor.on({ userMessage: QUESTION }, { content: TEXT });
    await vendor.start();
    const { pipeline, ...rest } = defaultConfig([]) as { readonly pipeline: readonly string[] };
    const urlOf = (kind: SpeechName): string => `${vendor.url}/${kind === 'gemini' ? 'v1beta' : 'v1'}`;
    gateway = await startGateway({
      config: {
        ...rest,
        pipeline: [...new Set([...pipeline, 'vendors/anthropic', 'vendors/gemini'])],
        channels: KIND_NAMES.map((kind) => {
          const { model: _, ...channel } = KINDS[kind];
          return { name: kind, ...channel, url: urlOf(kind), key: 'anything' };
        }),
        models: Object.fromEntries(
          KIND_NAMES.map((kind) => [kind, { from: [{ [kind]: KINDS[kind].model }], free: true }]),
        ),
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await vendor?.stop();
  });

  for (const [name, open] of Object.entries(CLIENTS)) {
    for (const kind of KIND_NAMES) {
      for (const streamed of [false, true]) {
        const how = `${name} ${streamed ? 'streamed' : 'whole'}, from its ${kind} side`;
        it(`is understood by ${how}: a text`, async () => {
          const { text, calls, end } = await open(gateway)(kind, streamed, false);
          assert.deepEqual({ text, calls, end }, { text: TEXT, calls: [], end: 'stop' });
        });
        it(`is understood by ${how}: a tool call, and what follows from its result`, async () => {
          const first = await open(gateway)(kind, streamed, true);
          assert.deepEqual([first.calls, first.end], [[[CALL.name, JSON.parse(CALL.arguments)]], 'tool_calls']);
          const { text, calls, end } = await first.next!();
          assert.deepEqual({ text, calls, end }, { text: TEXT, calls: [], end: 'stop' });
        });
      }
    }
  }
});
