/** The official client of the messages style, new and old, before vendors of every kind. */
import Anthropic from '@anthropic-ai/sdk';
import OldAnthropic from 'anthropic-sdk-0';
import type { Json } from '../../core/contracts/formats/json.ts';
import { type Client, matrix, QUESTION, type Said, SYSTEM, TOOLS, type Turn } from './matrix.ts';
import type { Stand } from './stand.ts';

type Body = Anthropic.MessageCreateParamsNonStreaming;
type Message = Anthropic.Message;

const WAYS = {
  whole: (client: Anthropic, body: Body) => client.messages.create(body),
  'stream helper': (client: Anthropic, body: Body) => client.messages.stream(body).finalMessage(),
  'raw stream': async (client: Anthropic, body: Body) => {
    const events: Anthropic.RawMessageStreamEvent[] = [];
    for await (const event of await client.messages.create({ ...body, stream: true })) events.push(event);
    return collected(events);
  },
} as const;

/** The events as one answer; strictly one block after the other. */
function collected(events: readonly Anthropic.RawMessageStreamEvent[]): Message {
  const [start] = events;
  if (start?.type !== 'message_start') throw new Error(`The first event is ${start?.type}.`);
  if (events.at(-1)?.type !== 'message_stop') throw new Error(`The last event is ${events.at(-1)?.type}.`);
  const message = structuredClone(start.message);
  const inputs = new Map<number, string>();
  let open: number | undefined;
  for (const event of events) {
    if ('index' in event) {
      const expected = event.type === 'content_block_start' ? message.content.length : open;
      if (event.index !== expected) throw new Error(`${event.type} of block ${event.index}, not ${expected}.`);
    }
    if (event.type === 'content_block_start') {
      if (open !== undefined) throw new Error(`Block ${open} is still open.`);
      open = event.index;
      message.content.push(structuredClone(event.content_block));
    } else if (event.type === 'content_block_delta') {
      const block = message.content[event.index]!;
      const { delta } = event;
      if (delta.type === 'text_delta' && block.type === 'text') block.text += delta.text;
      else if (delta.type === 'thinking_delta' && block.type === 'thinking') block.thinking += delta.thinking;
      else if (delta.type === 'signature_delta' && block.type === 'thinking') block.signature = delta.signature;
      else if (delta.type === 'input_json_delta' && block.type === 'tool_use') {
        inputs.set(event.index, (inputs.get(event.index) ?? '') + delta.partial_json);
      } else throw new Error(`${delta.type} in a block ${block.type}.`);
    } else if (event.type === 'content_block_stop') {
      open = undefined;
      const block = message.content[event.index]!;
      if (block.type === 'tool_use') block.input = JSON.parse(inputs.get(event.index) || '{}');
    } else if (event.type === 'message_delta') {
      const told = Object.entries(event.usage).filter(([, count]) => count !== null);
      Object.assign(message, event.delta, { usage: { ...message.usage, ...Object.fromEntries(told) } });
    }
  }
  return message;
}

const ENDS: Readonly<Record<string, string>> = { end_turn: 'stop', tool_use: 'tools', max_tokens: 'length' };

function saidIn({ content, stop_reason: reason, stop_details: details, usage }: Message): Said {
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input as Json }] : [],
    ),
    end: ENDS[reason ?? ''] ?? String(reason),
    refusal: details?.explanation ?? undefined,
    // Both are integers here, never null.
    input: usage.input_tokens + (read ?? Number.NaN) + (written ?? Number.NaN),
    cached: read ?? undefined,
    output: usage.output_tokens,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens,
  };
}

/** One version of it, as far as it differs. */
function anthropic(name: string, make: (stand: Stand) => Anthropic, thinking: Anthropic.ThinkingConfigParam): Client {
  return {
    name,
    ways: Object.keys(WAYS),
    refuses: true,
    open(stand: Stand) {
      const client = make(stand);
      return ({ model, way, thinks, tools }) => {
        const ask = async (messages: readonly Anthropic.MessageParam[]): Promise<Turn> => {
          const message = await WAYS[way as keyof typeof WAYS](client, {
            model,
            max_tokens: 4_096,
            system: SYSTEM,
            messages: [...messages],
            ...(thinks && { thinking }),
            ...(tools && { tools: TOOLS.map(({ schema: input_schema, ...tool }) => ({ ...tool, input_schema })) }),
          });
          return {
            said: saidIn(message),
            goOn: (results) =>
              ask([
                ...messages,
                { role: 'assistant', content: message.content as Anthropic.ContentBlockParam[] },
                {
                  role: 'user',
                  content: results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })),
                },
              ]),
          };
        };
        return ask([{ role: 'user', content: QUESTION }]);
      };
    },
  };
}

const options = ({ root, key }: Stand) => ({ baseURL: root, apiKey: key, maxRetries: 0 });

matrix([
  anthropic('@anthropic-ai/sdk 1', (stand) => new Anthropic(options(stand)), {
    type: 'adaptive',
    display: 'summarized',
  }),
  // What this test asks for is spelt the same in both, and the old one is typed more widely.
  anthropic('@anthropic-ai/sdk 0', (stand) => new OldAnthropic(options(stand)) as unknown as Anthropic, {
    type: 'enabled',
    budget_tokens: 2_048,
  }),
]);
