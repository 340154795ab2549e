/** The clients of the kill loop: they make calls, read, disconnect, and record exactly what they have seen. */
import { type Agent, request } from 'node:http';
import { type Call, MAX_TOKENS, promptOf } from './calls.ts';

const DONE = 'data: [DONE]\n\n';

/** Makes a call and records what the client sees. Never rejects: broken connections are expected. */
export function makeCall(call: Call, port: number, key: string, agent: Agent): Promise<void> {
  return new Promise((resolve) => {
    const body = JSON.stringify({
      model: call.model,
      max_tokens: MAX_TOKENS,
      messages: [{ role: 'user', content: promptOf(call) }],
      ...(call.stream && { stream: true }),
      ...(call.asksUsage && { stream_options: { include_usage: true } }),
    });
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      // Stored in the usage record, to identify the call.
      'x-request-id': `call-${call.number}`,
    };
    const clientRequest = request({
      host: '127.0.0.1',
      port,
      agent,
      method: 'POST',
      path: '/v1/chat/completions',
      headers,
    });
    const leaving =
      call.leavesAfterMs === undefined
        ? undefined
        : setTimeout(() => {
            call.left = true;
            clientRequest.destroy();
          }, call.leavesAfterMs);
    const over = (): void => {
      clearTimeout(leaving);
      resolve();
    };
    clientRequest.on('error', over).on('close', over);
    clientRequest.on('response', (response) => {
      let text = '';
      call.status = response.statusCode;
      call.id = String(response.headers['x-request-id']);
      call.cost = response.headers['x-turnpike-cost'] as string | undefined;
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        text += data;
        // From here on a client library treats the answer as complete, whatever happens to the connection.
        if (call.stream && text.endsWith(DONE)) seen(call, text);
      });
      response.on('end', () => {
        if (response.complete && !(call.stream && call.status === 200)) seen(call, text);
      });
      response.on('error', () => {}).on('close', over);
    });
    clientRequest.end(body);
  });
}

/** Records a complete answer and its usage. */
function seen(call: Call, text: string): void {
  call.complete = true;
  if (call.status !== 200) call.told = text;
  const usage = /"usage":\{"prompt_tokens":(\d+),"completion_tokens":(\d+)/.exec(text);
  if (usage !== null) call.shown = { prompt: Number(usage[1]), completion: Number(usage[2]) };
}
