/** The demo vendor's `/audio/speech`: a tune instead of words, in every format. */
import { type Answerer, failure } from './endpoint.ts';
import { FORMATS, tuneOf } from './sound/index.ts';
import { countTokens } from './tokens.ts';

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
  return { status: 200, type: 'text/event-stream; charset=utf-8', body: events(pieces, countTokens(text), output) };
};

function* events(pieces: Iterable<Buffer>, input: number, output: number): Generator<string> {
  const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
  for (const piece of pieces) yield event({ type: 'speech.audio.delta', audio: piece.toString('base64') });
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  yield event({ type: 'speech.audio.done', usage });
}
