/** The customers of the kill loop: they ask, read, leave, and remember exactly what they have seen. */
import { type Agent, request } from 'node:http';
import { type Call, MAX_TOKENS, promptOf } from './calls.ts';

const DONE = 'data: [DONE]\n\n';

/** Makes a call and notes what is seen of it. Never rejects: a connection that breaks is what this is about. */
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
      // Kept in the usage record, so that a record can be told from which call it is.
      'x-request-id': `call-${call.number}`,
    };
    const asked = request({ host: '127.0.0.1', port, agent, method: 'POST', path: '/v1/chat/completions', headers });
    const leaving =
      call.leavesAfterMs === undefined
        ? undefined
        : setTimeout(() => {
            call.left = true;
            asked.destroy();
          }, call.leavesAfterMs);
    const over = (): void => {
      clearTimeout(leaving);
      resolve();
    };
    asked.on('error', over).on('close', over);
    asked.on('response', (response) => {
      let text = '';
      call.status = response.statusCode;
      call.id = String(response.headers['x-request-id']);
      call.cost = response.headers['x-turnpike-cost'] as string | undefined;
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        text += data;
        // From here on a client library takes the answer for whole, whatever becomes of the connection.
        if (call.stream && text.endsWith(DONE)) seen(call, text);
      });
      response.on('end', () => {
        if (response.complete && !(call.stream && call.status === 200)) seen(call, text);
      });
      response.on('error', () => {}).on('close', over);
    });
    asked.end(body);
  });
}

/** Notes a complete answer, and what it says was used. */
function seen(call: Call, text: string): void {
  call.complete = true;
  const told = /"usage":\{"prompt_tokens":(\d+),"completion_tokens":(\d+)/.exec(text);
  if (told !== null) call.shown = { prompt: Number(told[1]), completion: Number(told[2]) };
}
