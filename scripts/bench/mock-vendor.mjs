// A mock vendor for machines without a C compiler: the same answers as the C one, at a fifth of its pace.
import { createServer } from 'node:http';

const [port] = process.argv.slice(2);
const EVENTS = 60;
const GAP_MS = 10;

const usage = { prompt_tokens: 412, completion_tokens: 96, total_tokens: 508 };
const about = { id: 'chatcmpl-A1b2C3d4E5f6G7h8I9j0', created: 1_760_000_000, model: 'gpt-4o-mini-2024-07-18' };
const content = 'the quick brown fox jumps over it '.repeat(12).slice(0, 400);
const whole = JSON.stringify({
  ...about,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
  usage,
});
const chunk = (choices, more) =>
  `data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
const event = chunk([{ index: 0, delta: { content: 'x'.repeat(40) }, finish_reason: null }]);
const end = `${chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])}${chunk([], { usage })}data: [DONE]\n\n`;

createServer((request, response) => {
  let body = '';
  request.on('data', (bytes) => {
    body += bytes;
  });
  request.on('end', () => {
    if (!/"stream": ?true/.test(body)) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(whole) });
      response.end(whole);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    let sent = 0;
    const timer = setInterval(() => {
      if (sent++ < EVENTS) response.write(event);
      else response.end(end);
    }, GAP_MS);
    response.on('close', () => clearInterval(timer));
  });
}).listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));
