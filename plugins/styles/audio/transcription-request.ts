/** Transcription and translation requests: multipart bodies, in which every field is text. */
import type {
  Bounds,
  Call,
  CallFacts,
  Destination,
  Json,
  JsonBody,
  JsonObject,
  Outgoing,
  Upload,
} from '../../../core/plugin.ts';
import { type Fields, given } from '../../../core/translation/index.ts';
import { enumIn, fieldsIn, modelOf } from '../request-fields.ts';
import { measureSound } from './sound/file.ts';

/** The fields that an endpoint accepts. */
export interface TranscriptionOptions {
  /** The accepted values of `response_format`. */
  readonly formats: readonly string[];
  /** Whether the endpoint supports streaming. */
  readonly streams: boolean;
}

/** Formats whose replies are text, not JSON. */
export const TEXTS = ['text', 'srt', 'vtt'];
/** Subtitle formats: they cannot be streamed. */
export const FILES = ['srt', 'vtt'];

/** The fields that the gateway reads. */
const NAMES = ['model', 'language', 'prompt', 'response_format', 'temperature', 'chunking_strategy', 'stream'];
/** Other places of the recording at some vendors: what is measured would not be what is transcribed. */
const ELSEWHERE = ['url', 'file_url', 'file_id', 'audio_url'];
const CLIPS = 'known_speaker_references[]';

/** Maximum seconds of audio per thousand bytes: speech below 8 kbit/s is hardly intelligible. */
const SECONDS_PER_KILOBYTE = 1;
/** Maximum output tokens per second of audio, plus a fixed number. */
const MAX_TOKENS = { each: 8, least: 64 };

/** Reads the form. Refuses with 400 and the field's name. */
export function readTranscription(
  body: JsonBody,
  files: readonly Upload[] | undefined,
  options: TranscriptionOptions,
): CallFacts {
  const fields = fieldsIn(body, NAMES);
  const model = modelOf(fields.text('model'));
  const file = fileIn(files ?? []) ?? fields.wrong('file', 'must be a file: send the recording in a multipart body');
  for (const name of ELSEWHERE)
    if (body.has(name)) fields.wrong(name, 'must be left out: the recording is sent in `file`');
  for (const name of ['language', 'prompt', 'chunking_strategy']) fields.text(name);
  checkTemperature(fields);
  const format = enumIn(fields, 'response_format', options.formats) ?? 'json';
  const isStream = options.streams && flagIn(fields, 'stream') && !FILES.includes(format);
  const clips = clipsIn(body);
  return {
    model,
    stream: isStream,
    asksUsage: false,
    ...(TEXTS.includes(format) && !isStream ? { answers: 'text' } : {}),
    bounds: {
      inputBytes: body.textBytes - clips.reduce((sum, clip) => sum + clip.length, 0),
      media: clips.length,
      choices: 1,
      // Vendors differ in how many tokens they count per second of audio.
      open: () => true,
      ...audioBounds((file.size / 1_000) * SECONDS_PER_KILOBYTE),
    },
  };
}

/** The bounds with the measured length of the audio, if it can be measured. */
export async function measureTranscription({ bounds, files = [] }: Call): Promise<Bounds> {
  const file = fileIn(files);
  const seconds = file && (await measureSound(file));
  return seconds === undefined ? bounds : { ...bounds, ...audioBounds(seconds) };
}

/** The same form, with the vendor's model name. */
export function encodeTranscription({ body, files = [], stream }: Call, { model, warnings }: Destination): Outgoing {
  const fields = body.tree() as JsonObject;
  const isFile = FILES.includes(String(fields.response_format));
  // A stream needs JSON instead of text: a model without streaming replies in the requested format, and only JSON can be
  // converted to events.
  const format = stream && fields.response_format === 'text' ? 'json' : fields.response_format;
  const isDropped = isFile && isYes(fields.stream);
  if (isDropped) warnings.drop('stream', 'hint');
  const changed = { ...fields, model, response_format: format, stream: isDropped ? undefined : fields.stream };
  return { as: 'form', fields: given<Record<string, Json>>(changed as Record<string, Json>), files };
}

/** The audio file. */
export function fileIn(files: readonly Upload[]): Upload | undefined {
  return files.find(({ field }) => field === 'file');
}

function audioBounds(seconds: number): Required<Pick<Bounds, 'seconds' | 'outputTokens'>> {
  return { seconds, outputTokens: Math.ceil(seconds * MAX_TOKENS.each) + MAX_TOKENS.least };
}

function checkTemperature(fields: Fields): void {
  const text = fields.text('temperature')?.trim() ?? '0';
  // `Number` accepts more notations than vendors do.
  if (!/^\d*\.?\d+(e-?\d+)?$/i.test(text) || Number(text) > 1)
    fields.wrong('temperature', 'must be a number from 0 to 1');
}

function flagIn(fields: Fields, name: string): boolean {
  const text = fields.text(name);
  return isYes(text) || isNo(text) ? isYes(text) : fields.wrong(name, 'must be true or false');
}

/** Normalizes language names, which clients write in different ways. */
function isYes(text: Json | undefined): boolean {
  return typeof text === 'string' && ['true', '1'].includes(text.toLowerCase());
}

function isNo(text: Json | undefined): boolean {
  return text === undefined || (typeof text === 'string' && ['false', '0', ''].includes(text.toLowerCase()));
}

/** Voice samples to distinguish speakers, as data URLs: they are audio input, not text. */
function clipsIn(body: JsonBody): readonly string[] {
  const clips = body.get(CLIPS);
  if (!Array.isArray(clips)) return [];
  return clips.filter((clip): clip is string => typeof clip === 'string' && clip.startsWith('data:'));
}
