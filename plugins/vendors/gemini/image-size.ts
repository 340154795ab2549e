/** Maps image sizes to the vendor's: an aspect ratio, and a size step. */

/** Width and height in pixels. */
export interface Edges {
  readonly width: number;
  readonly height: number;
}

/** The aspect ratios that a model family supports. */
export const GEMINI_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
export const IMAGEN_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];

/** A size in pixels; undefined if there is none. */
export function aspectOf(size: string | undefined): Edges | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** The closest aspect ratio. */
export function nearestRatio({ width, height }: Edges, ratios: readonly string[]): string {
  const distance = (ratio: string): number => {
    const [across, down] = ratio.split(':').map(Number);
    return Math.abs(Math.log((width * down!) / (height * across!)));
  };
  return ratios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

/** The closest step by the number of pixels: `2K` is a square of 2,048. */
export function stepOf(
  { width, height }: Edges,
  steps: readonly number[],
): { readonly name: string; readonly pixels: number } {
  const thousands = Math.sqrt(width * height) / 1_024;
  const distance = (step: number): number => Math.abs(Math.log(thousands / step));
  const step = steps.reduce((best, each) => (distance(each) < distance(best) ? each : best));
  return { name: `${step}K`, pixels: step * 1_024 };
}
