/** How many tokens an image can have where they are what is sold. */
import { readSize } from './size.ts';

/** The older models of the GPT family: so many for 1024x1024, more with the area, which they limit to one and a half of that. */
const PER_SQUARE: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
const SQUARE = 1_024 * 1_024;
const LARGEST_OLDER = 1.5 * SQUARE;

/** The newer ones lay a grid of so many steps over the longer edge, and count it by the area. */
const STEPS: Readonly<Record<string, number>> = { low: 16, medium: 48, high: 96 };

/** What is finer than `high` is not described anywhere; these are on the safe side. */
const FINER: Readonly<Record<string, number>> = { xhigh: 2, max: 4 };

/** The sizes that a vendor chooses from where it is left to it. */
const USUAL_SIZES = ['1024x1024', '1536x1024', '1024x1536'];

/** What each image that is sent while the final one is being made costs. */
export const PARTIAL_TOKENS = 100;

/** The most tokens of one image. What is left to the vendor (`auto`, or nothing said) counts as the most that it may choose. */
export function tokensOfImage(size: string, quality: string): number {
  const factor = FINER[quality] ?? 1;
  const known = STEPS[quality] === undefined ? 'high' : quality;
  const sizes = readSize(size) === undefined ? USUAL_SIZES : [size];
  return factor * Math.max(...sizes.map((each) => tokensOfSize(each, known)));
}

function tokensOfSize(size: string, quality: string): number {
  const { width, height } = readSize(size)!;
  const area = width * height;
  const older = Math.ceil((PER_SQUARE[quality]! * Math.min(area, LARGEST_OLDER)) / SQUARE);
  const steps = STEPS[quality]!;
  const acrossShort = Math.round((steps * Math.min(width, height)) / Math.max(width, height));
  return Math.max(older, Math.ceil((steps * acrossShort * (2_000_000 + area)) / 4_000_000));
}
