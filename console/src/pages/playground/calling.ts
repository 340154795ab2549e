/** Makes a call with the session and one of the viewer's keys, and reports its progress. */
import { GATEWAY } from '../../api/client.ts';
import type { Refused } from '../../parts/call-failure.ts';
import { warningsIn } from '../../parts/warnings.ts';
import { type Answer, Failed, failureIn, parsed, SILENCE } from './answer.ts';
import { alternativeBody } from './bodies.ts';
import { decoderFor } from './decoders.ts';
import { type Endpoint, PATHS } from './prompt.ts';
import { createEventReader } from './sse.ts';
import type { Json, JsonObject } from './typed-json.ts';

/** The request. */
export interface Outgoing {
  readonly endpoint: Endpoint;
  readonly body: JsonObject;
  /** For a form: the fields in addition to the members of the body. */
  readonly file?: File;
}

/** `waiting`: for the first token. */
export type Phase = 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';

/** The state of a call. */
export interface CallState {
  readonly phase: Phase;
  /** The request as it was sent last. */
  readonly sent: Outgoing;
  readonly answer: Answer;
  /** The part of the answer that the next request repeats; available once the answer is complete. */
  readonly turns: readonly Json[];
  /** The raw answer, up to a limit. */
  readonly raw: string;
  /** The number of characters received. */
  readonly rawLength: number;
  /** 0: nothing received yet. */
  readonly status: number;
  readonly channel: string;
  /** Empty: none yet. */
  readonly requestId: string;
  /** Quota units, if the answer has them. */
  readonly cost: number | undefined;
  readonly warnings: readonly string[];
  readonly firstByteMs: number | undefined;
  readonly totalMs: number | undefined;
  readonly refused: Refused | undefined;
}

/** The limit for the raw answer. */
const RAW_MOST = 256 * 1_024;
/** The minimum time between two reported states: the eye does not notice more updates. */
const EVERY_MS = 50;

/** A call in progress. */
export function initialState(sent: Outgoing): CallState {
  return {
    phase: 'waiting',
    sent,
    answer: SILENCE,
    turns: [],
    raw: '',
    rawLength: 0,
    status: 0,
    channel: '',
    requestId: '',
    cost: undefined,
    warnings: [],
    firstByteMs: undefined,
    totalMs: undefined,
    refused: undefined,
  };
}

/** Makes the call. `onState` gets the state repeatedly, the last time at the end. */
export async function makeCall(
  outgoing: Outgoing,
  keyId: number,
  onState: (state: CallState) => void,
  signal: AbortSignal,
): Promise<void> {
  const startMs = performance.now();
  const since = (): number => performance.now() - startMs;
  let state = initialState(outgoing);
  const decoder = decoderFor(outgoing.endpoint);
  let raw = '';
  let rawLength = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = (change: Partial<CallState> = {}): void => {
    clearTimeout(timer);
    timer = undefined;
    state = { ...state, raw, rawLength, answer: { ...decoder.answer(), sound: state.answer.sound }, ...change };
    onState(state);
  };
  const soon = (): void => {
    timer ??= setTimeout(() => now(), EVERY_MS);
  };
  const appendRaw = (text: string): void => {
    rawLength += text.length;
    if (raw.length < RAW_MOST) raw += text.slice(0, RAW_MOST - raw.length);
  };
  const over = (phase: 'done' | 'failed' | 'stopped', change: Partial<CallState> = {}): void =>
    now({ phase, totalMs: since(), ...change });
  const refusedWith = (what: Partial<Refused>): Partial<CallState> => ({
    refused: {
      status: 0,
      code: '',
      message: '',
      channel: '',
      requestId: state.requestId,
      retryAfter: undefined,
      ...what,
    },
  });

  try {
    let response = await post(outgoing, keyId, signal);
    let text = response.ok ? '' : await response.text();
    // A rejected parameter costs nothing: the call is retried once with the alternative.
    const other = /^4(00|22)$/.test(`${response.status}`)
      ? alternativeBody(outgoing.endpoint, outgoing.body, text)
      : undefined;
    if (other !== undefined) {
      state = { ...state, sent: { ...outgoing, body: other } };
      response = await post(state.sent, keyId, signal);
      text = response.ok ? '' : await response.text();
    }
    state = { ...state, ...headOf(response) };
    if (!response.ok) {
      appendRaw(text);
      const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
      const failure = failureIn(parsed(text));
      over(
        'failed',
        refusedWith({
          status: response.status,
          code: failure?.code ?? '',
          message: failure?.message ?? '',
          channel: state.channel,
          retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
        }),
      );
      return;
    }
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') && response.body !== null) {
      const events = createEventReader();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        appendRaw(value ?? '');
        const decoded = done ? events.end() : events.push(value ?? '');
        // Pings only keep the connection open.
        if (state.firstByteMs === undefined && decoded.some(({ event }) => event !== 'ping')) {
          state = { ...state, phase: 'streaming', firstByteMs: since() };
        }
        for (const { data } of decoded) decoder.event(data);
        if (done) break;
        soon();
      }
      if (decoder.ended) over('done', { turns: decoder.turns() });
      else over('failed', refusedWith({ status: 502, code: 'upstream_broke_off' }));
      return;
    }
    state = { ...state, firstByteMs: since() };
    if (/^(audio|application\/octet-stream)/.test(type)) {
      const bytes = await response.blob();
      appendRaw(`${type}, ${bytes.size} B`);
      over('done', { answer: { ...SILENCE, sound: URL.createObjectURL(bytes) } });
      return;
    }
    const body = await response.text();
    appendRaw(body);
    decoder.body(parsed(body) ?? body);
    over('done', { turns: decoder.turns() });
  } catch (error) {
    if (signal.aborted) over('stopped');
    // The gateway ends every stream itself, so a missing end means that the connection was lost.
    else if (error instanceof Failed)
      over('failed', refusedWith({ status: 502, code: error.code, message: error.message }));
    else over('failed', refusedWith({ message: error instanceof Error ? error.message : '' }));
  } finally {
    clearTimeout(timer);
  }
}

function post({ endpoint, body, file }: Outgoing, keyId: number, signal: AbortSignal): Promise<Response> {
  return fetch(`${GATEWAY}${PATHS[endpoint]}`, {
    method: 'POST',
    signal,
    headers: {
      'x-turnpike-key': `${keyId}`,
      ...(file === undefined && { 'content-type': 'application/json' }),
      ...(endpoint === 'messages' && { 'anthropic-version': '2023-06-01' }),
    },
    body: file === undefined ? JSON.stringify(body) : formOf(body, file),
  });
}

function formOf(body: JsonObject, file: File): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, `${value}`);
  form.append('file', file);
  return form;
}

function headOf({ status, headers }: Response): Partial<CallState> {
  const cost = headers.get('x-turnpike-cost');
  return {
    status,
    channel: headers.get('x-turnpike-channel') ?? '',
    requestId: headers.get('x-request-id') ?? '',
    cost: cost === null ? undefined : Number(cost),
    warnings: warningsIn(headers.get('x-turnpike-translation')),
  };
}
