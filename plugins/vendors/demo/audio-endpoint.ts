/**
 * The demo vendor's `/audio/transcriptions` and `/audio/translations`, which describe the file that they got, because it has no
 * speech recognition, and `/audio/speech`: a tune instead of words, in every format.
 */
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { type Answerer, type DemoAnswer, type DemoFile, failure } from './endpoint.ts';
import { FORMATS, tuneOf } from './sound/index.ts';
import { countTokens, wordsOf } from './tokens.ts';

/** Transcription in the original language. */
export const answerTranscription: Answerer = ({ body, files }) => {
  const language = typeof body.language === 'string' && body.language !== '' ? body.language : 'english';
  return answer('transcribe', language, body, files[0]);
};

/** Translation to English. */
export const answerTranslation: Answerer = ({ body, files }) => answer('translate', 'english', body, files[0]);

/** Bytes per second of a recording, whose duration is not measured: 32 kbit/s. */
const BYTES_PER_SECOND = 4_000;

type Task = 'transcribe' | 'translate';

function answer(task: Task, language: string, body: JsonObject, file: DemoFile | undefined): DemoAnswer {
  if (file === undefined) return failure('file', 'must be a file');
  const seconds = file.size / BYTES_PER_SECOND;
  const text = textFor(task, file);
  if (task === 'transcribe' && body.stream === 'true') {
    return { status: 200, type: 'text/event-stream; charset=utf-8', body: events(text, seconds) };
  }
  const cue = { start: 0, end: seconds, text };
  switch (body.response_format ?? 'json') {
    case 'json':
      return json({ text, usage: usageOf(seconds) });
    case 'verbose_json':
      return json({
        task,
        language,
        duration: seconds,
        text,
        segments: [segment(cue)],
        words: wordsIn(cue),
        usage: usageOf(seconds),
      });
    case 'diarized_json':
      return json({
        task,
        duration: seconds,
        text,
        segments: [{ type: 'transcript.text.segment', id: 'seg_1', speaker: 'A', ...cue }],
        usage: usageOf(seconds),
      });
    case 'text':
      return plain('text/plain; charset=utf-8', `${text}\n`);
    case 'srt':
      return plain('text/plain; charset=utf-8', `1\n${clock(0, ',')} --> ${clock(cue.end, ',')}\n${text}\n\n`);
    case 'vtt':
      return plain('text/vtt; charset=utf-8', `WEBVTT\n\n${clock(0, '.')} --> ${clock(cue.end, '.')}\n${text}\n\n`);
    default:
      return failure('response_format', 'must be one of json, text, srt, vtt, verbose_json, diarized_json');
  }
}

function textFor(task: Task, { fileName, size }: DemoFile): string {
  const done = task === 'transcribe' ? 'written down' : 'translated into English';
  return `This is the demo model. It was given "${fileName}", ${size} bytes long, and would have ${done} what is said there if it could hear.`;
}

function* events(text: string, seconds: number): Generator<string> {
  const event = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;
  for (const delta of wordsOf(text)) yield event({ type: 'transcript.text.delta', delta });
  yield event({ type: 'transcript.text.done', text, usage: usageOf(seconds) });
}

interface Cue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function segment(cue: Cue): JsonObject {
  const guesses = { tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };
  return { id: 0, seek: 0, ...cue, ...guesses };
}

/** All words get the same duration. */
function wordsIn({ end, text }: Cue): readonly JsonObject[] {
  const words = wordsOf(text);
  return words.map((word, i) => ({
    word: word.trim(),
    start: (i / words.length) * end,
    end: ((i + 1) / words.length) * end,
  }));
}

function usageOf(seconds: number): JsonObject {
  return { type: 'duration', seconds: Math.ceil(seconds) };
}

/** `00:00:04,770`. */
function clock(seconds: number, point: ',' | '.'): string {
  const [integer, fraction] = seconds.toFixed(3).split('.') as [string, string];
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const total = Number(integer);
  return `${two(total / 3_600)}:${two((total / 60) % 60)}:${two(total % 60)}${point}${fraction}`;
}

function json(value: Json): DemoAnswer {
  return { status: 200, type: 'application/json', body: JSON.stringify(value) };
}

function plain(type: string, body: string): DemoAnswer {
  return { status: 200, type, body };
}

const TOKENS_PER_SECOND = 21;

/** Returns audio, whole or as events; each piece is generated after the previous one was sent. */
export const answerSpeech: Answerer = ({ body }) => {
  const text = typeof body.input === 'string' ? body.input : '';
  if (text === '') return failure('input', 'must be a text');
  const format = FORMATS[String(body.response_format ?? 'mp3')];
  if (format === undefined) return failure('response_format', `must be one of ${Object.keys(FORMATS).join(', ')}`);
  const speed = Number(body.speed ?? 1);
  if (!(speed >= 0.25 && speed <= 4)) return failure('speed', 'must be a number from 0.25 to 4');
  const tune = tuneOf(text, JSON.stringify(body.voice ?? ''), speed);
  const pieces = format.write(tune);
  if (body.stream_format !== 'sse') return { status: 200, type: format.type, body: pieces };
  const output = Math.ceil(tune.seconds * TOKENS_PER_SECOND);
  return {
    status: 200,
    type: 'text/event-stream; charset=utf-8',
    body: speechEvents(pieces, countTokens(text), output),
  };
};

function* speechEvents(pieces: Iterable<Buffer>, input: number, output: number): Generator<string> {
  const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
  for (const piece of pieces) yield event({ type: 'speech.audio.delta', audio: piece.toString('base64') });
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  yield event({ type: 'speech.audio.done', usage });
}
