/** The official client in the chat style, as the matrix asks it. */
import OpenAI from 'openai';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { Json } from '../../core/contracts/formats/json.ts';
import { type Client, QUESTION, type Said, SYSTEM, TOOLS, type Turn } from './matrix.ts';
import type { Stand } from './stand.ts';

const ENDS: Readonly<Record<string, string>> = { tool_calls: 'tools', content_filter: 'refusal' };
const STREAM = { stream: true, stream_options: { include_usage: true } } as const;

/** What compatible vendors say beside the official members. */
interface Thoughtful {
  reasoning_content?: string | null;
  reasoning_details?: Json[];
}

const WAYS = {
  whole: (client: OpenAI, body: ChatCompletionCreateParamsNonStreaming) => client.chat.completions.create(body),
  'stream helper': (client: OpenAI, body: ChatCompletionCreateParamsNonStreaming) =>
    client.chat.completions.stream({ ...body, ...STREAM }).finalChatCompletion() as Promise<ChatCompletion>,
  'raw stream': async (client: OpenAI, body: ChatCompletionCreateParamsNonStreaming) => {
    const chunks: ChatCompletionChunk[] = [];
    for await (const chunk of await client.chat.completions.create({ ...body, ...STREAM })) chunks.push(chunk);
    return collected(chunks);
  },
} as const;

/** The chunks as one answer, put together as clients do that know nothing but the wire. */
function collected(chunks: readonly ChatCompletionChunk[]): ChatCompletion {
  const message = { role: 'assistant', content: null, refusal: null } as ChatCompletionMessage & Thoughtful;
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = [];
  for (const { choices } of chunks) {
    const delta = (choices[0]?.delta ?? {}) as ChatCompletionChunk.Choice.Delta & Thoughtful;
    if (delta.content) message.content = (message.content ?? '') + delta.content;
    if (delta.refusal) message.refusal = (message.refusal ?? '') + delta.refusal;
    if (delta.reasoning_content)
      message.reasoning_content = (message.reasoning_content ?? '') + delta.reasoning_content;
    if (delta.reasoning_details)
      message.reasoning_details = [...(message.reasoning_details ?? []), ...delta.reasoning_details];
    for (const { index, function: part, ...rest } of delta.tool_calls ?? []) {
      calls[index] ??= { ...rest, function: { name: '', arguments: '' } } as (typeof calls)[number];
      calls[index].function.name += part?.name ?? '';
      calls[index].function.arguments += part?.arguments ?? '';
    }
  }
  if (calls.length > 0) message.tool_calls = calls;
  const finish_reason = chunks.findLast(({ choices }) => choices[0]?.finish_reason)?.choices[0]?.finish_reason;
  return {
    ...chunks[0]!,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish_reason! }],
    usage: chunks.at(-1)!.usage!,
  } as ChatCompletion;
}

function saidIn({ choices: [choice], usage }: ChatCompletion): Said {
  const {
    content,
    tool_calls: calls = [],
    reasoning_content: reasoning,
    refusal,
  } = choice!.message as ChatCompletionMessage & Thoughtful;
  const end = choice!.finish_reason;
  return {
    text: content ?? '',
    reasoning: reasoning ?? '',
    calls: calls.flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) as Json }]
        : [],
    ),
    end: refusal ? 'refusal' : (ENDS[end] ?? end),
    refusal: refusal ?? undefined,
    input: usage?.prompt_tokens,
    cached: usage?.prompt_tokens_details?.cached_tokens,
    output: usage?.completion_tokens,
    reasoningTokens: usage?.completion_tokens_details?.reasoning_tokens,
  };
}

export const chatClient: Client = {
  name: 'openai, chat,',
  ways: Object.keys(WAYS),
  refuses: true,
  // The helper keeps the last piece of what it does not know.
  blind: ({ way }) => (way === 'stream helper' ? ['reasoning', 'echo'] : []),
  open(stand: Stand) {
    const openai = new OpenAI({ baseURL: stand.v1, apiKey: stand.key, maxRetries: 0 });
    return ({ model, way, thinks, tools }) => {
      const ask = async (messages: readonly ChatCompletionMessageParam[]): Promise<Turn> => {
        const completion = await WAYS[way as keyof typeof WAYS](openai, {
          model,
          messages: [...messages],
          ...(thinks && { reasoning_effort: 'low' }),
          ...(tools && {
            tools: TOOLS.map(({ schema: parameters, ...tool }) => ({
              type: 'function',
              function: { ...tool, parameters },
            })),
          }),
        });
        const message = completion.choices[0]!.message;
        return {
          said: saidIn(completion),
          goOn: (results) =>
            ask([
              ...messages,
              message,
              ...results.map(({ id, text }) => ({ role: 'tool' as const, tool_call_id: id, content: text })),
            ]),
        };
      };
      return ask([
        { role: 'system', content: SYSTEM },
        { role: 'user', content: QUESTION },
      ]);
    };
  },
};
