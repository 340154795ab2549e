/** Requests for speech: what is to be said, checked as far as the specification limits it. */
import type { CallFacts, Json, JsonBody, Patch } from '../../../core/plugin.ts';
import { type Fields, isObject } from '../../../core/translation/index.ts';
import { fieldsIn, modelIn, wordIn, wrong } from '../request-fields.ts';
import { FORMATS } from './formats.ts';

/** Everything that is looked at before the vendor sees it. */
const NAMES = ['model', 'input', 'voice', 'response_format', 'speed', 'instructions', 'stream_format'];

const MAX_CHARACTERS = 4_096;
const SLOWEST = 0.25;
const FASTEST = 4;
/**
 * The most a vendor makes of one character: spoken slowly, in a language whose characters are syllables. The first words of a
 * short text have their own time.
 */
const MAX_TOKENS = { each: 6, least: 64 };

/** What is said of how the speech is to be. */
export interface SpeechFacts {
  readonly format: string;
  readonly speed: number;
}

/** What the body asks for. Refuses with 400 and the field's name; `null` counts as left out. */
export function readSpeech(body: JsonBody): CallFacts {
  const fields = fieldsIn(body, NAMES);
  const model = modelIn(fields);
  const characters = countCharacters(fields);
  if (!isVoice(fields.get('voice'))) {
    fields.wrong('voice', 'must be the name of a voice, such as "alloy", or an object with the id of one');
  }
  wordIn(fields, 'response_format', Object.keys(FORMATS));
  const speed = fields.number('speed');
  if (speed !== undefined && !(speed >= SLOWEST && speed <= FASTEST)) {
    fields.wrong('speed', `must be a number from ${SLOWEST} to ${FASTEST}`);
  }
  fields.text('instructions');
  const isStream = wordIn(fields, 'stream_format', ['audio', 'sse']) === 'sse';
  return {
    model,
    stream: isStream,
    asksUsage: false,
    ...(isStream ? {} : { answers: 'bytes' }),
    bounds: {
      inputBytes: body.textBytes,
      media: 0,
      outputTokens: characters * MAX_TOKENS.each + MAX_TOKENS.least,
      choices: 1,
      // The sound is no text that a client could have bounded.
      open: () => true,
      characters,
    },
  };
}

/** Of a body that was read before. */
export function speechFacts(body: JsonBody): SpeechFacts {
  const format = body.get('response_format') ?? 'mp3';
  const speed = body.get('speed') ?? 1;
  return { format: String(format), speed: Number(speed) };
}

/** The vendor's name for the model. Refuses with 400 a voice that it has not got. */
export function patchSpeech(body: JsonBody, { model, quirks }: Patch): Record<string, string> {
  const { voices } = quirks.speech;
  const voice = body.get('voice');
  const name = isObject(voice) ? voice.id : voice;
  if (voices !== 'any' && !voices.includes(String(name))) {
    wrong('voice', `must be one of the voices of this model: ${voices.join(', ')}`);
  }
  return body.get('model') === model ? {} : { model: JSON.stringify(model) };
}

/** In code points, as people count. */
function countCharacters(fields: Fields): number {
  const input = fields.text('input') ?? '';
  const should = `must be a text of 1 to ${MAX_CHARACTERS} characters`;
  // Nothing that long can be short in code points, and need not be counted.
  const count = input.length > 2 * MAX_CHARACTERS ? Number.POSITIVE_INFINITY : [...input].length;
  return count >= 1 && count <= MAX_CHARACTERS ? count : fields.wrong('input', should);
}

function isVoice(voice: Json | undefined): boolean {
  const name = isObject(voice) ? voice.id : voice;
  return typeof name === 'string' && name !== '';
}
