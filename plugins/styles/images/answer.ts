/** Whole image replies: their images, and what is reported about them. */
import type { AnswerFacts, Call, Json, JsonBody, JsonObject } from '../../../core/plugin.ts';
import { member, objectsIn } from '../../../core/translation/index.ts';
import { errorIn, imagesOf, reportedTokens, tokensOf } from './usage.ts';

/** Reads a reply; undefined if it has neither an image nor an error. */
export function readAnswer(body: JsonBody, call: Call): AnswerFacts | undefined {
  // The images are long; some vendors' replies have nothing else.
  const rest = Object.fromEntries(
    [...body.members.keys()].filter((name) => name !== 'data').map((name) => [name, body.get(name) ?? null]),
  );
  const items = itemsOf(body);
  const images = items?.filter(isImage) ?? [];
  // A reply with an image is a success, even if it also has an error.
  const error = images.length > 0 ? undefined : (errorIn(rest) ?? firstError(items ?? []));
  if (error === undefined && images.length === 0) return undefined;
  return {
    usage: { ...tokensOf(reportedTokens(rest), call, images.length), images: imagesOf(call, images.length, rest) },
    textLength: () => 0,
    error,
  };
}

/** The list of images of a reply, plain or structured; undefined if it has none. */
export function itemsOf(body: JsonBody): readonly JsonObject[] | undefined {
  const data = body.get('data');
  if (Array.isArray(data)) return objectsIn({ data }, 'data');
  return structuredItems(body);
}

/** The images of a structured reply, in the plain form. */
export function structuredItems(body: JsonBody): readonly JsonObject[] | undefined {
  const output = body.get('output');
  const results = member(output, 'results');
  if (Array.isArray(results)) return objectsIn(output, 'results').map(withoutCode);
  if (!Array.isArray(member(output, 'choices'))) return undefined;
  return objectsIn(output, 'choices').flatMap(({ message }) =>
    objectsIn(message, 'content').flatMap(({ image }) => (typeof image === 'string' ? [{ url: image }] : [])),
  );
}

/** If one of several images failed, its entry has the error. */
function withoutCode(item: JsonObject): JsonObject {
  const { code, message, ...rest } = item;
  return code === undefined ? item : { ...rest, error: { code, message: message ?? '' } };
}

/** Whether an entry of a reply has an image. */
export function isImage({ url, b64_json: data }: JsonObject): boolean {
  return isText(url) || isText(data);
}

/** Some vendors send empty values for omitted members. */
export function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function firstError(items: readonly JsonObject[]): AnswerFacts['error'] {
  return items.map(errorIn).find((error) => error !== undefined);
}
