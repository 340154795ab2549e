/** What a vendor says and a client's style cannot show is named; streams name what whole answers name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import type { Answering, Json, JsonObject, StyleVendor } from '../../../core/plugin.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import { partsOf } from '../../../core/translation/conversation/fold.ts';
import { layQuirks } from '../../../core/translation/quirks/quirks.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { client as chatAsked, vendor as chatSpoken } from '../../../plugins/styles/chat/translation.ts';
import { client as completionsAsked } from '../../../plugins/styles/completions/translation.ts';
import { client as messagesAsked, vendor as messagesSpoken } from '../../../plugins/styles/messages/translation.ts';
import { client as responsesAsked, vendor as responsesSpoken } from '../../../plugins/styles/responses/translation.ts';
import { gemini } from '../../../plugins/vendors/gemini/style.ts';

const FROM = { channel: 'here', model: 'm' };
const CLIENTS = { chat: chatAsked, completions: completionsAsked, responses: responsesAsked, messages: messagesAsked };
type Client = keyof typeof CLIENTS;

/** What a client is told to be lost of a whole answer; undefined where it is no answer. */
function lostOf(spoken: StyleVendor, body: JsonObject, client: Client): readonly string[] | undefined {
  const warnings = collectWarnings({});
  const reply = spoken.decodeReply(body, FROM, warnings);
  if (reply === undefined) return undefined;
  const as: Answering = {
    id: '0123456789ABCDEFGHIJKLMNOP',
    model: 'public',
    createdMs: 0,
    now: () => 0,
    request: {},
    asksUsage: false,
    estimatedInput: 0,
    warnings,
  };
  CLIENTS[client].encodeReply(reply, as);
  const whole = [...warnings.all].sort();
  const writer = CLIENTS[client].createStreamEncoder(as);
  for (const part of partsOf(reply)) writer.write(part);
  assert.deepEqual([...warnings.all].sort(), whole, 'written as a stream it loses something else');
  return whole;
}

/** What the vendor's stream is said to lose. */
function lostIn(spoken: StyleVendor, events: readonly Json[]): readonly string[] {
  const warnings = collectWarnings({});
  const reader = spoken.createStreamDecoder(FROM, warnings);
  for (const event of events) reader.read({ name: undefined, data: JSON.stringify(event) });
  reader.read({ name: undefined, data: '[DONE]' });
  reader.close();
  return [...warnings.all].sort();
}

describe('the source of a citation', () => {
  const citation = {
    type: 'web_search_result_location',
    url: 'https://a.example',
    title: 'A',
    cited_text: 'the words',
    encrypted_index: 'sealed',
  };
  const answer = (raw: JsonObject): JsonObject => ({
    content: [{ type: 'text', text: 'So it is.', citations: [raw] }],
    stop_reason: 'end_turn',
  });

  it("is reported as far as the client's style cannot express it", () => {
    for (const client of ['chat', 'responses'] as const) {
      assert.deepEqual(lostOf(messagesSpoken, answer(citation), client), [
        'citations.cited_text:omitted',
        'citations.encrypted_index:omitted',
      ]);
    }
    assert.deepEqual(lostOf(messagesSpoken, answer(citation), 'messages'), []);
  });

  it('is a URL if a client-side result has one, and reported as lost otherwise', () => {
    const { url: source, ...rest } = citation;
    const found = { ...rest, type: 'search_result_location', source, cited_text: '', encrypted_index: '' };
    assert.deepEqual(lostOf(messagesSpoken, answer(found), 'chat'), []);
    const page = { type: 'page_location', cited_text: 'x', document_index: 0, start_page_number: 1 };
    assert.deepEqual(lostOf(messagesSpoken, answer(page), 'chat'), ['citations:omitted']);
  });

  it('is encoded in part by a chat vendor', () => {
    const url_citation = { url: 'https://a.example', title: 'A', content: 'A snippet.', start_index: 0, end_index: 2 };
    const message = { content: 'So.', annotations: [{ type: 'url_citation', url_citation }] };
    const body = { choices: [{ message, finish_reason: 'stop' }] };
    assert.deepEqual(lostOf(chatSpoken, body, 'responses'), ['citations.content:omitted']);
    assert.deepEqual(lostOf(chatSpoken, body, 'messages'), [
      'citations.end_index:omitted',
      'citations.start_index:omitted',
    ]);
  });

  it('omits the cited words if their position is known', () => {
    const chunk = { web: { uri: 'https://a.example', title: 'a.example', domain: 'a.example' } };
    const support = { segment: { endIndex: 3, text: 'So.' }, groundingChunkIndices: [0], confidenceScores: [0.9] };
    const body = {
      candidates: [
        {
          content: { parts: [{ text: 'So.' }] },
          finishReason: 'STOP',
          groundingMetadata: { groundingChunks: [chunk], groundingSupports: [support] },
        },
      ],
    };
    assert.deepEqual(lostOf(gemini.vendor!, body, 'chat'), ['citations.confidenceScores:omitted']);
  });
});

describe('an unread member of a reply', () => {
  it('is reported once in chat, streamed or not', () => {
    const body = {
      id: 'c',
      provider: 'Someone',
      prompt_filter_results: [{ hate: 'safe' }],
      x_groq: { id: 'r' },
      choices: [
        {
          message: { content: 'Hi', channel: 'final', tool_plan: '' },
          logprobs: { tokens: ['Hi'] },
          finish_reason: 'stop',
        },
      ],
    };
    const names = [
      'channel:omitted',
      'logprobs.tokens:omitted',
      'prompt_filter_results:omitted',
      'provider:omitted',
    ] as const;
    assert.deepEqual(lostOf(chatSpoken, body, 'responses'), names);
    const [{ message, ...choice } = { message: {} }] = body.choices;
    const event = { ...body, choices: [{ ...choice, delta: message }] };
    assert.deepEqual(lostIn(chatSpoken, [event, event]), names);
  });

  it('is reported at any depth in a response, streamed or not', () => {
    const output = [
      { type: 'message', phase: 'final_answer', content: [{ type: 'output_text', text: 'Hi', tone: 'warm' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', caller: { type: 'program', caller_id: 'p' } },
      { type: 'function_call', call_id: 'd', name: 'f', arguments: '{}', caller: { type: 'direct' } },
      { type: 'image_generation_call', result: 'aWJt', status: 'completed', revised_prompt: 'A boat.' },
    ];
    const body = { status: 'completed', output, moderation: { flagged: true } };
    const names = [
      'caller:omitted',
      'image_generation_call.revised_prompt:omitted',
      'moderation:omitted',
      'phase:omitted',
      'tone:omitted',
    ];
    assert.deepEqual(lostOf(responsesSpoken, body, 'chat'), names);
    assert.deepEqual(lostIn(responsesSpoken, [{ type: 'response.completed', response: body }]), names);
  });

  it('is reported at any depth in a message, streamed or not', () => {
    const use = { type: 'tool_use', id: 't', name: 'f', input: {}, caller: { type: 'code_execution', tool_id: 's' } };
    const details = { type: 'refusal', category: 'cyber', explanation: 'No.' };
    const rest = { container: { id: 'c' }, stop_reason: 'refusal', stop_details: details };
    const names = ['caller:omitted', 'container:omitted', 'stop_details.category:omitted'];
    assert.deepEqual(lostOf(messagesSpoken, { content: [use], ...rest }, 'chat'), names);
    const events = [
      { type: 'message_start', message: { content: [] } },
      { type: 'content_block_start', index: 0, content_block: use },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: rest },
      { type: 'message_stop' },
    ];
    assert.deepEqual(lostIn(messagesSpoken, events), names);
  });

  it('is reported at any depth in candidates of gemini', () => {
    const body = {
      promptFeedback: { safetyRatings: [{ probability: 'LOW' }] },
      candidates: [
        {
          content: {
            parts: [{ text: 'Hi', mood: 'good' }, { functionCall: { name: 'f', haste: 'much' } }],
            tone: 'warm',
          },
          finishReason: 'STOP',
        },
      ],
    };
    const names = ['haste:omitted', 'mood:omitted', 'safetyRatings:omitted', 'tone:omitted'];
    assert.deepEqual(lostOf(gemini.vendor!, body, 'messages'), names);
    assert.deepEqual(lostIn(gemini.vendor!, [body]), names);
  });
});

describe('the status of a reply', () => {
  it('is no answer while the response is in progress', () => {
    for (const status of ['queued', 'in_progress']) {
      assert.equal(lostOf(responsesSpoken, { status, output: [] }, 'chat'), undefined);
    }
    assert.deepEqual(lostOf(responsesSpoken, { status: 'completed', output: [] }, 'chat'), []);
  });

  it("is reported if the client's style cannot express it: stop sequence, and explanation", () => {
    const stopped = { content: [], stop_reason: 'stop_sequence', stop_sequence: 'END' };
    assert.deepEqual(lostOf(messagesSpoken, stopped, 'chat'), ['stop_sequence:omitted']);
    assert.deepEqual(lostOf(messagesSpoken, stopped, 'responses'), ['stop_sequence:omitted']);
    const blocked = { promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'Not that.' } };
    assert.deepEqual(lostOf(gemini.vendor!, blocked, 'chat'), ['explanation:omitted']);
    assert.deepEqual(lostOf(gemini.vendor!, blocked, 'messages'), []);
  });

  it('reports the group of a tool for clients without groups', () => {
    const output = [{ type: 'function_call', call_id: 'c', name: 'f', namespace: 'g', arguments: '{}' }];
    assert.deepEqual(lostOf(responsesSpoken, { output }, 'chat'), ['namespace:omitted']);
    assert.deepEqual(lostOf(responsesSpoken, { output }, 'messages'), ['namespace:omitted']);
    assert.deepEqual(lostOf(responsesSpoken, { output }, 'responses'), []);
  });
});

describe('a member of a request', () => {
  /** What a vendor is sent, and what of the client's words is named as lost. */
  function sent(
    client: Client,
    body: JsonObject,
    spoken: StyleVendor,
  ): { body: JsonObject; lost: readonly string[]; serious: readonly string[] } {
    const warnings = collectWarnings(CLIENTS[client].names);
    const quirks = layQuirks(spoken.quirks, { output: { json_schema: true }, tools: { web_search: true } });
    const target = { ...FROM, stream: false, askUsage: false, quirks };
    const asked = CLIENTS[client].decodeRequest({ model: 'm', ...body }, warnings);
    return { body: spoken.encodeRequest(asked, target, warnings), lost: warnings.all, serious: warnings.serious };
  }

  it('about a search in vendor-specific terms is reported', () => {
    const tool = { type: 'web_search', return_token_budget: 9, filters: { blocked_domains: ['b.example'] } };
    const messages = sent('responses', { input: 'Hi', tools: [tool] }, messagesSpoken);
    assert.deepEqual(messages.lost, ['tools.return_token_budget:dropped']);
    assert.deepEqual(messages.body.tools, [
      { type: 'web_search_20250305', name: 'web_search', blocked_domains: ['b.example'] },
    ]);
    assert.deepEqual(sent('responses', { input: 'Hi', tools: [tool] }, gemini.vendor!).lost, [
      'tools.return_token_budget:dropped',
      'tools.blocked_domains:dropped',
    ]);
    const live = { type: 'web_search', external_web_access: true };
    assert.deepEqual(sent('responses', { input: 'Hi', tools: [live] }, messagesSpoken).lost, []);
    assert.deepEqual(sent('responses', { input: 'Hi', tools: [tool] }, responsesSpoken).body.tools, [tool]);
  });

  it('is reported by the name that the client wrote if its own style does not have the field', () => {
    const strange: readonly (readonly [Client, JsonObject, readonly string[]])[] = [
      ['responses', { input: 'Hi', max_output_tokens: 3, max_tokens: 900 }, ['max_tokens:dropped']],
      ['responses', { input: 'Hi', response_format: { type: 'json_object' } }, ['response_format:dropped']],
      ['messages', { messages: [{ role: 'user', content: 'Hi' }], stop: ['x'], max_tokens: 99 }, ['stop:dropped']],
      ['messages', { messages: [{ role: 'user', content: 'Hi' }], user: 'u', max_tokens: 99 }, ['user:dropped']],
      ['completions', { prompt: 'Hi', messages: [] }, ['messages:dropped']],
    ];
    const vendors = { chat: chatSpoken, responses: responsesSpoken, messages: messagesSpoken, gemini: gemini.vendor! };
    for (const [client, body, lost] of strange) {
      for (const [style, spoken] of Object.entries(vendors)) {
        if (style !== client) assert.deepEqual(sent(client, body, spoken).lost, lost, `${client} to ${style}`);
      }
    }
  });

  it('about where an item is stored is a hint, and `store` is not reported, because the gateway handles it', () => {
    const content = [{ type: 'output_text', text: 'Hello.' }];
    const input = [
      { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content },
      { type: 'function_call', id: 'fc_1', status: 'completed', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', id: 'fco_1', status: 'completed', call_id: 'c', output: 'x' },
    ];
    for (const store of [true, false]) {
      for (const spoken of [chatSpoken, messagesSpoken, gemini.vendor!]) {
        const { lost, serious } = sent('responses', { input, store }, spoken);
        assert.deepEqual([lost, serious], [['input.id:dropped', 'input.status:dropped'], []]);
      }
    }
  });

  it('about a search without live access drops the search, and refuses a call that forces it', () => {
    const cached = { type: 'web_search', external_web_access: false };
    const f = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };
    const adapted = (more: JsonObject): { tools: readonly string[]; lost: readonly string[] } => {
      const warnings = collectWarnings(responsesAsked.names);
      const quirks = layQuirks(messagesSpoken.quirks, { tools: { web_search: true } });
      const target = { ...FROM, stream: false, askUsage: false, quirks };
      const question = responsesAsked.decodeRequest({ model: 'm', input: 'Hi', ...more }, warnings);
      const { conversation } = adapt(question, 'messages', target, warnings);
      return { tools: conversation.tools.map(({ name }) => name), lost: warnings.all };
    };
    assert.deepEqual(adapted({ tools: [cached, f] }), { tools: ['f'], lost: ['tools.web_search:dropped'] });
    const refused = (error: unknown): boolean => error instanceof GatewayError && error.param === 'tools.web_search';
    assert.throws(() => adapted({ tools: [cached] }), refused);
    assert.throws(() => adapted({ tools: [cached, f], tool_choice: { type: 'web_search' } }), refused);
    assert.deepEqual(sent('responses', { input: 'Hi', tools: [cached] }, responsesSpoken).body.tools, [cached]);
  });

  it('about the output format becomes part of the schema if there is no field for it', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false, description: 'A city.' };
    const format = { type: 'json_schema', name: 'n', description: 'Where they live.', schema };
    const { body } = sent('responses', { input: 'Hi', text: { format } }, messagesSpoken);
    assert.deepEqual(body.output_config, {
      format: { type: 'json_schema', schema: { ...schema, description: 'Where they live.\n\nA city.' } },
    });
  });

  it('about the length of summaries is reported, and the wish for a summary is kept', () => {
    const lost = (reasoning: JsonObject) => sent('responses', { input: 'Hi', reasoning }, gemini.vendor!).lost;
    assert.deepEqual(lost({ effort: 'low', generate_summary: 'concise' }), ['reasoning.summary:dropped']);
    assert.deepEqual(lost({ effort: 'low', summary: 'auto' }), []);
  });

  it('about a file, in a message and in a result, becomes text or is reported', () => {
    const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };
    const input = [{ role: 'user', content: [file] }];
    assert.deepEqual(sent('responses', { input }, gemini.vendor!).lost, ['input.file.filename:dropped']);
    const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
    const document = { type: 'document', source, title: 'The title', context: 'The context' };
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [document] }] },
    ];
    const { body, lost } = sent('messages', { max_tokens: 9, messages }, gemini.vendor!);
    assert.deepEqual(lost, []);
    assert.ok(JSON.stringify(body.contents).includes('The title\\nThe context'), 'the title is told');
  });

  it('with two names for one option is read once, and the other is reported', () => {
    const body = {
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 50,
      max_completion_tokens: 90,
      logprobs: 1,
    };
    assert.deepEqual(sent('chat', body, responsesSpoken).lost, ['max_tokens:dropped', 'logprobs:dropped']);
  });
});
