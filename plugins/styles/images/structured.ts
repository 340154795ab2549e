/** The structured form of a request: what is asked for in `input.messages`, how in `parameters`. */

import type { Json, JsonObject } from '../../../core/plugin.ts';
import { type Fields, readFields } from '../../../core/translation/index.ts';

/** The pieces of all messages, in order; a message that is only a text is one piece. Refuses with 400 what is no such input. */
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

/** What is asked for in words: the texts of all pieces, a line each. */
export function textOf(input: Fields): string {
  const prompt = input.text('prompt');
  const texts = contentsOf(input).map((content) => content.text('text'));
  return [prompt, ...texts].filter((text) => text !== undefined).join('\n');
}

/** The same in the structured form: the images first, as its vendors want them. */
export function inputOf(prompt: string | undefined, images: readonly string[]): JsonObject {
  const content: Json[] = images.map((image) => ({ image }));
  if (prompt !== undefined) content.push({ text: prompt });
  return { messages: [{ role: 'user', content }] };
}
