/** Sizes of images: `1024x1024`, or `1024*1024` in the structured form. */

/** Width and height in pixels. */
export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

const SIZE = /^([1-9]\d{0,4})[x*]([1-9]\d{0,4})$/;

/** Undefined for `auto`, and for an invalid size. */
export function readSize(text: string): Dimensions | undefined {
  const [, width, height] = SIZE.exec(text) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** A size with the separator of the form; anything else is unchanged. */
export function withSeparator(size: string, sign: 'x' | '*'): string {
  return SIZE.test(size) ? size.replace(/[x*]/, sign) : size;
}
