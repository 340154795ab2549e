/** A whole answer in the common form: what its reader says, put together. */

import type { Json, JsonObject, Losses, Origin } from '../../../core/plugin.ts';
import { foldParts, member, objectsIn, type Reply, type VendorError } from '../../../core/translation/index.ts';
import { createReader } from './decoder.ts';
import { failureIn } from './finish.ts';
import { errorIn } from './usage.ts';

/** The error that the vendor put in the place of an answer, or in which its answer ends; undefined if there is none. */
export function failureOf(body: Json): VendorError | undefined {
  return errorIn(body) ?? failureIn(objectsIn(body, 'candidates')[0]);
}

/** True for an answer of this style, were it one without a word. */
export function isAnswer(body: JsonObject): boolean {
  return (
    failureOf(body) === undefined &&
    ['candidates', 'promptFeedback', 'usageMetadata'].some((name) => typeof member(body, name) === 'object')
  );
}

/** The answer; undefined where the body is none. */
export function decodeReply(body: JsonObject, from: Origin, losses: Losses): Reply | undefined {
  if (!isAnswer(body)) return undefined;
  const reader = createReader(from, losses);
  return foldParts([...reader.take(body), ...reader.end(true)]);
}
