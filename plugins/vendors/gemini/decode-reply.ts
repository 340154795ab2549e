/** Decodes a whole reply with the stream decoder. */

import type { Json, JsonObject, Losses, Origin } from '../../../core/plugin.ts';
import { foldParts, member, objectsIn, type Reply, type VendorError } from '../../../core/translation/index.ts';
import { createReader } from './decoder.ts';
import { failureIn } from './finish.ts';
import { errorIn } from './usage.ts';

/** The error that the vendor sent instead of an answer, or in which its answer ended; undefined if there is none. */
export function failureOf(body: Json): VendorError | undefined {
  return errorIn(body) ?? failureIn(objectsIn(body, 'candidates')[0]);
}

/** True for a reply of this style, even an empty one. */
export function isAnswer(body: JsonObject): boolean {
  return (
    failureOf(body) === undefined &&
    ['candidates', 'promptFeedback', 'usageMetadata'].some((name) => typeof member(body, name) === 'object')
  );
}

/** Decodes the reply; undefined if the body is not one. */
export function decodeReply(body: JsonObject, from: Origin, losses: Losses): Reply | undefined {
  if (!isAnswer(body)) return undefined;
  const reader = createReader(from, losses);
  return foldParts([...reader.take(body), ...reader.end(true)]);
}
