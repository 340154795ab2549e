/** Whole answers: the images in them, and what they tell about themselves. */
import type { AnswerFacts, Call, Json, JsonBody, JsonObject } from '../../../core/plugin.ts';
import { member, objectsIn } from '../../../core/translation/index.ts';
import { errorIn, imagesMade, tokensOf, tokensTold } from './usage.ts';

/** What an answer tells; undefined where it holds neither an image nor an error. */
export function readAnswer(body: JsonBody, call: Call): AnswerFacts | undefined {
  // The images are long, and of some vendors' answers they are all there is.
  const rest = Object.fromEntries(
    [...body.members.keys()].filter((name) => name !== 'data').map((name) => [name, body.get(name) ?? null]),
  );
  const items = itemsOf(body);
  const images = items?.filter(isImage) ?? [];
  // Who got an image has got an answer, whatever is said beside it.
  const error = images.length > 0 ? undefined : (errorIn(rest) ?? firstError(items ?? []));
  if (error === undefined && images.length === 0) return undefined;
  return {
    usage: { ...tokensOf(tokensTold(rest), call, images.length), images: imagesMade(call, images.length, rest) },
    textLength: () => 0,
    error,
  };
}

/** What stands for the images of an answer, plain or structured; undefined where there is no place for any. */
export function itemsOf(body: JsonBody): readonly JsonObject[] | undefined {
  const data = body.get('data');
  if (Array.isArray(data)) return objectsIn({ data }, 'data');
  return structuredItems(body);
}

/** The images of an answer in the structured form, as the plain one has them. */
export function structuredItems(body: JsonBody): readonly JsonObject[] | undefined {
  const output = body.get('output');
  const results = member(output, 'results');
  if (Array.isArray(results)) return objectsIn(output, 'results').map(withoutCode);
  if (!Array.isArray(member(output, 'choices'))) return undefined;
  return objectsIn(output, 'choices').flatMap(({ message }) =>
    objectsIn(message, 'content').flatMap(({ image }) => (typeof image === 'string' ? [{ url: image }] : [])),
  );
}

/** One of several that failed says so in its place. */
function withoutCode(item: JsonObject): JsonObject {
  const { code, message, ...rest } = item;
  return code === undefined ? item : { ...rest, error: { code, message: message ?? '' } };
}

/** Whether there is an image in one of an answer's places. */
export function isImage({ url, b64_json: data }: JsonObject): boolean {
  return isText(url) || isText(data);
}

/** Some fill what they do not say with nothing. */
export function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function firstError(items: readonly JsonObject[]): AnswerFacts['error'] {
  return items.map(errorIn).find((error) => error !== undefined);
}
