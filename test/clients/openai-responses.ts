/** The official client in the responses style, as the matrix asks it. */
import OpenAI from 'openai';
import type { ResponseStreamParams } from 'openai/lib/responses/ResponseStream';
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import type { Json } from '../../core/contracts/formats/json.ts';
import { type Client, QUESTION, type Said, SYSTEM, TOOLS, type Turn } from './matrix.ts';
import type { Stand } from './stand.ts';

const WAYS = {
  whole: (client: OpenAI, body: ResponseCreateParamsNonStreaming) => client.responses.create(body),
  'stream helper': (client: OpenAI, body: ResponseCreateParamsNonStreaming) =>
    client.responses.stream(body as ResponseStreamParams).finalResponse() as Promise<Response>,
  'raw stream': async (client: OpenAI, body: ResponseCreateParamsNonStreaming) => {
    const events: ResponseStreamEvent[] = [];
    for await (const event of await client.responses.create({ ...body, stream: true })) events.push(event);
    return collected(events);
  },
} as const;

/** The events as one answer: the items as they are done, which must be what the deltas said, and what the last event holds. */
function collected(events: readonly ResponseStreamEvent[]): Response {
  const deltas = new Map<string, string>();
  const items: ResponseOutputItem[] = [];
  for (const event of events) {
    if ('delta' in event && 'item_id' in event && typeof event.delta === 'string') {
      deltas.set(event.item_id, (deltas.get(event.item_id) ?? '') + event.delta);
    }
    if (event.type === 'response.output_item.done') items[event.output_index] = event.item;
  }
  for (const item of items) {
    const text = deltas.get(item.id!) ?? '';
    if (text !== textOf(item)) throw new Error(`The item says ${textOf(item)}, its deltas say ${text}.`);
  }
  const [numbers, expected] = [events.map(({ sequence_number: n }) => n), events.map((_, n) => n)];
  if (String(numbers) !== String(expected)) throw new Error(`The events are numbered ${numbers}.`);
  const last = events.at(-1)!;
  if (!('response' in last)) throw new Error(`The last event is ${last.type}.`);
  if (JSON.stringify(items) !== JSON.stringify(last.response.output))
    throw new Error('The last event says other items.');
  return { ...last.response, output: items };
}

function textOf(item: ResponseOutputItem): string {
  if (item.type === 'function_call') return item.arguments;
  if (item.type === 'reasoning') return item.summary.map(({ text }) => text).join('');
  if (item.type !== 'message') return '';
  return item.content.map((part) => (part.type === 'output_text' ? part.text : part.refusal)).join('');
}

function saidIn({ status, incomplete_details, output, usage }: Response): Said {
  const texts = (type: string): string => output.map((item) => (item.type === type ? textOf(item) : '')).join('');
  const calls = output.filter((item) => item.type === 'function_call');
  const ends = { max_output_tokens: 'length', content_filter: 'refusal' } as Readonly<Record<string, string>>;
  const reason = incomplete_details?.reason ?? '';
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const refusal = parts.find((part) => part.type === 'refusal')?.refusal;
  const completed = refusal === undefined ? 'stop' : 'refusal';
  return {
    text: texts('message'),
    reasoning: texts('reasoning'),
    calls: calls.map(({ call_id: id, name, arguments: input }) => ({ id, name, input: JSON.parse(input) as Json })),
    end: status === 'completed' ? (calls.length > 0 ? 'tools' : completed) : (ends[reason] ?? `${status} ${reason}`),
    refusal,
    input: usage?.input_tokens,
    cached: usage?.input_tokens_details.cached_tokens,
    output: usage?.output_tokens,
    reasoningTokens: usage?.output_tokens_details.reasoning_tokens,
  };
}

/** With `refers` it goes on by the id of the earlier response, and says nothing again. */
export const responsesClient = (name: string, refers: boolean): Client => ({
  name,
  ways: Object.keys(WAYS),
  refuses: !refers,
  refers,
  open(stand: Stand) {
    const openai = new OpenAI({ baseURL: stand.v1, apiKey: stand.key, maxRetries: 0 });
    return ({ model, way, thinks, tools }) => {
      const ask = async (input: readonly ResponseInputItem[], earlier?: string): Promise<Turn> => {
        const response = await WAYS[way as keyof typeof WAYS](openai, {
          model,
          instructions: SYSTEM,
          input: [...input],
          ...(!refers && { store: false }),
          ...(earlier !== undefined && { previous_response_id: earlier }),
          ...(thinks && {
            reasoning: { effort: 'low', summary: 'auto' },
            include: ['reasoning.encrypted_content'],
          }),
          ...(tools && {
            tools: TOOLS.map(({ schema: parameters, ...tool }) => ({
              type: 'function',
              ...tool,
              parameters,
              strict: true,
            })),
          }),
        });
        return {
          said: saidIn(response),
          goOn: (results) =>
            refers
              ? ask(outputs(results), response.id)
              : ask([...input, ...(response.output as ResponseInputItem[]), ...outputs(results)]),
        };
      };
      return ask([{ role: 'user', content: QUESTION }]);
    };
  },
});

function outputs(results: Parameters<Turn['goOn']>[0]): ResponseInputItem[] {
  return results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }));
}
