/** The AI SDK with its providers of all three styles, before vendors of every kind. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  type FinishReason,
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  streamText,
  type ToolSet,
  tool,
} from 'ai';
import type { Json } from '../../core/contracts/formats/json.ts';
import { breaksOff, failsWith, SCENARIOS } from '../kit/vendors/scenarios.ts';
import {
  askFresh,
  type Blindness,
  type Client,
  matrix,
  type Place,
  QUESTION,
  type Said,
  SYSTEM,
  TOOLS,
  type Turn,
} from './matrix.ts';
import type { Stand } from './stand.ts';

type Options = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;
interface Asked {
  readonly model: LanguageModel;
  readonly messages: ModelMessage[];
  readonly options: Options;
  readonly offers: boolean;
}
interface Answered {
  readonly text: string;
  readonly reasoning: string | undefined;
  readonly calls: Said['calls'];
  readonly end: FinishReason;
  readonly usage: LanguageModelUsage;
  readonly messages: readonly ModelMessage[];
}

globalThis.AI_SDK_LOG_WARNINGS = false;

const TOOL_SET = Object.fromEntries(
  TOOLS.map(({ name, description, schema }) => [
    name,
    tool({ description, inputSchema: jsonSchema(schema as Parameters<typeof jsonSchema>[0]) }),
  ]),
) as ToolSet;

function settings({ model, messages, options, offers }: Asked) {
  return {
    model,
    messages,
    system: SYSTEM,
    maxRetries: 0,
    maxOutputTokens: 4_096,
    providerOptions: options,
    ...(offers && { tools: TOOL_SET }),
  };
}

const WAYS = {
  async whole(asked: Asked): Promise<Answered> {
    const { text, reasoningText, toolCalls, finishReason, usage, responseMessages } = await generateText(
      settings(asked),
    );
    return {
      text,
      reasoning: reasoningText,
      calls: toolCalls.map(({ toolCallId: id, toolName: name, input }) => ({ id, name, input: input as Json })),
      end: finishReason,
      usage,
      messages: responseMessages,
    };
  },
  async streamed(asked: Asked): Promise<Answered> {
    const failures: unknown[] = [];
    const result = streamText({ ...settings(asked), onError: ({ error }) => void failures.push(error) });
    let text = '';
    let reasoning = '';
    const calls: Said['calls'][number][] = [];
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') text += part.text;
      else if (part.type === 'reasoning-delta') reasoning += part.text;
      else if (part.type === 'tool-call') {
        calls.push({ id: part.toolCallId, name: part.toolName, input: part.input as Json });
      } else if (part.type === 'error') throw part.error;
    }
    if (failures.length > 0) throw failures[0];
    const [end, usage, messages] = await Promise.all([result.finishReason, result.usage, result.responseMessages]);
    return { text, reasoning, calls, end, usage, messages };
  },
} as const;

const ENDS: Readonly<Record<string, string>> = { 'tool-calls': 'tools', 'content-filter': 'refusal' };

function saidIn({ text, reasoning, calls, end, usage }: Answered): Said {
  return {
    text,
    reasoning: reasoning ?? '',
    calls,
    end: ENDS[end] ?? end,
    input: usage.inputTokens,
    cached: usage.inputTokenDetails.cacheReadTokens,
    output: usage.outputTokens,
    reasoningTokens: usage.outputTokenDetails.reasoningTokens,
  };
}

function vercel(
  name: string,
  make: (stand: Stand) => (model: string) => LanguageModel,
  thinking: (thinks: boolean) => Options,
  blind: (at: Place) => readonly Blindness[],
  refers = false,
): Client {
  return {
    name,
    refers,
    ways: Object.keys(WAYS),
    blind,
    open(stand) {
      const provider = make(stand);
      return ({ model, way, thinks, tools: offers }) => {
        const ask = async (messages: readonly ModelMessage[]): Promise<Turn> => {
          const options = thinking(thinks);
          const answered = await WAYS[way as keyof typeof WAYS]({
            model: provider(model),
            messages: [...messages],
            options,
            offers,
          });
          return {
            said: saidIn(answered),
            goOn: (results) =>
              ask([
                ...messages,
                ...answered.messages,
                {
                  role: 'tool',
                  content: results.map(({ id, name, text }) => ({
                    type: 'tool-result',
                    toolCallId: id,
                    toolName: name,
                    output: { type: 'text', value: text },
                  })),
                },
              ]),
          };
        };
        return ask([{ role: 'user', content: QUESTION }]);
      };
    },
  };
}

const at = ({ v1, key }: Stand) => ({ baseURL: v1, apiKey: key });

const CLIENTS: readonly Client[] = [
  vercel(
    'ai with @ai-sdk/openai, chat,',
    (stand) => createOpenAI(at(stand)).chat,
    (thinks): Options => ({ openai: thinks ? { reasoningEffort: 'low', forceReasoning: true } : {} }),
    () => ['reasoning', 'echo'],
  ),
  vercel(
    'ai with @ai-sdk/openai, responses,',
    (stand) => createOpenAI(at(stand)).responses,
    (thinks): Options => ({
      openai: {
        store: false,
        ...(thinks && {
          reasoningEffort: 'low',
          reasoningSummary: 'auto',
          forceReasoning: true,
          include: ['reasoning.encrypted_content'],
        }),
      },
    }),
    () => [],
  ),
  // Unless it is told otherwise, it refers to the items of earlier answers.
  vercel(
    'ai with @ai-sdk/openai, responses, stored,',
    (stand) => createOpenAI(at(stand)).responses,
    (thinks): Options => ({
      openai: thinks ? { reasoningEffort: 'low', reasoningSummary: 'auto', forceReasoning: true } : {},
    }),
    () => [],
    true,
  ),
  vercel(
    'ai with @ai-sdk/openai-compatible',
    (stand) => createOpenAICompatible({ name: 'turnpike', includeUsage: true, ...at(stand) }),
    (thinks): Options => ({ turnpike: thinks ? { reasoningEffort: 'low' } : {} }),
    () => ['echo'],
  ),
  vercel(
    'ai with @ai-sdk/anthropic',
    (stand) => createAnthropic(at(stand)),
    (thinks): Options => ({ anthropic: thinks ? { thinking: { type: 'enabled', budgetTokens: 2_048 } } : {} }),
    () => [],
  ),
];

const stand = matrix(CLIENTS, CLIENTS.length * 8);

const REFUSALS = [
  { status: 400, as: 400, retryable: false },
  { status: 429, as: 429, retryable: true },
  { status: 500, as: 502, retryable: true },
] as const;

describe('ai when a vendor fails', () => {
  for (const client of CLIENTS) {
    for (const kind of ['chat', 'gemini'] as const) {
      for (const { status, as, retryable } of REFUSALS) {
        it(`${client.name}: throws an APICallError when one that speaks ${kind} answers ${status}`, async () => {
          stand().vendor.forget();
          stand().vendor.next(failsWith(status, 'No.', { 'retry-after': '1' }));
          await assert.rejects(askFresh(client, stand(), kind, 'whole'), (error) => {
            assert.ok(APICallError.isInstance(error), String(error));
            assert.deepEqual([error.statusCode, error.isRetryable], [as, retryable]);
            return true;
          });
        });
      }

      it(`${client.name}: reports an error when one that speaks ${kind} gives up in mid-stream`, async () => {
        stand().vendor.forget();
        stand().vendor.next(breaksOff(SCENARIOS.text, 2));
        await assert.rejects(askFresh(client, stand(), kind, 'streamed'));
      });
    }
  }
});
