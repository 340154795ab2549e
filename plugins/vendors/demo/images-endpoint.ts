/**
 * The demo vendor's `/images/generations` and `/images/edits`: generated mosaics. Their URLs are `data:` URLs, so that
 * they open without a network.
 */
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { type Answerer, type DemoAnswer, type DemoFile, failure } from './endpoint.ts';
import { type Edges, mosaic, sizeOfPng } from './png.ts';
import { countTokens, MOST_READ } from './tokens.ts';

/** Draws images from a prompt. */
export const answerImages: Answerer = ({ body }, { created }) => answer('image_generation', body, [], created);

/** Draws images from a prompt and input images; their default size is that of the first one. */
export const answerEdits: Answerer = ({ body, files }, { created }) => {
  if (!files.some(({ field }) => field.startsWith('image'))) return failure('image', 'must be a file');
  return answer('image_edit', body, files, created);
};

const USUAL: Edges = { width: 256, height: 256 };
const LONGEST_EDGE = 2_048;
const MOST = 10;
const MAX_PARTIAL = 3;
/** Tiles of the final image; partial ones have fewer. */
const CELLS = 16;
/** The tokens of an image, as input and output. */
const TOKENS_SEEN = 100;
const TOKENS_DRAWN = 272;

function answer(family: string, body: JsonObject, seen: readonly DemoFile[], created: number): DemoAnswer {
  const n = Number(body.n ?? 1);
  if (!Number.isInteger(n) || n < 1 || n > MOST) return failure('n', `must be a whole number from 1 to ${MOST}`);
  const prompt = typeof body.prompt === 'string' ? body.prompt : '';
  const edges = bounded(sizeIn(body.size) ?? seen.map(({ start }) => sizeOfPng(start))[0] ?? USUAL);
  const about = { size: `${edges.width}x${edges.height}`, quality: 'low', background: 'opaque', output_format: 'png' };
  const text = [prompt.slice(0, MOST_READ), ...seen.map(({ digest }) => digest)].join('\n');
  const draw = (index: number, cells: number): string => mosaic(`${index} ${text}`, edges, cells).toString('base64');
  const tokens = countTokens(prompt);

  // Each image is drawn after the previous one was sent.
  function* events(): Generator<string> {
    const partial = Math.min(Number(body.partial_images ?? 0), MAX_PARTIAL);
    const head = { created_at: created, ...about };
    for (let index = 0; index < n; index++) {
      for (let i = 0; i < partial; i++) {
        const data = draw(index, CELLS >> (partial - i));
        yield eventOf({ type: `${family}.partial_image`, b64_json: data, partial_image_index: i, ...head });
      }
      const usage = index === 0 ? usageOf(tokens, seen.length, 1) : usageOf(0, 0, 1);
      yield eventOf({ type: `${family}.completed`, b64_json: draw(index, CELLS), ...head, usage });
    }
  }

  function* bodyPieces(): Generator<string> {
    let before = `{"created":${created},"data":[`;
    for (let index = 0; index < n; index++) {
      const data = draw(index, CELLS);
      const image = body.response_format === 'b64_json' ? { b64_json: data } : { url: `data:image/png;base64,${data}` };
      yield before + JSON.stringify(image);
      before = ',';
    }
    yield `],${JSON.stringify({ ...about, usage: usageOf(tokens, seen.length, n) }).slice(1)}`;
  }

  return String(body.stream) === 'true'
    ? { status: 200, type: 'text/event-stream; charset=utf-8', body: events() }
    : { status: 200, type: 'application/json', body: bodyPieces() };
}

function sizeIn(size: Json | undefined): Edges | undefined {
  const [, width, height] = /^(\d{1,5})[x*](\d{1,5})$/.exec(String(size)) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** The same aspect ratio, limited to a size that is enough for a demo. */
function bounded({ width, height }: Edges): Edges {
  const share = Math.min(1, LONGEST_EDGE / Math.max(width, height, 1));
  return { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) };
}

function usageOf(text: number, seen: number, drawn: number): JsonObject {
  const image = seen * TOKENS_SEEN;
  const output = drawn * TOKENS_DRAWN;
  return {
    input_tokens: text + image,
    output_tokens: output,
    total_tokens: text + image + output,
    input_tokens_details: { text_tokens: text, image_tokens: image },
    output_tokens_details: { text_tokens: 0, image_tokens: output },
  };
}

function eventOf(event: JsonObject): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
