// A mock vendor that answers in every wire format that Turnpike reads. It replaces the C vendor for translated calls, with the same chat answers at a
// fifth of its speed. `node mock-vendor.mjs PORT EVENTS GAP_MS`
import { createServer } from 'node:http';

const [port, events, gapMs] = process.argv.slice(2).map(Number);

const about = { id: 'chatcmpl-A1b2C3d4E5f6G7h8I9j0', created: 1_760_000_000, model: 'gpt-4o-mini-2024-07-18' };
const usage = { prompt_tokens: 412, completion_tokens: 96, total_tokens: 508 };
const content = 'the quick brown fox jumps over it '.repeat(12).slice(0, 400);

/** The same length as in the C vendor. */
const TEXT = 'x'.repeat(59);
/** The last text, by which the load generator detects the end of a stream, because most formats have no end event. */
const LAST = '[DONE]';
/** All texts. */
const SAID = TEXT.repeat(events) + LAST;

const event = (data, name) => `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
const named = (type, data) => event({ type, ...data }, type);

const chunk = (choices, more) => event({ ...about, object: 'chat.completion.chunk', choices, ...more });
const chat = {
  whole: {
    ...about,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
    usage,
  },
  before: chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
  delta: (content) => chunk([{ index: 0, delta: { content }, logprobs: null, finish_reason: null }], { usage: null }),
  after: `${chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])}${chunk([], { usage })}data: [DONE]\n\n`,
};

const message = { id: 'msg_01A1b2C3d4E5f6G7h8I9j0', type: 'message', role: 'assistant', model: 'claude-haiku-4-5' };
const messages = {
  whole: {
    ...message,
    content: [{ type: 'text', text: content }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 412, output_tokens: 96 },
  },
  before:
    named('message_start', { message: { ...message, content: [], usage: { input_tokens: 412, output_tokens: 1 } } }) +
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
    named('ping'),
  delta: (text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  after:
    named('content_block_stop', { index: 0 }) +
    named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 96 } }) +
    named('message_stop'),
};

const response = { id: 'resp_01a2b3c4d5e6f708', object: 'response', created_at: about.created, model: about.model };
const place = { item_id: 'msg_006dcb10dc68b990006931d75a58dc819b', output_index: 0, content_index: 0 };
const part = (text) => ({ type: 'output_text', annotations: [], logprobs: [], text });
const item = (status, content) => ({ id: place.item_id, type: 'message', status, role: 'assistant', content });
const done = item('completed', [part(SAID)]);
const used = { input_tokens: 412, output_tokens: 96, total_tokens: 508 };
const responses = {
  whole: { ...response, status: 'completed', output: [item('completed', [part(content)])], usage: used },
  before:
    named('response.created', { response: { ...response, status: 'in_progress', output: [] } }) +
    named('response.output_item.added', { output_index: 0, item: item('in_progress', []) }) +
    named('response.content_part.added', { ...place, part: part('') }),
  delta: (delta) =>
    named('response.output_text.delta', { ...place, delta, logprobs: [], obfuscation: 'ccp2zCh6hoV22' }),
  after:
    named('response.output_text.done', { ...place, text: SAID, logprobs: [] }) +
    named('response.content_part.done', { ...place, part: part(SAID) }) +
    named('response.output_item.done', { output_index: 0, item: done }) +
    named('response.completed', { response: { ...response, status: 'completed', output: [done], usage: used } }),
};

const candidates = (text, more) => [{ content: { parts: [{ text }], role: 'model' }, ...more, index: 0 }];
const counts = { promptTokenCount: 412, candidatesTokenCount: 96, totalTokenCount: 508 };
const told = { usageMetadata: counts, modelVersion: 'gemini-3.5-flash', responseId: 'g1P6aZnMMZq5qtsPj9fyuQ8' };
const gemini = {
  whole: { candidates: candidates(content, { finishReason: 'STOP' }), ...told },
  before: '',
  delta: (text) => event({ candidates: candidates(text), ...told }),
  after: event({ candidates: candidates('', { finishReason: 'STOP' }), ...told }),
};

/** The wire formats, by the end of the path. */
const SPOKEN = { completions: chat, messages, responses, generateContent: gemini, streamGenerateContent: gemini };
/** The bytes of a whole answer, and those of a stream: of its first event and of every next one, and its end. */
const ANSWERS = new Map(
  Object.entries(SPOKEN).map(([path, { whole, before, delta, after }]) => [
    path,
    {
      whole: Buffer.from(JSON.stringify(whole)),
      events: [before + delta(TEXT), delta(TEXT), delta(LAST) + after].map((text) => Buffer.from(text)),
    },
  ]),
);

function stream([first, next, last], response) {
  let sent = 0;
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const timer = setInterval(() => {
    if (sent < events) response.write(sent === 0 ? first : next);
    else response.end(last);
    sent++;
  }, gapMs);
  response.on('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  const pieces = [];
  request.on('data', (bytes) => pieces.push(bytes));
  request.on('end', () => {
    const [word] = /\w+(?=\?|$)/.exec(request.url) ?? [];
    const { whole, events } = ANSWERS.get(word);
    const asksForStream = word === 'streamGenerateContent' || Buffer.concat(pieces).includes('"stream":true');
    if (asksForStream) {
      stream(events, response);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
    response.end(whole);
  });
});
// Longer than any pause between two loads: connections that time out would count as errors of the measured gateway.
server.keepAliveTimeout = 120_000;
server.listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));
