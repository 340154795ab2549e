/** Requests for images: what is asked, checked as far as the gateway must understand it; everything else is the vendor's business. */
import type { Bounds, CallFacts, JsonBody } from '../../../core/plugin.ts';
import type { Fields } from '../../../core/translation/index.ts';
import { fieldsIn, modelIn, wholeNumberIn, wordIn } from '../request-fields.ts';
import { PARTIAL_TOKENS, tokensOfImage } from './bounds.ts';
import { readSize, spelled } from './size.ts';
import { contentsOf, textOf } from './structured.ts';

/** Everything that is looked at before the vendor sees it, but for the images themselves. */
const NAMES = [
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'response_format',
  'stream',
  'partial_images',
  'input',
  'parameters',
];

/** Of what one call may ask for at all; how many a model makes, its quirk `images.max` says. */
export const MOST_IMAGES = 100;
const MOST_PARTIAL = 3;

/** What was asked for in whichever form. */
export interface Asked {
  /** What is to be drawn, or to be changed. */
  readonly prompt: string | undefined;
  /** There are images among what is asked for in the structured form. */
  readonly hasImages: boolean;
  readonly n: number;
  /** Spelled with `x`; `auto`, or empty where nothing was said. */
  readonly size: string;
  /** Empty where nothing was said. */
  readonly quality: string;
  readonly stream: boolean;
  readonly partialImages: number;
}

/** What the body asks for. Refuses with 400 and the field's name; `null` counts as left out. `media`: images in the input. */
export function readRequest(body: JsonBody, input: Pick<Bounds, 'inputBytes' | 'media'>): CallFacts {
  const fields = fieldsIn(body, NAMES);
  const model = modelIn(fields);
  const { n, size, quality, stream, partialImages } = askedIn(fields);
  const perImage = tokensOfImage(size, quality) + partialImages * PARTIAL_TOKENS;
  return {
    model,
    stream,
    // The last event of a stream tells it, to whoever reads it.
    asksUsage: true,
    bounds: {
      ...input,
      outputTokens: n * perImage,
      choices: n,
      images: { count: n, size: size === 'auto' ? '' : size, quality: quality === 'auto' ? '' : quality },
      // Some write the prompt anew before they draw.
      open: () => true,
    },
  };
}

/** The same in words of its own; for whoever has to say it in another form. */
export function readAsked(body: JsonBody): Asked {
  return askedIn(fieldsIn(body, NAMES));
}

function askedIn(fields: Fields): Asked {
  const input = fields.fields('input');
  const parameters = fields.fields('parameters');
  const prompt = fields.text('prompt');
  const told = input === undefined ? undefined : textOf(input);
  if (prompt && told !== undefined) {
    fields.wrong('input', 'may not stand beside `prompt`: send what is to be drawn in one of them');
  }
  wordIn(fields, 'response_format', ['url', 'b64_json']);
  parameters?.flag('watermark');
  return {
    prompt: told ?? prompt,
    hasImages: input !== undefined && contentsOf(input).some((content) => content.get('image') !== undefined),
    n: oneOf(fields, parameters, 'n', (of) => wholeNumberIn(of, 'n', 1, MOST_IMAGES)) ?? 1,
    size: oneOf(fields, parameters, 'size', sizeIn) ?? '',
    quality: fields.text('quality') ?? '',
    stream: fields.flag('stream') ?? false,
    partialImages: wholeNumberIn(fields, 'partial_images', 0, MOST_PARTIAL) ?? 0,
  };
}

/** What may be said in either place, but not in two ways. */
function oneOf<T>(
  fields: Fields,
  parameters: Fields | undefined,
  name: string,
  read: (of: Fields) => T | undefined,
): T | undefined {
  const plain = read(fields);
  const structured = parameters && read(parameters);
  if (plain !== undefined && structured !== undefined && plain !== structured) {
    parameters!.wrong(name, `must be the same as \`${name}\`, or left out`);
  }
  return plain ?? structured;
}

function sizeIn(fields: Fields): string | undefined {
  const size = fields.text('size');
  if (size === undefined || size === 'auto' || readSize(size) !== undefined) return size && spelled(size, 'x');
  return fields.wrong('size', 'must be a width and a height in pixels, such as 1024x1024, or auto');
}
