/** Requests to write down what is heard: forms, whose fields are all texts, whatever they mean. */
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
import { fieldsIn, modelIn, wordIn } from '../request-fields.ts';
import { measureSound } from './sound/file.ts';

/** What an endpoint takes. */
export interface HearingOptions {
  /** The words of `response_format`. */
  readonly formats: readonly string[];
  /** Whether the text can come as it is found. */
  readonly streams: boolean;
}

/** Formats that are texts by themselves, and not JSON. */
export const TEXTS = ['text', 'srt', 'vtt'];
/** Those that are files: nobody makes events of them. */
export const FILES = ['srt', 'vtt'];

/** Everything that is looked at before the vendor sees it. */
const NAMES = ['model', 'language', 'prompt', 'response_format', 'temperature', 'chunking_strategy', 'stream'];
const CLIPS = 'known_speaker_references[]';

/** Sound has no more seconds than this many for a thousand bytes: what is spoken at 8 kilobits a second can hardly be understood. */
const SECONDS_PER_KILOBYTE = 1;
/** The most a model writes down of a second, in tokens, and of sound that is very short. */
const MAX_TOKENS = { each: 8, least: 64 };

/** What the form asks for. Refuses with 400 and the field's name. */
export function readHearing(body: JsonBody, files: readonly Upload[] | undefined, options: HearingOptions): CallFacts {
  const fields = fieldsIn(body, NAMES);
  const model = modelIn(fields);
  const file = fileIn(files ?? []) ?? fields.wrong('file', 'must be a file: send a form with the recording in it');
  for (const name of ['language', 'prompt', 'chunking_strategy']) fields.text(name);
  checkTemperature(fields);
  const format = wordIn(fields, 'response_format', options.formats) ?? 'json';
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
      // How much a vendor makes of a second of sound is its own affair.
      open: () => true,
      ...heard((file.size / 1_000) * SECONDS_PER_KILOBYTE),
    },
  };
}

/** The bounds with the true length of the sound, where it can be found out. */
export async function measureHearing({ bounds, files = [] }: Call): Promise<Bounds> {
  const file = fileIn(files);
  const seconds = file && (await measureSound(file));
  return seconds === undefined ? bounds : { ...bounds, ...heard(seconds) };
}

/** The same form, with the vendor's name for the model. */
export function sendHearing({ body, files = [], stream }: Call, { model, losses }: Destination): Outgoing {
  const fields = body.tree() as JsonObject;
  const isFile = FILES.includes(String(fields.response_format));
  // A model that streams does so whatever the format is, and one that cannot answers in it; events can be made of JSON.
  const format = stream && fields.response_format === 'text' ? 'json' : fields.response_format;
  const isDropped = isFile && isYes(fields.stream);
  if (isDropped) losses.drop('stream', 'hint');
  const changed = { ...fields, model, response_format: format, stream: isDropped ? undefined : fields.stream };
  return { as: 'form', fields: given<Record<string, Json>>(changed as Record<string, Json>), files };
}

/** The recording. */
export function fileIn(files: readonly Upload[]): Upload | undefined {
  return files.find(({ field }) => field === 'file');
}

function heard(seconds: number): Required<Pick<Bounds, 'seconds' | 'outputTokens'>> {
  return { seconds, outputTokens: Math.ceil(seconds * MAX_TOKENS.each) + MAX_TOKENS.least };
}

function checkTemperature(fields: Fields): void {
  const text = fields.text('temperature')?.trim() ?? '0';
  // `Number` knows more spellings than vendors do.
  if (!/^\d*\.?\d+(e-?\d+)?$/i.test(text) || Number(text) > 1)
    fields.wrong('temperature', 'must be a number from 0 to 1');
}

function flagIn(fields: Fields, name: string): boolean {
  const text = fields.text(name);
  return isYes(text) || isNo(text) ? isYes(text) : fields.wrong(name, 'must be true or false');
}

/** Whatever the client's language calls it. */
function isYes(text: Json | undefined): boolean {
  return typeof text === 'string' && ['true', '1'].includes(text.toLowerCase());
}

function isNo(text: Json | undefined): boolean {
  return text === undefined || (typeof text === 'string' && ['false', '0', ''].includes(text.toLowerCase()));
}

/** Voices to be told apart, as data URLs: they are heard, and not read. */
function clipsIn(body: JsonBody): readonly string[] {
  const clips = body.get(CLIPS);
  if (!Array.isArray(clips)) return [];
  return clips.filter((clip): clip is string => typeof clip === 'string' && clip.startsWith('data:'));
}
