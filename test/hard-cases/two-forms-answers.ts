/** Answers in which vendors say more than words: what each style tells beside its text, by itself and all at once. */
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import type { VendorKind } from './kit.ts';

type Answers = Readonly<Record<string, JsonObject>>;

const TEXT = 'Water boils at 100 degrees. So they say.';

// ---- chat

const CHAT_USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

function chat(message: JsonObject, choice: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    id: 'chatcmpl-v',
    object: 'chat.completion',
    created: 1_763_600_000,
    model: 'chat-model-1',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...choice }],
    usage: CHAT_USAGE,
    ...more,
  };
}

const chatCite = (more: JsonObject = {}): JsonObject => ({
  type: 'url_citation',
  url_citation: { url: 'https://a.test', title: 'A', start_index: 0, end_index: 5, ...more },
});

const chatCall = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{"at":"sea"}' },
  ...more,
});
const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

const CHAT: Answers = {
  words: chat({ content: TEXT }),
  'sources with a place': chat({
    content: TEXT,
    annotations: [chatCite(), chatCite({ start_index: 6, end_index: 11 })],
  }),
  'sources without a place': chat({ content: TEXT, annotations: [chatCite({ start_index: null, end_index: null })] }),
  'sources that have more to say': chat({
    content: TEXT,
    annotations: [chatCite({ content: 'at 100', score: 0.5 }), { ...chatCite(), kind: 'news' }],
  }),
  'sources without an address': chat({ content: TEXT, annotations: [{ type: 'file', file: { hash: 'abc' } }] }),
  'sources of nothing': chat({ content: '', annotations: [chatCite()] }),
  'sources of a refusal': chat({ content: null, refusal: 'No.', annotations: [chatCite()] }),
  'sources that are none': chat({ content: TEXT, annotations: ['https://a.test', 7] }),
  'a list of parts': chat({
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm, well.' }], closed: true },
      { type: 'text', text: TEXT },
    ],
  }),
  'a list of parts with sources': chat({
    content: [
      { type: 'text', text: 'First. ' },
      { type: 'text', text: TEXT },
    ],
    annotations: [chatCite({ start_index: 7, end_index: 12 })],
  }),
  'parts that are no text': chat({
    content: [
      { type: 'text', text: TEXT, mood: 'calm' },
      { type: 'image_url', image_url: { url: PICTURE }, caption: 'A sea.' },
      { type: 'reference', reference_ids: [1, 2] },
      { odd: true },
      'words',
    ],
  }),
  pictures: chat({ content: TEXT, images: [{ type: 'image_url', image_url: { url: PICTURE }, caption: 'A sea.' }] }),
  'pictures that are none': chat({ content: TEXT, images: [{ type: 'image_url', caption: 'A sea.' }, 'sea.png'] }),
  sound: chat({ content: null, audio: { id: 'a1', data: 'AAAA', transcript: 'Hello.', expires_at: 1_763_700_000 } }),
  'sound that is only told': chat({ content: TEXT, audio: { id: 'a1', transcript: 'Hello.' } }),
  refusal: chat({ content: null, refusal: 'I would rather not.' }),
  calls: chat({ content: null, tool_calls: [chatCall('c1'), chatCall('c2')] }, { finish_reason: 'tool_calls' }),
  'calls that have more to say': chat({
    content: 'Let me see.',
    tool_calls: [
      chatCall('c1', { cost: 3 }),
      { ...chatCall('c2'), function: { name: 'f', arguments: '{}', strict: true } },
    ],
  }),
  'calls with one id': chat({ content: null, tool_calls: [chatCall('c1'), chatCall('c1'), chatCall('')] }),
  'a call of no tool': chat({
    content: 'Let me see.',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: '', arguments: '{"at":1}' } }, chatCall('c2')],
  }),
  'a call with free text': chat({
    content: null,
    tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'run', input: 'ls -l', language: 'sh' } }],
  }),
  'a sealed call': chat({
    content: null,
    tool_calls: [chatCall('c1', { extra_content: { google: { thought_signature: 'c2Vh' } } })],
  }),
  'a call of the older kind': chat(
    { content: null, function_call: { name: 'look', arguments: '{"at":"sea"}', reason: 'asked' } },
    { finish_reason: 'function_call' },
  ),
  'a call of both kinds': chat({
    content: null,
    tool_calls: [chatCall('c1')],
    function_call: { name: 'look', arguments: '{"at":"sea"}', reason: 'asked' },
  }),
  thoughts: chat({ content: TEXT, reasoning_content: 'Is it so?' }),
  'sealed thoughts': chat({
    content: TEXT,
    reasoning_details: [
      { type: 'reasoning.text', text: 'Is it so?', signature: 'c2Vh', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'c2Vh', format: 'openai-responses-v1', index: 1 },
    ],
  }),
  likelihoods: chat(
    { content: 'Hi' },
    { logprobs: { content: [{ token: 'Hi', logprob: -0.1, bytes: null, top_logprobs: [] }], refusal: null } },
  ),
  'likelihoods in another form': chat({ content: 'Hi' }, { logprobs: { tokens: ['Hi'], token_logprobs: [-0.1] } }),
  'more than one choice': chat(
    {},
    {},
    {
      choices: [0, 1].map((index) => ({ index, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' })),
    },
  ),
  'a text that ends it': chat({ content: TEXT }, { stop_reason: 'END' }),
  'members that no other style has': chat(
    { content: TEXT, mood: 'calm', padding: null },
    { seed: 7, content_filter_results: { hate: { filtered: false, severity: 'safe' } } },
    { service_tier: 'priority', citations: ['https://a.test'], provider: 'Someone' },
  ),
};

// ---- messages

function message(content: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    id: 'msg_v',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 7 },
    ...more,
  };
}

const said = (more: JsonObject = {}): JsonObject => ({ type: 'text', text: TEXT, ...more });
const FOUND = {
  type: 'web_search_result_location',
  url: 'https://a.test',
  title: 'A',
  encrypted_index: 'c2Vh',
  cited_text: 'at 100',
};
const READ = {
  type: 'char_location',
  cited_text: 'at 100',
  document_index: 2,
  document_title: 'B',
  start_char_index: 12,
  end_char_index: 18,
  file_id: null,
};

const MESSAGES: Answers = {
  words: message([said()]),
  'sources with an address': message([said({ text: 'So: ' }), said({ citations: [FOUND, { ...FOUND, title: null }] })]),
  'sources without an address': message([said({ citations: [READ] })]),
  'sources of all kinds': message([
    said({
      citations: [
        FOUND,
        READ,
        { ...READ, type: 'page_location', start_page_number: 3, end_page_number: 4 },
        {
          type: 'search_result_location',
          source: 'https://b.test',
          title: 'B',
          cited_text: 'x',
          search_result_index: 5,
        },
        { type: 'search_result_location', source: 'drawer', title: 'C', cited_text: 'y', search_result_index: 6 },
        null,
      ],
    }),
  ]),
  'sources of nothing': message([said({ text: '', citations: [FOUND] }), said()]),
  'nothing but sources': message([said({ text: '', citations: [FOUND] })]),
  'nothing at all': message([]),
  'an empty text': message([said({ text: '' }), said()]),
  thoughts: message([{ type: 'thinking', thinking: 'Is it so?', signature: 'c2Vh' }, said()]),
  'thoughts without words': message([{ type: 'thinking', thinking: '', signature: 'c2Vh' }, said()]),
  'thoughts without a seal': message([{ type: 'thinking', thinking: 'Is it so?' }, said()]),
  'thoughts without anything': message([{ type: 'thinking', thinking: '' }, said()]),
  'sealed thoughts': message([{ type: 'redacted_thinking', data: 'c2Vh' }, said()]),
  'sealed thoughts without a seal': message([{ type: 'redacted_thinking' }, said()]),
  calls: message([said(), { type: 'tool_use', id: 't1', name: 'look', input: { at: 'sea' } }], {
    stop_reason: 'tool_use',
  }),
  'calls that have more to say': message([
    { type: 'tool_use', id: 't1', name: 'look', input: {}, caller: { type: 'direct' }, cost: 3 },
    { type: 'tool_use', id: 't2', name: 'look', input: {}, caller: { type: 'code_execution_20250825', tool_id: 's' } },
    { type: 'tool_use', id: '', name: 'look', input: { at: 'sea' } },
  ]),
  'tools of the vendor': message([
    { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'water' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 's1',
      content: [{ type: 'web_search_result', url: 'https://a.test' }],
    },
    { type: 'mcp_tool_use', id: 'p1', name: 'echo', server_name: 'far', input: {} },
    { type: 'mcp_tool_result', tool_use_id: 'p1', is_error: false, content: [] },
    { type: 'container_upload', file_id: 'f1' },
    said({ citations: [FOUND] }),
  ]),
  'a refusal with its reason': message([said()], {
    stop_reason: 'refusal',
    stop_details: { type: 'refusal', category: 'cyber', explanation: 'Not this.' },
  }),
  'a refusal without words': message([], { stop_reason: 'refusal' }),
  'an end with an explanation': message([said()], { stop_details: { type: 'note', explanation: 'Enough.' } }),
  'a text that ends it': message([said()], { stop_reason: 'stop_sequence', stop_sequence: 'END' }),
  'a pause': message([said()], { stop_reason: 'pause_turn' }),
  'its limit': message([said()], { stop_reason: 'max_tokens' }),
  'its context': message([said()], { stop_reason: 'model_context_window_exceeded' }),
  'members that no other style has': message([said({ mood: 'calm' })], {
    container: { id: 'k1', expires_at: '2026-01-01T00:00:00Z' },
    context_management: { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 2 }] },
    usage: {
      input_tokens: 11,
      output_tokens: 7,
      service_tier: 'priority',
      server_tool_use: { web_search_requests: 1 },
    },
  }),
};

// ---- responses

function response(output: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return {
    id: 'resp_v',
    object: 'response',
    created_at: 1_763_600_000,
    model: 'gpt-5.1',
    status: 'completed',
    error: null,
    incomplete_details: null,
    output,
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    ...more,
  };
}

function told(parts: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: parts, ...more };
}

const part = (more: JsonObject = {}): JsonObject => ({ type: 'output_text', text: TEXT, annotations: [], ...more });
const LINK = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 5 };

const RESPONSES: Answers = {
  words: response([told([part()])]),
  'sources with a place': response([told([part({ annotations: [LINK, { ...LINK, start_index: 6 }] })])]),
  'sources without a place': response([
    told([part({ annotations: [{ type: 'url_citation', url: 'https://a.test', title: 'A' }] })]),
  ]),
  'sources that have more to say': response([told([part({ annotations: [{ ...LINK, snippet: 'at 100' }] })])]),
  'sources that are files': response([
    told([
      part({
        annotations: [
          { type: 'file_citation', file_id: 'f1', filename: 'a.pdf', index: 12 },
          {
            type: 'container_file_citation',
            container_id: 'k1',
            file_id: 'f2',
            filename: 'b.csv',
            start_index: 1,
            end_index: 2,
          },
          { type: 'file_path', file_id: 'f3', index: 4 },
        ],
      }),
    ]),
  ]),
  'sources of nothing': response([told([part({ text: '', annotations: [LINK] }), part()])]),
  'sources of two texts': response([told([part({ annotations: [LINK] }), part({ annotations: [LINK] })])]),
  'an empty text': response([told([part({ text: '' })])]),
  'nothing at all': response([]),
  'a message without parts': response([told([])]),
  likelihoods: response([
    told([part({ text: 'Hi', logprobs: [{ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }] })]),
  ]),
  refusal: response([told([{ type: 'refusal', refusal: 'I would rather not.' }])]),
  'a refusal behind words': response([told([part(), { type: 'refusal', refusal: 'I would rather not.' }])]),
  'parts that are no text': response([told([part({ mood: 'calm' }), { type: 'output_audio', data: 'AAAA' }])]),
  thoughts: response([
    {
      id: 'rs_1',
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: 'Is it so?' },
        { type: 'summary_text', text: 'Yes.' },
      ],
    },
    told([part()]),
  ]),
  'thoughts in full and sealed': response([
    {
      id: 'rs_1',
      type: 'reasoning',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'Is it so?' }],
      content: [{ type: 'reasoning_text', text: 'They say so.', mood: 'calm' }],
      encrypted_content: 'c2Vh',
    },
    told([part()]),
  ]),
  'nothing but a seal': response([
    { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'c2Vh' },
    told([part()]),
  ]),
  'thoughts without anything': response([{ id: 'rs_1', type: 'reasoning', summary: [] }, told([part()])]),
  calls: response([
    { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'c1', name: 'look', arguments: '{"at":"sea"}' },
    { id: 'fc_2', type: 'function_call', status: 'completed', call_id: 'c2', name: 'look', arguments: '' },
  ]),
  'calls that have more to say': response([
    told([part()], { phase: 'commentary' }),
    {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 'c1',
      name: 'look',
      namespace: 'sea',
      arguments: '{}',
      caller: { type: 'program', caller_id: 'p1' },
      cost: 3,
    },
    {
      id: 'ct_1',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'c2',
      name: 'run',
      input: 'ls -l',
      language: 'sh',
    },
  ]),
  'a call of no tool': response([
    { id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'c1', name: '', arguments: '{"at":1}' },
    told([part()]),
  ]),
  'tools of the vendor': response([
    { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'water' } },
    { id: 'fs_1', type: 'file_search_call', status: 'completed', queries: ['water'], results: null },
    { id: 'ci_1', type: 'code_interpreter_call', status: 'completed', code: '1+1', container_id: 'k1', outputs: [] },
    {
      id: 'mc_1',
      type: 'mcp_call',
      status: 'completed',
      name: 'echo',
      server_label: 'far',
      arguments: '{}',
      output: '{}',
    },
    { id: 'ts_1', type: 'tool_search_call', status: 'completed', execution: 'server', arguments: {}, call_id: null },
    { id: 'co_1', type: 'compaction', encrypted_content: 'c2Vh' },
    told([part({ annotations: [LINK] })]),
  ]),
  pictures: response([
    {
      id: 'ig_1',
      type: 'image_generation_call',
      status: 'completed',
      result: 'iVBORw0KGgo=',
      output_format: 'png',
      size: '1x1',
    },
    told([part()]),
  ]),
  'its limit': response([told([part()], { status: 'incomplete' })], {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
  }),
  'a filter': response([told([part()], { status: 'incomplete' })], {
    status: 'incomplete',
    incomplete_details: { reason: 'content_filter' },
  }),
  'members that no other style has': response([told([part()], { mood: 'calm' })], {
    service_tier: 'priority',
    moderation: { flagged: false, score: 0.2 },
  }),
};

// ---- a third style that vendors speak

function gemini(parts: readonly JsonObject[], candidate: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, ...candidate }],
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
    modelVersion: 'gemini-3.5-flash',
    responseId: 'v1',
    ...more,
  };
}

const WEB = [
  { web: { uri: 'https://a.test', title: 'A', domain: 'a.test' } },
  { web: { uri: 'https://b.test', title: 'B' } },
  { retrievedContext: { uri: 'gs://c', title: 'C', text: 'at 100' } },
];
const support = (
  startIndex: number,
  endIndex: number,
  indices: readonly number[],
  more: JsonObject = {},
): JsonObject => ({
  segment: { startIndex, endIndex, text: TEXT.slice(startIndex, endIndex) },
  groundingChunkIndices: indices,
  ...more,
});
const grounded = (supports: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  groundingMetadata: { groundingChunks: WEB, groundingSupports: supports, webSearchQueries: ['water'], ...more },
});

const GEMINI: Answers = {
  words: gemini([{ text: TEXT }]),
  'sources with a place': gemini([{ text: TEXT }], grounded([support(0, 5, [0, 1]), support(6, 11, [2])])),
  'sources without a place': gemini([{ text: TEXT }], grounded([])),
  'sources that have more to say': gemini(
    [{ text: TEXT }],
    grounded([support(0, 5, [0], { confidenceScores: [0.9] })], {
      searchEntryPoint: { renderedContent: '<p>' },
      retrievalMetadata: { googleSearchDynamicRetrievalScore: 0.4 },
    }),
  ),
  'sources of words that are not there': gemini(
    [{ text: TEXT }],
    grounded([{ segment: { startIndex: 90, endIndex: 99, text: 'elsewhere' }, groundingChunkIndices: [0] }]),
  ),
  'sources of a call': gemini([{ functionCall: { name: 'look', args: {} } }], grounded([])),
  'sources known by heart': gemini([{ text: TEXT }], {
    citationMetadata: { citationSources: [{ startIndex: 0, endIndex: 5, uri: 'https://a.test', license: 'mit' }] },
  }),
  thoughts: gemini([{ text: 'Is it so?', thought: true, thoughtSignature: 'c2Vh' }, { text: TEXT }]),
  'a sealed text': gemini([{ text: TEXT, thoughtSignature: 'c2Vh' }]),
  calls: gemini([
    { text: 'Let me see.' },
    { functionCall: { name: 'look', args: { at: 'sea' } }, thoughtSignature: 'c2Vh' },
    { functionCall: { id: 'c2', name: 'look', args: {}, cost: 3 } },
  ]),
  'a call of no tool': gemini([{ functionCall: { args: { at: 1 } } }, { text: TEXT }]),
  pictures: gemini([
    { text: TEXT },
    { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=', displayName: 'sea' } },
    { fileData: { mimeType: 'image/png', fileUri: 'https://a.test/sea.png' } },
    { thought: true, inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
  ]),
  sound: gemini([{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: 'AAAAAAAA' } }]),
  'tools of the vendor': gemini([
    { executableCode: { language: 'PYTHON', code: '1+1' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } },
    { text: TEXT },
  ]),
  'parts that have more to say': gemini([{ text: TEXT, videoMetadata: { fps: 1 } }]),
  likelihoods: gemini([{ text: 'Hi' }], {
    avgLogprobs: -0.1,
    logprobsResult: { chosenCandidates: [{ token: 'Hi', tokenId: 1, logProbability: -0.1 }], topCandidates: [] },
  }),
  'more than one candidate': gemini(
    [],
    {},
    {
      candidates: [0, 1].map((index) => ({
        index,
        content: { role: 'model', parts: [{ text: TEXT }] },
        finishReason: 'STOP',
      })),
    },
  ),
  'its limit': gemini([{ text: TEXT }], { finishReason: 'MAX_TOKENS' }),
  'a filter': gemini([{ text: TEXT }], { finishReason: 'SAFETY', finishMessage: 'Too hot.' }),
  'a question that is refused': gemini(
    [],
    {},
    {
      candidates: [],
      promptFeedback: { blockReason: 'SAFETY', safetyRatings: [{ category: 'HEAT', probability: 'HIGH' }] },
    },
  ),
  'members that no other style has': gemini(
    [{ text: TEXT }],
    {
      safetyRatings: [{ category: 'HEAT', probability: 'LOW' }],
      urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://a.test' }] },
    },
    { serviceTier: 'priority', modelStatus: { modelStage: 'STABLE' } },
  ),
};

/** By the style of the vendor, and by what they show. */
export const ANSWERS: Readonly<Record<VendorKind, Answers>> = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
  gemini: GEMINI,
};
