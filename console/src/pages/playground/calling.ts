/** Makes a call with the session and one of the own keys, and tells how it goes. */
import { GATEWAY } from '../../api/client.ts';
import type { Refused } from '../../parts/call-failure.ts';
import { lossesIn } from '../../parts/losses.ts';
import { type Answer, Failed, failureIn, parsed, SILENCE } from './answer.ts';
import { otherWords } from './bodies.ts';
import { hearerOf } from './hearing.ts';
import { PATHS, type Way } from './prompt.ts';
import { createEventReader } from './sse.ts';
import type { Json, JsonObject } from './typed-json.ts';

/** What is sent. */
export interface Outgoing {
  readonly way: Way;
  readonly body: JsonObject;
  /** Of a form: what goes beside the members of the body. */
  readonly file?: File;
}

/** `waiting`: for the first word. */
export type Phase = 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';

/** A call as it stands. */
export interface CallState {
  readonly phase: Phase;
  /** As it was sent in the end. */
  readonly sent: Outgoing;
  readonly answer: Answer;
  /** What the next call repeats of the answer; there once it is whole. */
  readonly said: readonly Json[];
  /** As it came, as much of it as is kept. */
  readonly raw: string;
  /** How many letters came. */
  readonly rawLength: number;
  /** 0: none yet. */
  readonly status: number;
  readonly channel: string;
  /** Empty: none yet. */
  readonly requestId: string;
  /** Quota units, where the answer tells. */
  readonly cost: number | undefined;
  readonly losses: readonly string[];
  readonly firstByteMs: number | undefined;
  readonly totalMs: number | undefined;
  readonly refused: Refused | undefined;
}

/** So much of an answer is kept as it came. */
const RAW_MOST = 256 * 1_024;
/** Screens show no more in a second, and people read no more. */
const EVERY_MS = 50;

/** A call that was just made. */
export function begun(sent: Outgoing): CallState {
  return {
    phase: 'waiting',
    sent,
    answer: SILENCE,
    said: [],
    raw: '',
    rawLength: 0,
    status: 0,
    channel: '',
    requestId: '',
    cost: undefined,
    losses: [],
    firstByteMs: undefined,
    totalMs: undefined,
    refused: undefined,
  };
}

/** Makes it. `tell` gets its state again and again, the last time when it is over. */
export async function makeCall(
  asked: Outgoing,
  keyId: number,
  tell: (state: CallState) => void,
  signal: AbortSignal,
): Promise<void> {
  const began = performance.now();
  const since = (): number => performance.now() - began;
  let state = begun(asked);
  const hearer = hearerOf(asked.way);
  let raw = '';
  let rawLength = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = (change: Partial<CallState> = {}): void => {
    clearTimeout(timer);
    timer = undefined;
    state = { ...state, raw, rawLength, answer: { ...hearer.answer(), sound: state.answer.sound }, ...change };
    tell(state);
  };
  const soon = (): void => {
    timer ??= setTimeout(() => now(), EVERY_MS);
  };
  const keep = (text: string): void => {
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
    let response = await post(asked, keyId, signal);
    let text = response.ok ? '' : await response.text();
    // What was not understood costs nothing: it is said in other words, once.
    const other = /^4(00|22)$/.test(`${response.status}`) ? otherWords(asked.way, asked.body, text) : undefined;
    if (other !== undefined) {
      state = { ...state, sent: { ...asked, body: other } };
      response = await post(state.sent, keyId, signal);
      text = response.ok ? '' : await response.text();
    }
    state = { ...state, ...headOf(response) };
    if (!response.ok) {
      keep(text);
      const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
      const said = failureIn(parsed(text));
      over(
        'failed',
        refusedWith({
          status: response.status,
          code: said?.code ?? '',
          message: said?.message ?? '',
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
        keep(value ?? '');
        const come = done ? events.end() : events.push(value ?? '');
        // Pings only keep the line open.
        if (state.firstByteMs === undefined && come.some(({ event }) => event !== 'ping')) {
          state = { ...state, phase: 'streaming', firstByteMs: since() };
        }
        for (const { data } of come) hearer.event(data);
        if (done) break;
        soon();
      }
      if (hearer.ended) over('done', { said: hearer.said() });
      else over('failed', refusedWith({ status: 502, code: 'upstream_broke_off' }));
      return;
    }
    state = { ...state, firstByteMs: since() };
    if (/^(audio|application\/octet-stream)/.test(type)) {
      const bytes = await response.blob();
      keep(`${type}, ${bytes.size} B`);
      over('done', { answer: { ...SILENCE, sound: URL.createObjectURL(bytes) } });
      return;
    }
    const body = await response.text();
    keep(body);
    hearer.whole(parsed(body) ?? body);
    over('done', { said: hearer.said() });
  } catch (error) {
    if (signal.aborted) over('stopped');
    // Who broke it off is told by the gateway, which ends every stream of its own accord.
    else if (error instanceof Failed)
      over('failed', refusedWith({ status: 502, code: error.code, message: error.message }));
    else over('failed', refusedWith({ message: error instanceof Error ? error.message : '' }));
  } finally {
    clearTimeout(timer);
  }
}

function post({ way, body, file }: Outgoing, keyId: number, signal: AbortSignal): Promise<Response> {
  return fetch(`${GATEWAY}${PATHS[way]}`, {
    method: 'POST',
    signal,
    headers: {
      'x-turnpike-key': `${keyId}`,
      ...(file === undefined && { 'content-type': 'application/json' }),
      ...(way === 'messages' && { 'anthropic-version': '2023-06-01' }),
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
    losses: lossesIn(headers.get('x-turnpike-translation')),
  };
}
