/** Speech requests: validates the fields that the specification limits. */
import type { CallFacts, Json, JsonBody, Patch } from '../../../core/plugin.ts';
import { type Fields, isObject } from '../../../core/translation/index.ts';
import { enumIn, fieldsIn, modelOf, wrong } from '../request-fields.ts';
import { FORMATS } from './formats.ts';

/** The fields that the gateway reads. */
const NAMES = ['model', 'input', 'voice', 'response_format', 'speed', 'instructions', 'stream_format'];

const MAX_CHARACTERS = 4_096;
const SLOWEST = 0.25;
const FASTEST = 4;
/** Maximum seconds of audio per character: slow speech in a language with syllabic characters. Short texts have a minimum of their own. */
const MAX_TOKENS = { each: 6, least: 64 };

/** The maximum length of `instructions`. */
export interface SpeechFacts {
  readonly format: string;
  readonly speed: number;
}

/** Reads the body. Refuses with 400 and the field's name; `null` counts as omitted. */
export function readSpeech(body: JsonBody): CallFacts {
  const fields = fieldsIn(body, NAMES);
  const model = modelOf(fields.text('model'));
  const characters = countCharacters(fields);
  if (!isVoice(fields.get('voice'))) {
    fields.wrong('voice', 'must be the name of a voice, such as "alloy", or an object with the id of one');
  }
  enumIn(fields, 'response_format', Object.keys(FORMATS));
  const speed = fields.number('speed');
  if (speed !== undefined && !(speed >= SLOWEST && speed <= FASTEST)) {
    fields.wrong('speed', `must be a number from ${SLOWEST} to ${FASTEST}`);
  }
  fields.text('instructions');
  const isStream = enumIn(fields, 'stream_format', ['audio', 'sse']) === 'sse';
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
      // The client cannot limit the length of the audio.
      open: () => true,
      characters,
    },
  };
}

/** The same for a body that was read already. */
export function speechFacts(body: JsonBody): SpeechFacts {
  const format = body.get('response_format') ?? 'mp3';
  const speed = body.get('speed') ?? 1;
  return { format: String(format), speed: Number(speed) };
}

/** The vendor's model name. Refuses with 400 a voice that the model does not have. */
export function patchSpeech(body: JsonBody, { model, quirks }: Patch): Record<string, string> {
  const { voices } = quirks.speech;
  const voice = body.get('voice');
  // An object names a voice that the operator has made at the vendor.
  if (!isObject(voice) && voices !== 'any' && !voices.includes(String(voice))) {
    wrong('voice', `must be one of the voices of this model: ${voices.join(', ')}`);
  }
  return body.get('model') === model ? {} : { model: JSON.stringify(model) };
}

/** Length in code points. */
function countCharacters(fields: Fields): number {
  const input = fields.text('input') ?? '';
  const should = `must be a text of 1 to ${MAX_CHARACTERS} characters`;
  // A string this long exceeds the limit in code points, too; no need to count.
  const count = input.length > 2 * MAX_CHARACTERS ? Number.POSITIVE_INFINITY : [...input].length;
  return count >= 1 && count <= MAX_CHARACTERS ? count : fields.wrong('input', should);
}

function isVoice(voice: Json | undefined): boolean {
  const name = isObject(voice) ? voice.id : voice;
  return typeof name === 'string' && name !== '';
}
