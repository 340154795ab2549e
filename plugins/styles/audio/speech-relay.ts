/** Forwards speech, as bytes or as events, and measures its duration. */
import type { EventKind, RelayOptions, StreamRelay, Usage } from '../../../core/plugin.ts';
import { eventData, isObject, parsed } from '../../../core/translation/index.ts';
import { errorEvent } from '../chat/errors.ts';
import { errorIn } from '../chat/usage.ts';
import { FORMATS } from './formats.ts';
import { createSoundMeter } from './sound/meter.ts';
import { speechFacts } from './speech-request.ts';
import { reportedUsage, spokenUsage, unfinishedUsage } from './speech-usage.ts';

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
