/** The test call: short, streamed, in the client's API. */
import { GATEWAY } from '../../api/client.ts';
import type { Refused } from '../../parts/call-failure.ts';
import type { Style } from './recipe.ts';

/** The caller: the key itself, as the client will use it, or the session with the ID of a key whose secret is unknown. */
export type Caller = { readonly key: string } | { readonly keyId: number };

/** The result. */
export interface TestResult {
  readonly text: string;
  /** The answer was truncated at the token limit. */
  readonly cut: boolean;
  readonly channel: string;
  readonly requestId: string;
  /** Quota units, if the answer has them. */
  readonly cost: number | undefined;
  readonly firstByteMs: number;
  readonly totalMs: number;
}

/** Why the call failed. */
export class CallRefused extends Error {
  readonly refused: Refused;
  constructor(refused: Refused) {
    super(refused.message);
    this.refused = refused;
  }
}

const MOST_TOKENS = 40;
const QUESTION = 'Say hello in one short sentence.';

const PATHS: Readonly<Record<Style, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

function bodyOf(style: Style, model: string, limit: string): object {
  const messages = [{ role: 'user', content: QUESTION }];
  if (style === 'responses') {
    return { model, input: QUESTION, max_output_tokens: MOST_TOKENS, store: false, stream: true };
  }
  return { model, messages, [limit]: MOST_TOKENS, stream: true };
}

/** Makes the call; `onText` gets the answer as it grows. Rejects with `CallRefused`. */
export async function testCall(
  { style, model, caller }: { readonly style: Style; readonly model: string; readonly caller: Caller },
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<TestResult> {
  // The limit has two names: newer models refuse `max_tokens`, and older vendors `max_completion_tokens`.
  const limits = style === 'chat' ? ['max_completion_tokens', 'max_tokens'] : ['max_tokens'];
  for (const limit of limits) {
    try {
      return await once(style, bodyOf(style, model, limit), caller, onText, signal);
    } catch (error) {
      const isAboutLimit =
        error instanceof CallRefused &&
        /^4(00|22)$/.test(String(error.refused.status)) &&
        error.message.includes(limit);
      if (!isAboutLimit || limit === limits.at(-1)) throw error;
    }
  }
  throw new Error('there is always a limit to try');
}

async function once(
  style: Style,
  body: object,
  caller: Caller,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<TestResult> {
  const startMs = performance.now();
  const response = await fetch(`${GATEWAY}${PATHS[style]}`, {
    method: 'POST',
    signal,
    // If the secret is known, the session is not sent, so that the test equals the client's call.
    credentials: 'key' in caller ? 'omit' : 'same-origin',
    headers: {
      'content-type': 'application/json',
      ...('key' in caller ? { authorization: `Bearer ${caller.key}` } : { 'x-turnpike-key': String(caller.keyId) }),
      ...(style === 'messages' && { 'anthropic-version': '2023-06-01' }),
    },
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    throw new CallRefused({ ...nowhere, message: error instanceof Error ? error.message : '' });
  });
  const head = {
    channel: response.headers.get('x-turnpike-channel') ?? '',
    requestId: response.headers.get('x-request-id') ?? '',
  };
  if (!response.ok) {
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    const error = errorIn(parsed(await response.text().catch(() => '')));
    throw new CallRefused({
      status: response.status,
      code: error?.code ?? '',
      message: error?.message ?? '',
      retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
      ...head,
    });
  }
  let firstByteMs: number | undefined;
  let text = '';
  let cut = false;
  let ended = false;
  try {
    for await (const data of readEvents(response)) {
      firstByteMs ??= performance.now() - startMs;
      if (data === '[DONE]') {
        ended = true;
        continue;
      }
      const event = parsed(data) as AnyEvent | undefined;
      const failed = errorIn(event) ?? errorIn(event?.response);
      // The gateway ends every stream itself, so a missing end means that the connection was lost.
      if (failed !== undefined) throw new CallRefused({ ...nowhere, ...failed, ...head, channel: '', status: 502 });
      const more = textIn(style, event);
      text += more;
      if (more !== '') onText(text);
      cut ||= isCut(style, event);
      ended ||= isEnd(style, event);
    }
  } catch (error) {
    if (error instanceof CallRefused) throw error;
    throw new CallRefused({ ...nowhere, ...head });
  }
  if (!ended) throw new CallRefused({ ...nowhere, ...head, status: 502, code: 'upstream_broke_off' });
  const cost = response.headers.get('x-turnpike-cost');
  return {
    text,
    cut,
    ...head,
    cost: cost === null ? undefined : Number(cost),
    firstByteMs: firstByteMs ?? performance.now() - startMs,
    totalMs: performance.now() - startMs,
  };
}

const nowhere: Refused = { status: 0, code: '', message: '', channel: '', requestId: '', retryAfter: undefined };

/** The event fields of the three APIs that the test reads. */
interface AnyEvent {
  readonly type?: string;
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly delta?: string | { readonly text?: string; readonly stop_reason?: string };
  readonly response?: unknown;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorIn(value: unknown): { readonly code: string; readonly message: string } | undefined {
  const error = (value as { error?: { message?: unknown; code?: unknown } | null } | null | undefined)?.error;
  if (typeof error !== 'object' || error === null || typeof error.message !== 'string') return undefined;
  return { message: error.message, code: typeof error.code === 'string' ? error.code : '' };
}

function textIn(style: Style, event: AnyEvent | undefined): string {
  if (style === 'chat') return event?.choices?.[0]?.delta?.content ?? '';
  if (style === 'responses') {
    return event?.type === 'response.output_text.delta' && typeof event.delta === 'string' ? event.delta : '';
  }
  return event?.type === 'content_block_delta' && typeof event.delta === 'object' ? (event.delta.text ?? '') : '';
}

function isCut(style: Style, event: AnyEvent | undefined): boolean {
  if (style === 'chat') return event?.choices?.[0]?.finish_reason === 'length';
  if (style === 'responses') return event?.type === 'response.incomplete';
  return typeof event?.delta === 'object' && event.delta.stop_reason === 'max_tokens';
}

function isEnd(style: Style, event: AnyEvent | undefined): boolean {
  if (style === 'responses') return event?.type === 'response.completed' || event?.type === 'response.incomplete';
  return style === 'messages' && event?.type === 'message_stop';
}

/** The data of each event. */
async function* readEvents(response: Response): AsyncGenerator<string> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      buffer += done ? '\n\n' : value;
      const blocks = buffer.split(/\r?\n\r?\n/);
      buffer = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = block
          .split(/\r?\n/)
          .filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).replace(/^ /, ''))
          .join('\n');
        if (data !== '') yield data;
      }
      if (done) return;
    }
  } finally {
    // Stopping early cancels the call.
    reader.cancel().catch(() => {});
  }
}
