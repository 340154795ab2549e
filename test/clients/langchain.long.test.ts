/** LangChain's clients of all three styles, before vendors of every kind. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel, BindToolsInput } from '@langchain/core/language_models/chat_models';
import {
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
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

type Model = Pick<BaseChatModel, 'invoke' | 'stream'>;

const WAYS = {
  whole: (model: Model, messages: BaseMessage[]) => model.invoke(messages),
  streamed: async (model: Model, messages: BaseMessage[]) => {
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await model.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
    return whole!;
  },
} as const;

const ENDS: Readonly<Record<string, string>> = {
  tool_calls: 'tools',
  tool_use: 'tools',
  end_turn: 'stop',
  max_tokens: 'length',
  max_output_tokens: 'length',
};

function saidIn(message: BaseMessage): Said {
  const { additional_kwargs: more, response_metadata: facts, tool_calls: calls = [] } = message as AIMessage;
  const usage = (message as AIMessage).usage_metadata as UsageMetadata | undefined;
  const shown = message.contentBlocks.map((block) => (block.type === 'reasoning' ? block.reasoning : '')).join('');
  const incomplete = (facts.incomplete_details as { reason?: string } | null | undefined)?.reason;
  const stop = more.stop_reason ?? facts.stop_reason;
  const completed = calls.length > 0 ? 'tools' : 'stop';
  const end = String(facts.finish_reason ?? stop ?? incomplete ?? (facts.status === 'completed' ? completed : 'none'));
  return {
    text: message.text,
    reasoning: String(more.reasoning_content ?? shown),
    calls: calls.map(({ id, name, args }) => ({ id: id ?? '', name, input: args as Json })),
    end: ENDS[end] ?? end,
    input: usage?.input_tokens,
    cached: usage?.input_token_details?.cache_read,
    output: usage?.output_tokens,
    reasoningTokens: usage?.output_token_details?.reasoning,
  };
}

type Make = (
  stand: Stand,
  model: string,
  thinks: boolean,
) => BaseChatModel & Required<Pick<BaseChatModel, 'bindTools'>>;

function langchain(name: string, make: Make, blind: (at: Place) => readonly Blindness[]): Client {
  return {
    name,
    ways: Object.keys(WAYS),
    blind,
    open:
      (stand) =>
      ({ model: modelName, way, thinks, tools }) => {
        const bare = make(stand, modelName, thinks);
        const functions = TOOLS.map(({ schema: parameters, ...tool }) => ({
          type: 'function',
          function: { ...tool, parameters },
        }));
        const model: Model = tools ? (bare.bindTools(functions as BindToolsInput[]) as Model) : bare;
        const ask = async (messages: readonly BaseMessage[]): Promise<Turn> => {
          const message = await WAYS[way as keyof typeof WAYS](model, [...messages]);
          return {
            said: saidIn(message),
            goOn: (results) =>
              ask([
                ...messages,
                message,
                ...results.map(({ id, name, text }) => new ToolMessage({ tool_call_id: id, name, content: text })),
              ]),
          };
        };
        return ask([new SystemMessage(SYSTEM), new HumanMessage(QUESTION)]);
      },
  };
}

const openai: Make = ({ v1, key }, model, thinks) =>
  new ChatOpenAI({
    model,
    apiKey: key,
    maxRetries: 0,
    configuration: { baseURL: v1 },
    streamUsage: true,
    ...(thinks && { modelKwargs: { reasoning_effort: 'low' } }),
  });

const responses: Make = ({ v1, key }, model, thinks) =>
  new ChatOpenAI({
    model,
    apiKey: key,
    maxRetries: 0,
    configuration: { baseURL: v1 },
    useResponsesApi: true,
    zdrEnabled: true,
    // Its own field for it goes out with the names of some models only.
    ...(thinks && {
      modelKwargs: { reasoning: { effort: 'low', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
    }),
  });

const anthropic: Make = ({ root, key }, model, thinks) =>
  new ChatAnthropic({
    model,
    apiKey: key,
    anthropicApiUrl: root,
    maxRetries: 0,
    maxTokens: 4_096,
    ...(thinks && { thinking: { type: 'enabled', budget_tokens: 2_048 } }),
  });

const CLIENTS: readonly Client[] = [
  langchain('@langchain/openai, chat,', openai, () => ['echo']),
  langchain('@langchain/openai, responses,', responses, () => []),
  langchain('@langchain/anthropic', anthropic, ({ kind, way }) => [
    'reasoningTokens',
    // It adds up what the first event and the last one say of the output.
    ...(way === 'streamed' && kind === 'messages' ? (['output'] as const) : []),
    // It reads the input from the first event alone, where the gateway can only estimate what other styles tell at the end.
    ...(way === 'streamed' && kind !== 'messages' ? (['input', 'cached'] as const) : []),
  ]),
];

const stand = matrix(CLIENTS, CLIENTS.length * 8);

const REFUSALS = [
  { status: 400, as: 400 },
  { status: 429, as: 429 },
  { status: 500, as: 502 },
] as const;

describe('LangChain when a vendor fails', () => {
  for (const client of CLIENTS) {
    for (const kind of ['chat', 'gemini'] as const) {
      for (const { status, as } of REFUSALS) {
        it(`${client.name}: throws when one that speaks ${kind} answers ${status}`, async () => {
          stand().vendor.forget();
          stand().vendor.next(failsWith(status, 'No.', { 'retry-after': '1' }));
          await assert.rejects(askFresh(client, stand(), kind, 'whole'), { status: as });
        });
      }

      // A failed response is the end of the stream to this client, as a completed one is.
      if (client.name.includes('responses')) continue;
      it(`${client.name}: throws when one that speaks ${kind} gives up in mid-stream`, async () => {
        stand().vendor.forget();
        stand().vendor.next(breaksOff(SCENARIOS.text, 2));
        await assert.rejects(askFresh(client, stand(), kind, 'streamed'));
      });
    }
  }
});
