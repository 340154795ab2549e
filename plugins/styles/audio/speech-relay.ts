/** Forwards speech, as bytes or as events, measures its duration, and derives its usage. */
import type { Call, EventKind, JsonObject, RelayOptions, StreamRelay, Usage } from '../../../core/plugin.ts';
import {
  countedUsage,
  eventData,
  isObject,
  member,
  NO_TOKENS,
  parsed,
  tokensIn,
} from '../../../core/translation/index.ts';
import { errorEvent } from '../chat/errors.ts';
import { errorIn } from '../chat/fields/usage.ts';
import { FORMATS } from './formats.ts';
import { createSoundMeter } from './sound/meter.ts';
import { speechFacts } from './speech-request.ts';

/** Creates a relay for one attempt. */
export function createSpeechRelay(options: RelayOptions): StreamRelay {
  return options.call.stream ? relayEvents(options) : relayBytes(options);
}

/** Forwards bytes as they arrive, except the last one, which is sent after the call is settled. */
function relayBytes({ call }: RelayOptions): StreamRelay {
  const meter = meterFor({ call });
  let lastByte: Buffer | undefined;
  let bytes = 0;
  return {
    see(chunk, out) {
      if (chunk.length === 0) return 'hold';
      meter.see(chunk);
      bytes += chunk.length;
      if (lastByte !== undefined) out.push(lastByte);
      if (chunk.length > 1) out.push(chunk.subarray(0, -1));
      lastByte = Buffer.from(chunk.subarray(-1));
      return 'pass';
    },
    close(out) {
      if (lastByte === undefined) return 'broken';
      out.push(lastByte);
      return 'whole';
    },
    // A byte stream has no error events; the client sees that it ends early.
    fail: () => '',
    usage: () => spokenUsage(call, { bytes, seconds: meter.seconds() }),
    unfinished: (how) => unfinishedUsage(call, { bytes, seconds: meter.seconds() }, how),
    textLength: () => 0,
    error: () => undefined,
  };
}

const DELTA = 'speech.audio.delta';
const DONE = 'speech.audio.done';

function relayEvents({ call }: RelayOptions): StreamRelay {
  const meter = meterFor({ call });
  let bytes = 0;
  let begun = false;
  let error: ReturnType<StreamRelay['error']>;
  let usage: Usage | undefined;

  function judge(data: string): EventKind {
    if (data.trim() === '[DONE]') return begun ? 'last' : 'hold';
    const event = parsed(data);
    error = errorIn(event);
    if (error !== undefined) return 'error';
    if (!isObject(event)) return 'pass';
    if (event.type === DONE) {
      if (!begun) return 'hold';
      usage = reportedUsage(call, event, { bytes, seconds: meter.seconds() });
      return 'last';
    }
    if (event.type === DELTA && typeof event.audio === 'string' && event.audio !== '') {
      begun = true;
      const sound = Buffer.from(event.audio, 'base64');
      meter.see(sound);
      bytes += sound.length;
    }
    return 'pass';
  }

  return {
    see(event, out) {
      const data = eventData(event);
      const kind = data === undefined ? 'hold' : judge(data);
      // A stream that ends without any event is not a reply; nothing is forwarded.
      if (kind !== 'hold' || data === undefined) out.push(event);
      return kind;
    },
    close: () => 'broken',
    fail: errorEvent,
    usage: () => usage ?? spokenUsage(call, { bytes, seconds: meter.seconds() }),
    unfinished: (how) => unfinishedUsage(call, { bytes, seconds: meter.seconds() }, how),
    textLength: () => 0,
    error: () => error,
  };
}

function meterFor({ call }: Pick<RelayOptions, 'call'>) {
  return createSoundMeter(FORMATS[speechFacts(call.body).format]?.bare);
}

/** Tokens of one second of speech, and characters in most languages. */
const TOKENS_PER_SECOND = 21;
const CHARACTERS_PER_SECOND = 15;
/** Bytes per second of audio of unknown duration: half of uncompressed audio. */
const BYTES_PER_SECOND = 24_000;

/** The delivered audio. */
interface Delivered {
  readonly bytes: number;
  /** Undefined if it is unknown. */
  readonly seconds: number | undefined;
}

/** Usage of a whole reply: all characters, and the duration of the audio. */
function spokenUsage(call: Call, { seconds }: Delivered): Usage {
  return usageOf(call, charactersOf(call), seconds ?? expectedSeconds(call));
}

/**
 * Usage of a reply that did not end. If the client disconnected, everything counts, because the vendor continues. If the
 * vendor broke off, the delivered audio counts, and the characters usually spoken in that time.
 */
function unfinishedUsage(call: Call, delivered: Delivered, how: 'left' | 'broken'): Usage {
  const all = charactersOf(call);
  if (how === 'left') return usageOf(call, all, Math.max(expectedSeconds(call), delivered.seconds ?? 0));
  const seconds = delivered.seconds ?? delivered.bytes / BYTES_PER_SECOND;
  return usageOf(call, Math.min(all, Math.round(seconds * charactersPerSecond(call))), seconds);
}

/** The usage in the last event of a stream; audio that the vendor does not count is measured. */
function reportedUsage(call: Call, event: JsonObject, delivered: Delivered): Usage {
  const reported = member(event, 'usage');
  const input = tokensIn(member(reported, 'input_tokens'));
  const output = tokensIn(member(reported, 'output_tokens'));
  const counted = spokenUsage(call, delivered);
  if (output === 0) return { ...counted, ...(input > 0 && { input }) };
  return { ...NO_TOKENS, input, output, outputAudio: output, characters: charactersOf(call) };
}

function usageOf(call: Call, characters: number, seconds: number): Usage {
  const output = Math.ceil(seconds * TOKENS_PER_SECOND);
  return { ...countedUsage(call.bounds, 0), output, outputAudio: output, characters };
}

function charactersOf(call: Call): number {
  return call.bounds.characters ?? 0;
}

function expectedSeconds(call: Call): number {
  return charactersOf(call) / charactersPerSecond(call);
}

function charactersPerSecond(call: Call): number {
  return CHARACTERS_PER_SECOND * speechFacts(call.body).speed;
}
