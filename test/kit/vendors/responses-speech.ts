/** Scenarios as vendors of the responses style say them; parallel calls stand open side by side. */

import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Scenario, ScenarioCall, Speech } from '../speech.ts';

/** Thoughts as only this vendor can read them. */
export const SEALED = 'gAAAAABsealed+/thought==';

function callId({ id }: ScenarioCall): string {
  return `call_${id}`;
}

interface Item extends JsonObject {
  readonly id: string;
  readonly type: string;
}

/** The items of the answer as they are in the end. */
function itemsOf(scenario: Scenario, request: JsonObject): readonly Item[] {
  const { reasoning, text, refusal, calls = [] } = scenario;
  const included = (request.include as readonly string[] | undefined)?.includes('reasoning.encrypted_content');
  const wanted = (request.reasoning as JsonObject | undefined)?.summary ?? null;
  const part =
    text === undefined
      ? { type: 'refusal', refusal: refusal?.join('') ?? '' }
      : { type: 'output_text', text: text.join(''), annotations: [], logprobs: [] };
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            id: 'rs_vendor1',
            type: 'reasoning',
            summary: wanted === null ? [] : [{ type: 'summary_text', text: reasoning.join('') }],
            ...(included && { encrypted_content: SEALED }),
          },
        ]),
    ...(text === undefined && refusal === undefined
      ? []
      : [{ id: 'msg_vendor1', type: 'message', status: 'completed', role: 'assistant', content: [part] }]),
    ...calls.map((call) => ({
      id: `fc_${call.id}`,
      type: 'function_call',
      status: 'completed',
      call_id: callId(call),
      name: call.name,
      arguments: call.pieces.join(''),
    })),
  ];
}

function usageOf({ usage }: Scenario): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}

/** An answer whose id is its own: it may be gone on from. */
function objectOf(id: string, request: JsonObject, more: JsonObject): JsonObject {
  return {
    id,
    object: 'response',
    created_at: 1_763_600_000,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: {},
    model: request.model as Json,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: request.store ?? true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: request.tools ?? [],
    top_p: 1,
    truncation: 'disabled',
    ...more,
  };
}

let answers = 0;
function nextId(): string {
  return `resp_vendor${++answers}`;
}

function endOf(id: string, scenario: Scenario, request: JsonObject): JsonObject {
  const done = { output: itemsOf(scenario, request), usage: usageOf(scenario) };
  return scenario.end === 'length'
    ? objectOf(id, request, { ...done, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
    : objectOf(id, request, { ...done, status: 'completed' });
}

type Said = readonly [type: string, more: JsonObject];

function eventsOfMessage(item: Item, index: number, scenario: Scenario): readonly Said[] {
  const [part = {}] = item.content as readonly JsonObject[];
  const at = { item_id: item.id, output_index: index, content_index: 0 };
  const { text, refusal = [] } = scenario;
  const said: readonly Said[] =
    text === undefined
      ? [
          ...refusal.map((delta): Said => ['response.refusal.delta', { ...at, delta }]),
          ['response.refusal.done', { ...at, refusal: refusal.join('') }],
        ]
      : [
          ...text.map((delta): Said => ['response.output_text.delta', { ...at, delta, logprobs: [] }]),
          ['response.output_text.done', { ...at, text: text.join(''), logprobs: [] }],
        ];
  const empty = text === undefined ? { type: 'refusal', refusal: '' } : { ...part, text: '' };
  return [
    ['response.output_item.added', { output_index: index, item: { ...item, status: 'in_progress', content: [] } }],
    ['response.content_part.added', { ...at, part: empty }],
    ...said,
    ['response.content_part.done', { ...at, part }],
    ['response.output_item.done', { output_index: index, item }],
  ];
}

function eventsOfReasoning(item: Item, index: number, { reasoning = [] }: Scenario): readonly Said[] {
  const at = { item_id: item.id, output_index: index, summary_index: 0 };
  const text = reasoning.join('');
  const shown: readonly Said[] =
    (item.summary as readonly Json[]).length === 0
      ? []
      : [
          ['response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }],
          ...reasoning.map((delta): Said => ['response.reasoning_summary_text.delta', { ...at, delta }]),
          ['response.reasoning_summary_text.done', { ...at, text }],
          ['response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text } }],
        ];
  return [
    ['response.output_item.added', { output_index: index, item: { ...item, summary: [] } }],
    ...shown,
    ['response.output_item.done', { output_index: index, item }],
  ];
}

function eventsOfCalls(items: readonly Item[], first: number, calls: readonly ScenarioCall[]): readonly Said[] {
  const at = (i: number) => ({ item_id: items[i]!.id, output_index: first + i });
  const rounds = Math.max(0, ...calls.map(({ pieces }) => pieces.length));
  return [
    ...items.map((item, i): Said => {
      const started = { ...item, status: 'in_progress', arguments: '' };
      return ['response.output_item.added', { output_index: first + i, item: started }];
    }),
    ...Array.from({ length: rounds }, (_, round) =>
      calls.flatMap(({ pieces }, i): readonly Said[] => {
        const delta = pieces[round];
        return delta === undefined ? [] : [['response.function_call_arguments.delta', { ...at(i), delta }]];
      }),
    ).flat(),
    ...items.flatMap((item, i): readonly Said[] => [
      ['response.function_call_arguments.done', { ...at(i), name: item.name!, arguments: item.arguments! }],
      ['response.output_item.done', { output_index: first + i, item }],
    ]),
  ];
}

function events(scenario: Scenario, request: JsonObject): readonly string[] {
  const id = nextId();
  const items = itemsOf(scenario, request);
  const calls = items.filter(({ type }) => type === 'function_call');
  const begun = { response: objectOf(id, request, { status: 'in_progress', output: [], usage: null }) };
  const said: readonly Said[] = [
    ['response.created', begun],
    ['response.in_progress', begun],
    ...items.flatMap((item, index) => {
      if (item.type === 'reasoning') return eventsOfReasoning(item, index, scenario);
      return item.type === 'message' ? eventsOfMessage(item, index, scenario) : [];
    }),
    ...eventsOfCalls(calls, items.length - calls.length, scenario.calls ?? []),
    [`response.${scenario.end === 'length' ? 'incomplete' : 'completed'}`, { response: endOf(id, scenario, request) }],
  ];
  return said.map(([type, more], sequence) => event(type, { sequence_number: sequence, ...more }));
}

function event(type: string, more: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

/** The responses style. */
export const responsesSpeech: Speech = {
  callId,
  whole: (scenario, request) => endOf(nextId(), scenario, request),
  events,
  error: (status, message) => ({
    error: {
      message,
      type: status < 500 ? 'invalid_request_error' : 'server_error',
      param: null,
      code: `vendor_${status}`,
    },
  }),
  errorEvent: (message) => event('error', { sequence_number: 99, code: 'server_error', message, param: null }),
};
