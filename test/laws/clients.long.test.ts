/** Whatever legal order an answer comes in, the official libraries read its stream, and read in it what was said. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Block, Part, Reply } from '../../core/contracts/formats/conversation.ts';
import type { Json } from '../../core/contracts/formats/json.ts';
import { foldParts } from '../../core/translation/conversation/fold.ts';
import { streamsOf } from '../kit/conversations/conversations.ts';
import fc from '../kit/fast-check.ts';
import { replies, shown, speechInTurn } from './answers.ts';
import { CLIENTS, type Client, written } from './halves.ts';
import { law } from './law.ts';

/** What a library hands to its user. */
interface Read {
  readonly text: string;
  readonly calls: readonly (readonly [id: string, name: string, input: Json])[];
  readonly input: number | undefined;
  readonly output: number | undefined;
}

/**
 * Answers as vendors give them: the arguments of a call are JSON of an object, for libraries parse them, and what only one style
 * knows is no nonsense of that style's.
 */
const streams = fc
  .tuple(replies.map(sensible), fc.boolean())
  .chain(([reply, together]) => streamsOf(reply, together))
  .map(speechInTurn);

function sensible(reply: Reply): Reply {
  return { ...reply, blocks: reply.blocks.map(sensibleBlock) };
}

function sensibleBlock(block: Block): Block {
  switch (block.type) {
    case 'toolCall':
      return block.kind === 'custom' || /^\{.*\}$/.test(block.input) ? block : { ...block, input: '{"a":[1]}' };
    case 'text':
      return {
        ...block,
        ...(block.logprobs && {
          logprobs: block.logprobs.map(() => ({ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] })),
        }),
        citations: (block.citations ?? []).map((citation) => ({ ...citation, style: 'elsewhere' })),
      };
    case 'foreign':
      return { ...block, style: 'elsewhere' };
    default:
      return block;
  }
}

const KEY = { apiKey: 'key', maxRetries: 0 };
const ASKED = { model: 'public-name', max_tokens: 1, messages: [{ role: 'user' as const, content: 'Hi' }] };

/** By style and library: reads one stream. */
const LIBRARIES: Readonly<Record<Client['name'], Readonly<Record<string, (stream: string) => Promise<Read>>>>> = {
  chat: {
    async openai(stream) {
      const client = new OpenAI({ ...KEY, fetch: answeredWith(stream) });
      const { choices, usage } = await client.chat.completions.stream(ASKED).finalChatCompletion();
      const { content, tool_calls: calls = [] } = choices[0]!.message;
      return {
        text: content ?? '',
        calls: calls.map((call) =>
          call.type === 'function'
            ? [call.id, call.function.name, JSON.parse(call.function.arguments)]
            : [call.id, call.custom.name, call.custom.input],
        ),
        input: usage?.prompt_tokens,
        output: usage?.completion_tokens,
      };
    },
    'ai-sdk': (stream) => readBySdk(createOpenAI({ apiKey: 'key', fetch: answeredWith(stream) }).chat('public-name')),
  },
  responses: {
    async openai(stream) {
      const client = new OpenAI({ ...KEY, fetch: answeredWith(stream) });
      const { output, usage } = await client.responses.stream({ model: 'public-name', input: 'Hi' }).finalResponse();
      return {
        text: output
          .flatMap((item) => (item.type === 'message' ? item.content : []))
          .map((part) => (part.type === 'output_text' ? part.text : ''))
          .join(''),
        calls: output.flatMap((item): Read['calls'] => {
          if (item.type === 'function_call') return [[item.call_id, item.name, JSON.parse(item.arguments)]];
          return item.type === 'custom_tool_call' ? [[item.call_id, item.name, item.input]] : [];
        }),
        input: usage?.input_tokens,
        output: usage?.output_tokens,
      };
    },
    'ai-sdk': (stream) =>
      readBySdk(createOpenAI({ apiKey: 'key', fetch: answeredWith(stream) }).responses('public-name')),
  },
  messages: {
    async anthropic(stream) {
      const client = new Anthropic({ ...KEY, fetch: answeredWith(stream) });
      const { content, usage } = await client.messages.stream(ASKED).finalMessage();
      return {
        text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        calls: content.flatMap((block): Read['calls'] =>
          block.type === 'tool_use' ? [[block.id, block.name, block.input as Json]] : [],
        ),
        input: usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0),
        output: usage.output_tokens,
      };
    },
    'ai-sdk': (stream) => readBySdk(createAnthropic({ apiKey: 'key', fetch: answeredWith(stream) })('public-name')),
  },
};

describe('a stream', () => {
  for (const { name, asked } of CLIENTS) {
    for (const [library, read] of Object.entries(LIBRARIES[name])) {
      law(`of ${name} is read by ${library}`, 30, streams, async (told) => {
        const parts = name === 'chat' && library === 'ai-sdk' ? withFunctionsOnly(told) : told;
        const { text, refusal, calls, usage } = shown(name, foldParts(parts)!);
        const said = await read(written(asked, parts));
        // One of them has no word for a refusal, and takes it for a text like others.
        const isMixed = library === 'ai-sdk' && refusal !== '';
        assert.equal(isMixed ? letters(said.text) : said.text, isMixed ? letters(text + refusal) : text);
        // They come in the order in which they are complete.
        assert.deepEqual(said.calls.toSorted(), calls.map(({ id, name, input }) => [id, name, input]).toSorted());
        assert.deepEqual([said.input, said.output], [usage?.input, usage?.output]);
      });
    }
  }
});

/** That library asks chat vendors for functions only. */
function withFunctionsOnly(parts: readonly Part[]): readonly Part[] {
  const custom = new Set<number>();
  return parts.filter((part) => {
    if (part.type === 'blockStart' && part.block.type === 'toolCall' && part.block.kind === 'custom') {
      custom.add(part.key);
    }
    return !('key' in part) || !custom.has(part.key);
  });
}

function letters(text: string): string {
  return [...text].sort().join('');
}

/** A network on which every answer is this stream. */
function answeredWith(stream: string): typeof fetch {
  return async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
}

type SdkModel = ReturnType<ReturnType<typeof createOpenAI>['chat']>;

/** A model of the other library; it checks every event against a schema. */
async function readBySdk(model: Pick<SdkModel, 'doStream'>): Promise<Read> {
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] });
  let text = '';
  const calls: (readonly [string, string, Json])[] = [];
  let usage: { readonly input: number | undefined; readonly output: number | undefined } | undefined;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') text += part.delta;
    if (part.type === 'tool-call' && part.providerExecuted !== true)
      calls.push([part.toolCallId, part.toolName, JSON.parse(part.input) as Json]);
    if (part.type === 'finish') usage = { input: part.usage.inputTokens.total, output: part.usage.outputTokens.total };
  }
  return { text, calls, input: usage?.input, output: usage?.output };
}
