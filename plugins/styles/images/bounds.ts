/** The maximum tokens of an image, for models that bill images in tokens. */
import { readSize } from './size.ts';

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
export const PARTIAL_TOKENS = 100;

/** The maximum tokens of one image. For `auto` or an omitted value, the most expensive choice counts. */
export function tokensOfImage(size: string, quality: string): number {
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
