/** Image requests: validates what the gateway needs; the vendor validates the rest. */
import type { Bounds, CallFacts, JsonBody } from '../../../core/plugin.ts';
import type { Fields } from '../../../core/translation/index.ts';
import { enumIn, fieldsIn, modelOf, wholeNumberIn } from '../request-fields.ts';
import { contentsOf, readSize, textOf, withSeparator } from './structured.ts';

/** The older GPT image models: a number of tokens for 1024x1024, proportional to the area, which is limited to 1.5 times that. */
const PER_SQUARE: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
const SQUARE = 1_024 * 1_024;
const LARGEST_OLDER = 1.5 * SQUARE;

/** The newer models divide the longer edge into this many steps, and count grid cells. */
const STEPS: Readonly<Record<string, number>> = { low: 16, medium: 48, high: 96 };

/** Qualities above `high` are not documented; these values are safe upper bounds. */
const FINER: Readonly<Record<string, number>> = { xhigh: 2, max: 4 };

/** The sizes that a vendor chooses from for `auto`. */
const USUAL_SIZES = ['1024x1024', '1536x1024', '1024x1536'];

/** The tokens of each partial image. */
const PARTIAL_TOKENS = 100;

/** The maximum tokens of one image. For `auto` or an omitted value, the most expensive choice counts. */
function tokensOfImage(size: string, quality: string): number {
  const factor = FINER[quality] ?? 1;
  const tier = STEPS[quality] === undefined ? 'high' : quality;
  const sizes = readSize(size) === undefined ? USUAL_SIZES : [size];
  return factor * Math.max(...sizes.map((each) => tokensOfSize(each, tier)));
}

function tokensOfSize(size: string, quality: string): number {
  const { width, height } = readSize(size)!;
  const area = width * height;
  const older = Math.ceil((PER_SQUARE[quality]! * Math.min(area, LARGEST_OLDER)) / SQUARE);
  const steps = STEPS[quality]!;
  const acrossShort = Math.round((steps * Math.min(width, height)) / Math.max(width, height));
  return Math.max(older, Math.ceil((steps * acrossShort * (2_000_000 + area)) / 4_000_000));
}

/** Other names of `n`: vendors that know one of them make and bill as many. */
const COUNTS = ['batch_size', 'num_images', 'num_outputs', 'num_images_per_prompt', 'number_of_images', 'sampleCount'];

/** The members that the gateway reads, except the images themselves. */
const NAMES = [
  ...COUNTS,
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

/** The maximum per request; the maximum of a model is its quirk `images.max`. */
export const MAX_IMAGES = 100;
const MAX_PARTIAL = 3;

/** The parameters of a request in either form. */
export interface ImageParameters {
  /** The prompt. */
  readonly prompt: string | undefined;
  /** True if the structured form has input images. */
  readonly hasImages: boolean;
  readonly n: number;
  /** Written with `x`; `auto`, or empty if omitted. */
  readonly size: string;
  /** Empty if omitted. */
  readonly quality: string;
  readonly stream: boolean;
  readonly partialImages: number;
}

/** Reads the body. Refuses with 400 and the field's name; `null` counts as omitted. `media`: number of input images. */
export function readRequest(body: JsonBody, input: Pick<Bounds, 'inputBytes' | 'media'>): CallFacts {
  const fields = fieldsIn(body, NAMES);
  const model = modelOf(fields.text('model'));
  const { n, size, quality, stream, partialImages } = parametersIn(fields);
  const perImage = tokensOfImage(size, quality) + partialImages * PARTIAL_TOKENS;
  return {
    model,
    stream,
    // The last event of a stream always reports usage.
    asksUsage: true,
    bounds: {
      ...input,
      outputTokens: n * perImage,
      choices: n,
      images: { count: n, size: size === 'auto' ? '' : size, quality: quality === 'auto' ? '' : quality },
      // Some vendors rewrite the prompt first.
      open: () => true,
    },
  };
}

/** Decodes the parameters from either form, to encode them in the other. */
export function readParameters(body: JsonBody): ImageParameters {
  return parametersIn(fieldsIn(body, NAMES));
}

function parametersIn(fields: Fields): ImageParameters {
  const input = fields.fields('input');
  const parameters = fields.fields('parameters');
  const prompt = fields.text('prompt');
  const prompted = input === undefined ? undefined : textOf(input);
  if (prompt && prompted !== undefined) {
    fields.wrong('input', 'cannot be combined with `prompt`: send only one of them');
  }
  enumIn(fields, 'response_format', ['url', 'b64_json']);
  parameters?.flag('watermark');
  return {
    prompt: prompted ?? prompt,
    hasImages: input !== undefined && contentsOf(input).some((content) => content.get('image') !== undefined),
    n: Math.max(
      oneOf(fields, parameters, 'n', (of) => wholeNumberIn(of, 'n', 1, MAX_IMAGES)) ?? 1,
      ...COUNTS.map((name) => countIn(fields, name)),
    ),
    size: oneOf(fields, parameters, 'size', sizeIn) ?? '',
    quality: fields.text('quality') ?? '',
    stream: fields.flag('stream') ?? false,
    partialImages: wholeNumberIn(fields, 'partial_images', 0, MAX_PARTIAL) ?? 0,
  };
}

function countIn(fields: Fields, name: string): number {
  const value = fields.get(name);
  // A form has only texts.
  if (typeof value !== 'string') return wholeNumberIn(fields, name, 1, MAX_IMAGES) ?? 1;
  const count = Number(value);
  if (/^\d+$/.test(value) && count >= 1 && count <= MAX_IMAGES) return count;
  return fields.wrong(name, `must be a whole number from 1 to ${MAX_IMAGES}`);
}

/** Reads what either form may have; refuses two different values. */
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
  if (size === undefined || size === 'auto' || readSize(size) !== undefined) return size && withSeparator(size, 'x');
  return fields.wrong('size', 'must be a width and a height in pixels, such as 1024x1024, or auto');
}
