/** The structured form of a request (content in `input.messages`, options in `parameters`), and sizes: `1024x1024`, there `1024*1024`. */
import type { Json, JsonObject } from '../../../core/plugin.ts';
import { type Fields, readFields } from '../../../core/translation/index.ts';

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

/** The parts of all messages, in order; a text message is one part. Refuses invalid input with 400. */
export function contentsOf(input: Fields): readonly Fields[] {
  return input.each('messages').flatMap((message) => {
    message.text('role');
    if (typeof message.get('content') === 'string') {
      return [readFields({ text: message.get('content')! }, message.at('content'))];
    }
    const contents = message.each('content');
    if (contents.length === 0)
      message.wrong('content', 'must be an array with at least one {"text": …} or {"image": …}');
    return contents;
  });
}

/** The prompt: the texts of all parts, one per line. */
export function textOf(input: Fields): string {
  const prompt = input.text('prompt');
  const texts = contentsOf(input).map((content) => content.text('text'));
  return [prompt, ...texts].filter((text) => text !== undefined).join('\n');
}

/** Encodes the structured form: the images first, as its vendors require. */
export function inputOf(prompt: string | undefined, images: readonly string[]): JsonObject {
  const content: Json[] = images.map((image) => ({ image }));
  if (prompt !== undefined) content.push({ text: prompt });
  return { messages: [{ role: 'user', content }] };
}
